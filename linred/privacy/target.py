"""`Target`, the limits that a mechanism must meet, and the decorators with which functions accept them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

from linred._common import validation
from linred.privacy.leakage import Leakage

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Target(NamedTuple):
    """Upper limits in nats that a mechanism must meet; inf means no limit.

    Each field has the name of a figure of `Leakage`, and is a keyword of every function decorated with `takes_target`.
    `ldp` is the epsilon of local differential privacy.

    >>> Target(ldp=1.0)
    Target(ldp=1.0, log_lift=inf)
    """

    ldp: float = math.inf
    log_lift: float = math.inf

    @classmethod
    def of(cls, **limits: float | None) -> Target:
        """Build a `Target` from limits, of which at least one is not None."""
        given = {name: limit for name, limit in limits.items() if limit is not None}
        if not given:
            raise ValueError(f"no target: give {_keywords(cls._fields)} or both")
        return cls(**{name: validation.number(name, limit, 0.0, math.inf) for name, limit in given.items()})

    @property
    def limits(self) -> dict[str, float]:
        """The finite limits by name."""
        return {name: limit for name, limit in self._asdict().items() if limit < math.inf}

    def is_met_by(self, figures: Leakage) -> bool:
        """Return whether no figure is above its limit."""
        return all(getattr(figures, name) <= limit for name, limit in self._asdict().items())

    def __str__(self) -> str:
        return " and ".join(f"{name} <= {limit!r}" for name, limit in self.limits.items())


def target_or_alpha(alpha, limits):
    """Return the `Target` of {name: limit or None}, or None if alpha is given; exactly one of the two must be given."""
    targeted = any(limit is not None for limit in limits.values())
    if alpha is not None and targeted:
        raise ValueError(f"alpha= and a target are both given: give alpha=, or {_keywords(limits, ' and/or ')}")
    if alpha is None and not targeted:
        raise ValueError(f"no target: give {_keywords(limits)} or both, or alpha=")
    if alpha is not None:
        validation.alpha(alpha)
        return None
    return Target.of(**limits)


def _keywords(names, between=", "):
    return between.join(f"{name}=" for name in names)


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


Target.__new__ = refuses_epsilon(Target.__new__)  # type: ignore[method-assign]


def takes_target(make: Callable[..., Result]) -> Callable[..., Result]:
    """Decorator: a function with a `target` parameter also accepts the limits as keywords, such as ldp=1.0.

    If `target` has a default, the caller must give either alpha or a target; otherwise a target is required. Only this
    decorator and `target_or_alpha` turn keywords into a `Target`. help() lists the limits as keywords.
    """
    signature = inspect.signature(make)
    needed = signature.parameters["target"].default is inspect.Parameter.empty
    place = [*signature.parameters, "alpha"].index("alpha")

    @wraps(make)
    def with_limits(*args: Any, target: Target | None = None, **arguments: Any) -> Result:
        _refuse_epsilon(make, arguments)
        try:
            documented.bind(*args, **arguments)
        except TypeError as error:  # arguments that do not fit are reported before a missing target
            raise TypeError(f"{make.__name__}() {error}") from None
        limits = {name: arguments.pop(name, None) for name in Target._fields}
        if target is not None:
            limits = _only(target, limits)
        alpha = args[place] if len(args) > place else arguments.get("alpha")
        target = Target.of(**limits) if needed else target_or_alpha(alpha, limits)
        return make(*args, target=target, **arguments)

    documented = _with_limits(signature)
    with_limits.__signature__ = documented  # type: ignore[attr-defined]
    return with_limits


def _only(target, limits):
    if not isinstance(target, Target):
        raise TypeError(f"target is a {validation.type_name(target)}, not a linred.Target")
    for name, limit in limits.items():
        if limit is not None:
            raise ValueError(f"target= and {name}= are both given: give one of them")
    return target._asdict()


def _with_limits(signature):
    """Return the signature with a keyword for each limit in place of `target`."""
    parameters = []
    for name, parameter in signature.parameters.items():
        limits = [parameter.replace(name=limit, default=None) for limit in Target._fields]
        parameters += limits if name == "target" else [parameter]
    return signature.replace(parameters=parameters)
