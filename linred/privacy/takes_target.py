"""The decorators with which functions accept a `Target`, as limits by keyword or whole."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Generic, ParamSpec, Protocol, TypedDict, TypeVar

from linred._common import validation
from linred.privacy.target import TARGETS, Target

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Number = TypeVar("Number")

RATIOS = tuple(name for name in TARGETS if name not in ("given_x", "max_changed_by_s"))
"""The limits of P(y|s) alone. Mixing P(y) into P(y|s) brings it closer to every one of them."""


BY_UTILITY = ("max_changed", "max_distortion")
"""The arguments that ask for a mechanism by its utility, with or without a target."""


class TargetKeywords(TypedDict, Generic[Number], total=False):
    """The keywords by which a function accepts a target: `target` for a whole one, or the fields of a `Target`.

    Number : the type of a limit that is one number.
    """

    target: Target | None
    ldp: Number | None
    log_lift: Number | None
    max_lift: Number | None
    min_lift: Number | None
    dp: Number | None
    neighbors: Any
    pairs: Any
    secrets: Any
    given_x: Number | None
    max_changed_by_s: Number | None


KEYWORDS = ("target", *TARGETS)
"""The names of `TargetKeywords`."""


def target_or_alpha(alpha, keywords, optional=False, takes_alpha=True):
    """Return the `Target` of {name: value or None}, or None if alpha is given; exactly one of the two must be given.

    keywords : `TargetKeywords`. optional : whether neither may be given, which is a target without limits.
    takes_alpha : whether alpha could be given.
    """
    target = target_of(keywords)
    if alpha is not None and target is not None:
        raise ValueError("alpha= and a target are both given: give alpha=, or limits such as ldp=")
    if alpha is None and target is None and not optional:
        ways = "ldp=, log_lift= or another limit of linred.Target" + ", or alpha=" * takes_alpha
        raise ValueError(f"no target: give {ways}")
    if alpha is not None:
        validation.alpha(alpha)
        return None
    return Target() if target is None else target


def target_of(keywords):
    """Return the `Target` of {name: value or None}, None if no value is given. keywords : `TargetKeywords`."""
    limits = {name: limit for name in TARGETS if (limit := keywords.get(name)) is not None}
    target = keywords.get("target")
    if target is None:
        return Target(**limits) if limits else None
    if not isinstance(target, Target):
        raise TypeError(f"target is a {validation.type_name(target)}, not a linred.Target")
    for name in limits:
        raise ValueError(f"target= and {name}= are both given: give one of them")
    return target


def refuse(name: str, target: Target | None, meets: Iterable[str], others: Iterable[str] = ()) -> None:
    """Raise a ValueError if the mechanism `name` cannot meet one of the limits; `meets` names those that it can.

    others : names of limits that are not in the target, those of `BY_UTILITY`.
    """
    for limit in (*(() if target is None else target.limits), *others):
        if limit not in meets:
            raise ValueError(f"{name} cannot meet {limit}=: use optimal, which can")


def refuse_given_x(target: Target | None, sees_s: bool) -> None:
    """Raise a ValueError if a mechanism that does not use S when sampling is asked for a given_x limit."""
    if target is not None and target.given_x < math.inf and not sees_s:
        raise ValueError(
            "given_x= needs sees_s=True: otherwise S adds nothing for someone who knows x, so leave given_x= out"
        )


def refuses_epsilon(make: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Decorator: epsilon= and eps= raise a TypeError that names ldp=, which is what the literature calls epsilon."""

    @wraps(make)
    def checked(*args: Arguments.args, **arguments: Arguments.kwargs) -> Result:
        _refuse_epsilon(make, arguments)
        return make(*args, **arguments)

    return checked


def _refuse_epsilon(make, arguments):
    for name in ("epsilon", "eps"):
        if name in arguments:
            raise TypeError(f"{_name(make)}() has no argument {name}=: ldp= is epsilon, in nats")


def _name(make):
    return make.__qualname__.removesuffix(".__init__").removesuffix(".__new__")


Target.__init__ = refuses_epsilon(Target.__init__)  # type: ignore[method-assign]


class Decorator(Protocol):
    """A decorator that keeps the type of what a function returns."""

    def __call__(self, make: Callable[..., Result], /) -> Callable[..., Result]: ...


def takes_target(meets: Iterable[str] = TARGETS) -> Decorator:
    """Decorator: a function of a Joint with a `target` parameter also accepts the limits as keywords, such as ldp=1.0.

    The function receives the target settled for the labels of the Joint. The caller must give a target, or alpha if the
    function has such a parameter. `meets` names the limits that it can meet; any other is refused. Only this decorator
    and `target_or_alpha` turn keywords into a `Target`. help() lists the limits as keywords.
    """

    def decorate(make: Callable[..., Result]) -> Callable[..., Result]:
        signature = inspect.signature(make)
        documented = _with_limits(signature, meets)

        @wraps(make)
        def with_limits(*args, **arguments):
            _refuse_epsilon(make, arguments)
            keywords = {name: arguments.pop(name, None) for name in KEYWORDS}
            bound = _bound(make, documented, args, arguments)
            by_utility = any(bound.get(name) is not None for name in BY_UTILITY)
            takes_alpha = "alpha" in signature.parameters
            target = target_or_alpha(bound.get("alpha"), keywords, by_utility, takes_alpha)
            refuse(make.__name__, target, meets)
            joint = validation.joint(bound["joint"])
            return make(*args, target=None if target is None else target.settled(joint), **arguments)

        with_limits.__signature__ = documented  # type: ignore[attr-defined]
        with_limits.meets = tuple(meets)  # type: ignore[attr-defined]
        return with_limits

    return decorate


def takes_keywords(make: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Decorator: the signature of a function with **keywords: Unpack[TargetKeywords] shows each keyword with a default.

    The function receives the keywords that the caller gives, unchecked. Other keywords raise a TypeError, as they do
    without the decorator.
    """
    signature = inspect.signature(make)
    *parameters, _ = signature.parameters.values()
    shown = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in KEYWORDS]
    place = next(i for i, one in enumerate(parameters) if one.kind is inspect.Parameter.KEYWORD_ONLY)
    documented = signature.replace(parameters=[*parameters[:place], *shown, *parameters[place:]])

    @wraps(make)
    def with_keywords(*args: Arguments.args, **arguments: Arguments.kwargs) -> Result:
        _refuse_epsilon(make, arguments)
        _bound(make, documented, args, arguments)
        return make(*args, **arguments)

    with_keywords.__signature__ = documented  # type: ignore[attr-defined]
    return with_keywords


def _bound(make, signature, args, arguments):
    """Return the arguments by name; a TypeError names those that do not fit."""
    try:
        return signature.bind(*args, **arguments).arguments
    except TypeError as error:
        raise TypeError(f"{_name(make)}() {error}") from None


def _with_limits(signature, meets):
    """Return the signature with a keyword for each limit in place of `target`."""
    parameters = []
    for name, parameter in signature.parameters.items():
        limits = [parameter.replace(name=limit, default=None) for limit in TARGETS if limit in meets]
        parameters += limits if name == "target" else [parameter]
    return signature.replace(parameters=parameters)
