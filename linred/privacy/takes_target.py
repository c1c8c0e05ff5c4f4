"""The decorators with which functions accept a `Target`, as limits by keyword or whole."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import ParamSpec, Protocol, TypeVar

from linred._common import validation
from linred.privacy.target import TARGETS, Target

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

RATIOS = tuple(name for name in TARGETS if name not in ("given_x", "max_changed_by_s"))
"""The limits of P(y|s) alone. Mixing P(y) into P(y|s) brings it closer to every one of them."""


BY_UTILITY = ("max_changed", "max_distortion")
"""The arguments that ask for a mechanism by its utility, with or without a target."""


def target_or_alpha(alpha, limits):
    """Return the `Target` of {name: limit or None}, or None if alpha is given; exactly one of the two must be given."""
    targeted = any(limit is not None for limit in limits.values())
    if alpha is not None and targeted:
        raise ValueError("alpha= and a target are both given: give alpha=, or limits such as ldp=")
    if alpha is None and not targeted:
        raise ValueError("no target: give ldp=, log_lift= or another limit of linred.Target, or alpha=")
    if alpha is not None:
        validation.alpha(alpha)
        return None
    return Target.of(**limits)


def refuse(name: str, target: Target | None, meets: Iterable[str]) -> None:
    """Raise a ValueError if the mechanism `name` cannot meet one of the limits; `meets` names those that it can."""
    for limit in () if target is None else target.limits:
        if limit not in meets and not (limit == "neighbors" and "dp" in meets):
            raise ValueError(f"{name} cannot meet {limit}=: use optimal, which can")


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
            function = make.__qualname__.removesuffix(".__init__").removesuffix(".__new__")
            raise TypeError(f"{function}() has no argument {name}=: ldp= is epsilon, in nats")


Target.__init__ = refuses_epsilon(Target.__init__)  # type: ignore[method-assign]


class Decorator(Protocol):
    """A decorator that keeps the type of what a function returns."""

    def __call__(self, make: Callable[..., Result], /) -> Callable[..., Result]: ...


def takes_target(meets: Iterable[str] = TARGETS, needed: bool = False) -> Decorator:
    """Decorator: a function of a Joint with a `target` parameter also accepts the limits as keywords, such as ldp=1.0.

    The function receives the target settled for the labels of the Joint. The caller must give either alpha or a target;
    a target, if it is `needed`. `meets` names the limits that the function can meet; any other is refused. Only this
    decorator and `target_or_alpha` turn keywords into a `Target`. help() lists the limits as keywords.
    """

    def decorate(make: Callable[..., Result]) -> Callable[..., Result]:
        signature = inspect.signature(make)
        documented = _with_limits(signature, meets)

        @wraps(make)
        def with_limits(*args, target=None, **arguments):
            _refuse_epsilon(make, arguments)
            refused = {name: arguments.pop(name, None) for name in TARGETS if name not in documented.parameters}
            try:
                bound = documented.bind(*args, **arguments).arguments
            except TypeError as error:  # arguments that do not fit are reported before a missing target
                raise TypeError(f"{make.__name__}() {error}") from None
            limits = {name: arguments.pop(name, None) for name in TARGETS} | refused
            if target is not None:
                limits = _only(target, limits)
            by_utility = any(bound.get(name) is not None for name in BY_UTILITY)
            if by_utility and all(limit is None for limit in limits.values()) and bound.get("alpha") is None:
                target = Target()
            else:
                target = Target.of(**limits) if needed else target_or_alpha(bound.get("alpha"), limits)
            refuse(make.__name__, target, meets)
            joint = validation.joint(bound["joint"])
            return make(*args, target=None if target is None else target.settled(joint), **arguments)

        with_limits.__signature__ = documented  # type: ignore[attr-defined]
        with_limits.meets = tuple(meets)  # type: ignore[attr-defined]
        return with_limits

    return decorate


def _only(target, limits):
    if not isinstance(target, Target):
        raise TypeError(f"target is a {validation.type_name(target)}, not a linred.Target")
    for name, limit in limits.items():
        if limit is not None:
            raise ValueError(f"target= and {name}= are both given: give one of them")
    return target.limits or {"ldp": target.ldp}


def _with_limits(signature, meets):
    """Return the signature with a keyword for each limit in place of `target`."""
    parameters = []
    for name, parameter in signature.parameters.items():
        limits = [parameter.replace(name=limit, default=None) for limit in TARGETS if limit in meets]
        parameters += limits if name == "target" else [parameter]
    return signature.replace(parameters=parameters)
