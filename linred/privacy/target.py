"""Target: the limits that a mechanism is made to meet, and how functions take them."""

import inspect
import math
from functools import wraps
from typing import NamedTuple

from linred._common import validation


class Target(NamedTuple):
    """Upper limits in nats that a mechanism must meet; inf means no limit.

    A field is the name of a figure of `Leakage`, and a keyword of every function that `takes_target`.

    >>> Target(ldp=1.0)
    Target(ldp=1.0, log_lift=inf)
    """

    ldp: float = math.inf
    log_lift: float = math.inf

    @classmethod
    def of(cls, **limits):
        """Build a `Target` from limits, of which at least one is not None."""
        given = {name: limit for name, limit in limits.items() if limit is not None}
        if not given:
            raise ValueError(f"a target is needed: {', '.join(f'{name}=' for name in cls._fields)} or both")
        return cls(**{name: validation.number(name, limit, 0.0, math.inf) for name, limit in given.items()})

    @property
    def limits(self):
        """{name: limit} of the finite limits."""
        return {name: limit for name, limit in self._asdict().items() if limit < math.inf}

    def is_met_by(self, figures):
        return all(getattr(figures, name) <= limit for name, limit in self._asdict().items())

    def __str__(self):
        return " and ".join(f"{name} <= {limit!r}" for name, limit in self.limits.items())


def target_or_alpha(alpha, limits):
    """Return the `Target` of {name: limit or None}, or None if alpha is given. Exactly one of the two must be given."""
    targeted = any(limit is not None for limit in limits.values())
    if alpha is not None and targeted:
        shown = validation.shortened(alpha)
        raise ValueError(f"alpha = {shown} and a target are both given: give alpha, or {' and '.join(limits)}")
    if alpha is None and not targeted:
        raise ValueError(f"nothing is asked of the mechanism: {', '.join(limits)} or both are needed, or alpha")
    if alpha is not None:
        validation.alpha(alpha)
        return None
    return Target.of(**limits)


def takes_target(make):
    """Decorator: a function with a `target` parameter also accepts the limits as keywords, such as ldp=1.0.

    If `target` has a default, the caller must give either alpha or a target; otherwise a target is required. Only this
    decorator and `target_or_alpha` turn keywords into a `Target`. help() lists the limits as keywords.
    """
    signature = inspect.signature(make)
    needed = signature.parameters["target"].default is inspect.Parameter.empty
    place = [*signature.parameters, "alpha"].index("alpha")

    @wraps(make)
    def with_limits(*args, target=None, **arguments):
        try:
            shown.bind(*args, **arguments)
        except TypeError as error:  # a call that is wrong in another way says so first
            raise TypeError(f"{make.__name__}() {error}") from None
        limits = {name: arguments.pop(name, None) for name in Target._fields}
        if target is not None:
            limits = _only(target, limits)
        alpha = args[place] if len(args) > place else arguments.get("alpha")
        target = Target.of(**limits) if needed else target_or_alpha(alpha, limits)
        return make(*args, target=target, **arguments)

    shown = with_limits.__signature__ = _with_limits(signature)
    return with_limits


def _only(target, limits):
    if not isinstance(target, Target):
        raise TypeError(f"target is a {type(target).__name__}, not a Target")
    for name, limit in limits.items():
        if limit is not None:
            raise ValueError(f"target and {name} are both given: one of them says what is to be met")
    return target._asdict()


def _with_limits(signature):
    """The signature, each limit a keyword in the place of `target`."""
    parameters = []
    for name, parameter in signature.parameters.items():
        limits = [parameter.replace(name=limit, default=None) for limit in Target._fields]
        parameters += limits if name == "target" else [parameter]
    return signature.replace(parameters=parameters)
