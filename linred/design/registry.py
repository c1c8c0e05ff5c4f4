"""The registry of mechanisms: the name, function, options, label and line style of each kind.

`fit`, `Sanitizer` and the command build mechanisms by name; curves, plots and the HTML page use labels and styles.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from linred._common import validation
from linred.design import baselines
from linred.design.closed_form import markov, non_markov
from linred.design.optimal import optimal
from linred.design.selective import selective
from linred.privacy.takes_target import BY_UTILITY, refuse, refuse_given_x, target_or_alpha


class Kind(NamedTuple):
    """One kind of mechanism.

    make : function of a Joint that accepts target= (or alpha=, if `takes_alpha`) and the options named in `takes`.
    label, colour, dashes : for tables and figures. Dash lengths are in line widths; they distinguish lines in print.
    page_colours : line colours on the HTML page in light and dark mode; None if the page never draws this kind.
    """

    make: Callable
    label: str
    colour: str
    dashes: tuple
    page_colours: tuple | None = None
    sees_s: bool = True
    takes: tuple = ()
    takes_alpha: bool = True

    def made(self, joint, *, alpha=None, target=None, **options):
        """Build the mechanism; options that are not in `takes` are ignored."""
        asked = {"target": target} if alpha is None else {"alpha": alpha}
        return self.make(joint, **asked, **{name: value for name, value in options.items() if name in self.takes})


_best_markov = partial(optimal, sees_s=False)

KINDS = {
    "markov": Kind(markov, "Lemma 1", "#b3470f", (6, 2), ("#9a3d0b", "#f2a66f"), sees_s=False),
    "optimal_markov": Kind(
        _best_markov, "best Markov", "#e69f00", (6, 2, 1, 2), sees_s=False, takes=("distortion", "time_limit")
    ),
    "non_markov": Kind(non_markov, "Proposition 1", "#0072b2", (3, 1.5), ("#0b5fa5", "#7dbdf5"), takes=("distortion",)),
    "optimal": Kind(
        optimal,
        "optimal",
        "#111111",
        (),
        ("#1d1c1a", "#e9e7e2"),
        takes=("distortion", "sees_s", "confidence", "time_limit", "least", *BY_UTILITY),
    ),
    "selective": Kind(
        selective, "selective", "#56b4e9", (1, 1), ("#00695c", "#5fd0bf"), takes=("distortion",), takes_alpha=False
    ),
    "k_rr": Kind(baselines.k_rr, "k-RR", "#9c5c8e", (4, 1, 1, 1, 1, 1), sees_s=False, takes_alpha=False),
    "pram": Kind(baselines.pram, "PRAM", "#00795a", (8, 3), sees_s=False, takes_alpha=False),
    "watchdog": Kind(baselines.watchdog, "watchdog", "#8a8a8a", (2, 3), sees_s=False, takes_alpha=False),
}
BY_NAME = ("optimal", "non_markov", "markov")
"""The names that `fit`, `Sanitizer` and the command accept, the default first."""


def check(name, alpha, keywords, sees_s=True, **options):
    """Return (name or function, `Target` or None); raise ValueError if the settings contradict one another.

    Called before records are read. keywords : `TargetKeywords`. options : arguments of `build`, None if not given.
    """
    known = name.replace("-", "_") if isinstance(name, str) else name
    if not callable(known) and known not in BY_NAME:
        names = ", ".join(map(repr, BY_NAME))
        raise ValueError(f"mechanism = {validation.shortened(name)} is not {names} or a function")
    kind = None if callable(known) else KINDS[known]
    optional = kind is None or any(options.get(option) is not None for option in BY_UTILITY)
    target = target_or_alpha(alpha, keywords, optional)
    if kind is not None:
        refuse(known, target, kind.make.meets)
    if not validation.flag("sees_s", sees_s) and kind is not None and kind.sees_s and "sees_s" not in kind.takes:
        raise ValueError(
            f"mechanism = {known!r} uses S when sampling, which sees_s=False rules out: choose 'optimal' or 'markov'"
        )
    refuse_given_x(target, sees_s)
    _check_options(() if kind is None else kind.takes, options)
    return known, target


def _check_options(takes, options):
    if options.get("time_limit") is not None:
        validation.number("time_limit", options["time_limit"], 0.0, math.inf)
    for name, value in options.items():
        if value is not None and name not in takes:
            able = " or ".join(repr(one) for one in BY_NAME if name in KINDS[one].takes)
            raise ValueError(f"{name} = {validation.shortened(value)} applies only to mechanism={able}: leave it out")


def build(joint, name, *, alpha=None, target=None, sees_s=True, **options):
    """Build a mechanism for a Joint by its name in `BY_NAME`, or by a function of the Joint and the target or alpha.

    options : time_limit, distortion and other arguments of the mechanisms; those that it does not take are ignored.

    Guarantee
    ---------
    The one of the function with this name.

    >>> from linred import Joint
    >>> from linred.privacy.target import Target
    >>> build(Joint([[0.3, 0.2], [0.1, 0.4]]), "non_markov", target=Target(ldp=0.5))
    <Mechanism non_markov, alpha = 0.510163 for 2 x 2 symbols>
    """
    if not callable(name):
        return KINDS[name].made(joint, alpha=alpha, target=target, sees_s=sees_s, **options)
    asked = {} if target is None else target.limits
    mechanism = name(joint, **asked, **({} if alpha is None else {"alpha": alpha}))
    if not hasattr(mechanism, "table_of"):
        returned = validation.type_name(mechanism)
        raise ValueError(f"the function given as mechanism= returned a {returned}, not a linred.Mechanism")
    if mechanism.sees_s and not sees_s:
        raise ValueError(
            f"the function given as mechanism= returned a mechanism that uses S when sampling ({mechanism.name}), "
            "but sees_s is False"
        )
    return mechanism
