"""A mechanism by its name and what is asked of it: what the command line and `linred.Sanitizer` are told."""

import math

from linred._common import validation
from linred.design.closed_form import markov, non_markov
from linred.privacy.target import target

NAMES = ("optimal", "non_markov", "markov")


def build(joint, name, *, ldp=None, log_lift=None, alpha=None, sees_s=True, time_limit=None):
    """The mechanism for a Joint by name: "optimal", "non_markov" ("non-markov") or "markov".

    Parameters
    ----------
    name : str or function
        A function makes a `Mechanism` from a Joint and those of ldp, log_lift and alpha that are given.
    ldp, log_lift : float, optional
        Targets in nats, one or both. Or, in their place:
    alpha : float, optional
        How far to go from P(x|s) to P(x).
    sees_s : bool
        Whether a draw may depend on s. That of markov never does.
    time_limit : float, optional
        Seconds for the programme of `optimal`.

    Guarantee
    ---------
    That of the function of this name. What cannot be asked is a ValueError before anything is computed.

    >>> from linred import Joint
    >>> build(Joint([[0.3, 0.2], [0.1, 0.4]]), "non-markov", ldp=0.5)
    <Mechanism non_markov, alpha = 0.510163 for 2 x 2 symbols>
    """
    asked = {"ldp": ldp, "log_lift": log_lift, "alpha": alpha}
    name = check(name, **asked, sees_s=sees_s, time_limit=time_limit)
    if callable(name):
        return _made_by(name, joint, asked, sees_s)
    if name != "optimal":
        return {"markov": markov, "non_markov": non_markov}[name](joint, **asked)
    from linred.design.optimal import optimal  # it takes as long to import as all the rest

    return optimal(joint, **asked, sees_s=sees_s, time_limit=time_limit)


def check(name, *, ldp=None, log_lift=None, alpha=None, sees_s=True, time_limit=None):
    """The name as in `NAMES`, or the function, if all this can be asked of it: to be known before records are read."""
    known = name.replace("-", "_") if isinstance(name, str) else name
    if not callable(known) and known not in NAMES:
        raise ValueError(f"mechanism = {validation.shortened(name)} is not {', '.join(map(repr, NAMES))} or a function")
    _check_asked(ldp, log_lift, alpha, by_function=callable(known))
    if not validation.flag("sees_s", sees_s) and known == "non_markov":
        raise ValueError("non_markov looks at s: where sees_s is False, take optimal or markov")
    if time_limit is not None:
        validation.number("time_limit", time_limit, 0.0, math.inf)
        if known != "optimal":
            raise ValueError(f"time_limit = {time_limit!r} is for optimal, which alone solves a programme")
    return known


def _check_asked(ldp, log_lift, alpha, by_function):
    targeted = ldp is not None or log_lift is not None
    if alpha is not None and targeted:
        raise ValueError(
            f"alpha = {validation.shortened(alpha)} and a target are both given: ldp and log_lift choose alpha"
        )
    if alpha is not None:
        validation.alpha(alpha)
    elif targeted:
        target(ldp, log_lift)
    elif not by_function:
        raise ValueError("nothing is asked of the mechanism: ldp, log_lift or both are needed, or alpha")


def _made_by(function, joint, asked, sees_s):
    mechanism = function(joint, **{name: value for name, value in asked.items() if value is not None})
    if not hasattr(mechanism, "table_of"):
        raise ValueError(f"mechanism made a {type(mechanism).__name__}, not a linred.Mechanism")
    if mechanism.sees_s and not sees_s:
        raise ValueError(f"mechanism made one that looks at s ({mechanism.name}), and sees_s is False")
    return mechanism
