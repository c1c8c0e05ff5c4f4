"""Privacy against utility, point by point, for several mechanisms: `linred.tradeoff`."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Unpack

import numpy as np

from linred._common import validation
from linred._common.types import LabelMatrix, Least, Names
from linred.columns.label_distance import distortion_of
from linred.design.least_leakage import LEAST, Share, least_leakage
from linred.design.optimal import best_mechanism
from linred.design.registry import KINDS
from linred.errors import CannotMeetError
from linred.mechanism.mechanism import Mechanism
from linred.privacy.takes_target import BY_UTILITY, TargetKeywords, refuse, takes_keywords
from linred.privacy.target import NUMBERS, Target
from linred.report.curves import MEASURES, Curves, measures_of

if TYPE_CHECKING:
    from linred.distribution.joint import Joint

MEASURED = {"given_x": "ldp_given_x", "max_changed": "dtv", "max_distortion": "expected_distortion"}
"""The measure of each argument that does not have the name of its measure."""

GRIDS = {"alphas": 1.0, **NUMBERS, "max_changed": 1.0, "max_distortion": math.inf}
"""The arguments that may be the grid, each with its largest point."""

FOR_ALPHA = ("markov", "optimal_markov", "non_markov")
FOR_TARGET = (*FOR_ALPHA, "optimal")


@takes_keywords
def tradeoff(
    joint: Joint,
    *,
    alphas: Iterable[float] | None = None,
    max_changed: float | Iterable[float] | None = None,
    max_distortion: float | Iterable[float] | None = None,
    least: Least | None = None,
    mechanisms: Names | dict[str, Callable[..., Mechanism]] | None = None,
    distortion: LabelMatrix | None = None,
    base: float = math.e,
    time_limit: float | None = None,
    **keywords: Unpack[TargetKeywords[float | Iterable[float]]],
) -> Curves:
    """Return the `Curves` of several mechanisms over a grid of limits, of shares of changed records, or of alphas.

    Exactly one argument is a sequence of numbers, the grid. A limit that is a single number, and `neighbors`, `pairs`
    and `secrets`, hold at every point besides: `tradeoff(joint, ldp=[0.5, 1, 2], max_lift=0.5)`.

    Parameters
    ----------
    alphas : sequence of numbers in [0, 1], optional
        The points, in the order of the curves; no limits can be given besides.
    target, ldp, log_lift, max_lift, min_lift, dp, neighbors, pairs, secrets, given_x, max_changed_by_s
        The limits of a `linred.Target`, in nats whatever the base. Every one that is a number may be the grid. `target`
        holds at every point.
    max_changed, max_distortion : number or sequence of numbers, optional
        Ask for the least leakage instead: at each point, the mechanism for which the figure `least` is smallest among
        those that change no larger share of the records, or have no larger expected distortion; see `optimal`.
    least : {"ldp", "log_lift", "max_lift"}, optional
        This figure; by default "ldp".
    mechanisms : sequence of names, or dict of callables, optional
        "markov" (Lemma 1), "optimal_markov" (the optimum among mechanisms that do not use S), "non_markov"
        (Proposition 1), "optimal", "selective", "k_rr", "pram" and "watchdog". A callable is called with the joint and
        the keywords of the point, such as alpha= or ldp= and max_lift=, and returns a Mechanism, for example
        {"mine": functools.partial(linred.optimal, prefer="information")}; it gets neither `distortion` nor
        `time_limit`. Limits of pairs can be scaled by a grid in this way:
        {"pairs": lambda joint, ldp: linred.optimal(joint, pairs=ldp * distances)}. The default is the first three for
        alphas and, otherwise, those of the first four that can meet the limits.
    distortion : |X| x |X| matrix, or in another form that `non_markov` accepts, optional
        The cost that mechanisms minimise, if they can, and that the expected distortion is computed with.
    base : base of the reported logarithms.
    time_limit : seconds for each linear programme, or for each point that asks for the least leakage.

    Guarantee
    ---------
    Every point is a mechanism that was built and measured. No point is interpolated. Where no mechanism of a kind meets
    the limits, its figures are nan, and `Curves.missing` says why; if there is no point at all, a CannotMeetError is
    raised. The figures are those of the same mechanisms built one by one, whatever the order of the points: exactly for
    a grid of limits, and to 1e-6 nats for the least leakage, where the search for a point starts from the optima that
    were found for earlier points.

    >>> from linred.datasets import example_1
    >>> curves = tradeoff(example_1(), ldp=[0.5, 1.0])
    >>> {label: curves[label]["dtv"].round(4).tolist() for label in ("non_markov", "optimal")}
    {'non_markov': [0.1473, 0.079], 'optimal': [0.1302, 0.0632]}
    >>> tradeoff(example_1(), max_changed=[0.1302, 0.0632])["optimal"]["ldp"].round(3).tolist()
    [0.5, 1.0]
    """
    validation.joint(joint)
    validation.log_of_base(base)
    distortion = None if distortion is None else distortion_of("distortion", distortion, joint.x_labels)
    asked = {"alphas": alphas, "max_changed": max_changed, "max_distortion": max_distortion, **_limits(keywords)}
    grid = _Grid.of({name: value for name, value in asked.items() if value is not None})
    points = [grid.at(point) for point in grid.points.tolist()]
    shares = [Share.of(point.get("max_changed"), point.get("max_distortion"), distortion, least) for point in points]
    targets = [grid.target(point, joint) for point in points]
    makers = _makers(joint, mechanisms, grid, targets, least, {"distortion": distortion, "time_limit": time_limit})
    missing: dict[tuple[str, float], str] = {}
    curves = {}
    for label, make in makers.items():
        rows = []
        for point, target, share in zip(points, targets, shares, strict=True):
            try:
                rows.append(measures_of(_checked(label, make(point, target, share)), target, base, distortion))
            except CannotMeetError as error:
                rows.append(dict.fromkeys(MEASURES, math.nan))
                missing[label, point[grid.name]] = str(error)
        curves[label] = {name: np.array([row[name] for row in rows]) for name in MEASURES}
        if grid.name == "alpha":
            curves[label]["alpha"] = grid.points
    if all(np.isnan(curve["dtv"]).all() for curve in curves.values()):
        (label, point), reason = list(missing.items())[-1]  # of the most capable mechanism, by default
        raise CannotMeetError(f"no mechanism meets the limits at any point; {label} at {point:g}: {reason}")
    return Curves(grid.name, grid.points, curves, base, grid.axes(least, distortion), missing)


def _limits(keywords):
    """Return the limits of {name: value}, with those of a whole `target`."""
    limits = {name: value for name, value in keywords.items() if value is not None}
    target = limits.pop("target", None)
    if target is None:
        return limits
    if not isinstance(target, Target):
        raise TypeError(f"target is a {validation.type_name(target)}, not a linred.Target")
    for name in limits:
        if name in target.limits:
            raise ValueError(f"{name}= is given twice, in target= and by itself: give it once")
    return {**target.limits, **limits}


class _Grid:
    """The argument that is varied with its points, and the arguments that are the same at every point."""

    def __init__(self, name, points, fixed):
        self.name, self.points, self.fixed = name, points, fixed

    @classmethod
    def of(cls, asked):
        """Find the one argument that is a sequence among {name: value}."""
        sequences = {name: points for name in GRIDS if (points := _points(asked.get(name))) is not None}
        if len(sequences) != 1:
            found = ", ".join(f"{name}=" for name in sequences) or "none"
            raise ValueError(
                "give the points of exactly one limit as a sequence, such as ldp=[0.5, 1, 2], and one number for each "
                f"of the others; sequences given: {found}"
            )
        ((name, points),) = sequences.items()
        if not points:
            raise ValueError(f"{name}= has no points: give at least one number")
        points = [validation.number(f"{name}[{i}]", point, 0.0, GRIDS[name]) for i, point in enumerate(points)]
        fixed = {other: value for other, value in asked.items() if other != name}
        if "alphas" in asked and fixed:
            raise ValueError(f"alphas= and {next(iter(asked.keys() - {'alphas'}))}= are both given: give one of them")
        return cls("alpha" if name == "alphas" else name, np.array(points), fixed)

    def at(self, point):
        """Return the arguments of a point by name."""
        return {self.name: point, **self.fixed}

    def target(self, arguments, joint):
        """Return the settled `Target` of a point, None for an alpha."""
        return None if "alpha" in arguments else self._target(arguments).settled(joint)

    @staticmethod
    def _target(arguments):
        return Target(**{name: value for name, value in arguments.items() if name not in BY_UTILITY})

    def axes(self, least, distortion):
        """Return the measure of the grid, and the one to compare it with: what the mechanisms minimise."""
        own = MEASURED.get(self.name, self.name)
        if self.name == "ldp" and "ldp" not in self._target(self.at(0.0)).figures:
            own = "secrets"
        if any(name in BY_UTILITY for name in self.at(0.0)):
            return own, least or LEAST[0]
        return own, "dtv" if distortion is None else "expected_distortion"


def _points(value):
    """Return the points of a grid, None if it is a number."""
    try:
        return list(value)
    except TypeError:
        return None


def _makers(joint, mechanisms, grid, targets, least, options):
    """Return {label: function of (the arguments of a point, its settled target, its `Share`)}."""
    if isinstance(mechanisms, dict) and mechanisms:
        for label, make in mechanisms.items():
            if not callable(make):
                raise ValueError(f"mechanisms[{label!r}] has type {validation.type_name(make)}, which cannot be called")
        more = {} if least is None else {"least": least}
        return {label: partial(_called, make, joint, more) for label, make in mechanisms.items()}
    known = {name: kind for name, kind in KINDS.items() if kind.takes_alpha or grid.name != "alpha"}
    labels = [mechanisms] if isinstance(mechanisms, str) else mechanisms
    if mechanisms is None:
        labels = []
        for label in FOR_ALPHA if grid.name == "alpha" else FOR_TARGET:
            with suppress(ValueError):
                _refuse(label, grid, targets)
                labels.append(label)
    if not isinstance(labels, list | tuple) or not labels:
        raise ValueError(
            f"mechanisms is a {validation.type_name(mechanisms)}, neither a list of names nor a dict of callables"
        )
    for i, label in enumerate(labels):
        if not isinstance(label, str) or label not in known:
            names = ", ".join(map(repr, known))
            raise ValueError(f"mechanisms[{i}] = {validation.shortened(label)} is not one of {names} for {grid.name}")
        _refuse(label, grid, targets)
    shares = grid.name in BY_UTILITY  # the target is then the same at all points
    least = least or LEAST[0]
    return {label: partial(_made, joint, known[label], options, least, {} if shares else None) for label in labels}


def _refuse(label, grid, targets):
    """Raise a ValueError if a mechanism cannot meet the limits of some point."""
    kind = KINDS[label]
    meets = inspect.signature(kind.make).parameters.keys() - (() if kind.sees_s else {"given_x"})
    for target in targets:
        refuse(label, target, meets, [name for name in BY_UTILITY if name in grid.at(0.0)])


def _called(make, joint, more, arguments, target, share):
    """Return the mechanism of a function that the caller gave."""
    return make(joint, **arguments, **more)


def _made(joint, kind, options, least, known, arguments, target, share):
    """Return the mechanism of one kind at a point. known : see `least_leakage`; None to search anew at every point."""
    if share is None:
        return kind.made(joint, alpha=arguments.get("alpha"), target=target, **options)
    limit = options["time_limit"]
    end = time.monotonic() + (math.inf if limit is None else limit)
    optimum = partial(best_mechanism, joint, kind.sees_s, options["distortion"], True, None, end)
    return least_leakage(least, target, share, optimum, known)


def _checked(label, mechanism):
    if not isinstance(mechanism, Mechanism):
        raise ValueError(
            f"mechanisms[{label!r}] returned type {validation.type_name(mechanism)}, not a linred.Mechanism"
        )
    return mechanism
