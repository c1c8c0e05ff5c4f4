"""Privacy against utility, point by point, for several mechanisms: `linred.tradeoff`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from linred._common import validation
from linred._common.types import LabelMatrix, Names
from linred.columns.label_distance import distortion_of
from linred.design.registry import KINDS
from linred.mechanism.mechanism import Mechanism
from linred.privacy.leakage import unit_of
from linred.privacy.takes_target import refuses_epsilon
from linred.privacy.target import Target

if TYPE_CHECKING:
    from linred.distribution.joint import Joint

MEASURES = {
    "alpha": "alpha, share of the way to P(x)",
    "ldp": "LDP of S to Y [{unit}]",
    "log_lift": "log-lift of S to Y [{unit}]",
    "max_lift": "max-lift of S to Y [{unit}]",
    "min_lift": "min-lift of S to Y [{unit}]",
    "mutual_information_sy": "I(S;Y) [{unit}]",
    "maximal_leakage": "maximal leakage of S to Y [{unit}]",
    "dtv": "share of changed records",
    "mutual_information_xy": "I(X;Y) [{unit}]",
    "information_loss": "H(X) - I(X;Y) [{unit}]",
    "expected_distortion": "expected distortion E d(X,Y)",
    "gap": "gap to the dual bound",
}
"""The measures at every point, with the labels of their axes."""

FOR_ALPHA = ("markov", "optimal_markov", "non_markov")
FOR_TARGET = (*FOR_ALPHA, "optimal")


@refuses_epsilon
def tradeoff(
    joint: Joint,
    *,
    alphas: float | Iterable[float] | None = None,
    ldp: float | Iterable[float] | None = None,
    log_lift: float | Iterable[float] | None = None,
    mechanisms: Names | dict[str, Callable[..., Mechanism]] | None = None,
    distortion: LabelMatrix | None = None,
    base: float = math.e,
    time_limit: float | None = None,
) -> Curves:
    """Return the `Curves` of several mechanisms over a grid of alphas or of targets.

    Parameters
    ----------
    alphas, ldp, log_lift : sequence of numbers
        The points, in the order of the curves; give exactly one of the three. Targets are in nats, whatever the base.
    mechanisms : sequence of names, or dict of callables, optional
        "markov" (Lemma 1), "optimal_markov" (the optimum among mechanisms that do not use S), "non_markov"
        (Proposition 1), "optimal"; for targets also "selective", "k_rr", "pram" and "watchdog". A callable is called
        with the joint and alpha=, ldp= or log_lift=, and returns a Mechanism, for example
        {"mine": functools.partial(linred.optimal, prefer="information")}; it gets neither `distortion` nor
        `time_limit`. The default is the first three for alphas and the first four for targets.
    distortion : matrix, mapping, function, "absolute" or "squared", optional
        The cost that mechanisms minimise, if they can, and that the expected distortion is computed with; as in
        `optimal`.
    base : base of the reported logarithms.
    time_limit : seconds for each linear programme.

    Guarantee
    ---------
    Every point is a mechanism that was built and measured. No point is interpolated.

    >>> from linred.datasets import example_1
    >>> curves = tradeoff(example_1(), ldp=[0.5, 1.0])
    >>> {label: curves[label]["dtv"].round(4).tolist() for label in ("non_markov", "optimal")}
    {'non_markov': [0.1473, 0.079], 'optimal': [0.1302, 0.0632]}
    """
    validation.joint(joint)
    validation.log_of_base(base)
    distortion = None if distortion is None else distortion_of("distortion", distortion, joint.x_labels)
    grid, points = _grid(alphas=alphas, ldp=ldp, log_lift=log_lift)
    makers = _makers(mechanisms, grid, distortion, time_limit)
    curves = {}
    for label, make in makers.items():
        rows = [_figures(label, make(joint, **{grid: point}), base, distortion) for point in points]
        curves[label] = {name: np.array([row[name] for row in rows]) for name in MEASURES}
        if grid == "alpha":
            curves[label]["alpha"] = points
    return Curves(grid, points, curves, base)


class Curves:
    """Figures of mechanisms over a grid: `curves[label][measure]` is an array with a value for each point.

    Attributes
    ----------
    grid : "alpha", "ldp" or "log_lift", the parameter that was varied; `points` are its values.
    labels : names of the mechanisms. `measures` : see `linred.report.tradeoff.MEASURES`.
    base : base of the logarithms.
    """

    def __init__(self, grid: str, points: np.ndarray, curves: dict[str, dict[str, np.ndarray]], base: float) -> None:
        self.grid, self.points, self.base, self._curves = grid, points, base, curves
        self.labels, self.measures = tuple(curves), tuple(MEASURES)

    def __getitem__(self, label: str) -> dict[str, np.ndarray]:
        if label not in self._curves:
            raise KeyError(
                f"{validation.shortened(label)} is not one of the curves: {', '.join(map(repr, self.labels))}"
            )
        return self._curves[label]

    def to_pandas(self) -> Any:
        """Return a DataFrame with a row for each mechanism and point: `mechanism`, `asked` (the point), measures."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install linred[pandas]") from None
        parts = ({"mechanism": label, "asked": self.points, **curve} for label, curve in self._curves.items())
        return pandas.concat(map(pandas.DataFrame, parts), ignore_index=True)

    def plot(self, x: str | None = None, y: str = "dtv", ax: Any = None) -> Any:
        """Draw measure y against measure x, by default the varied parameter, and return the matplotlib axes."""
        from linred.report import plots

        return plots.draw(self, self.grid if x is None else x, y, ax)

    def axis_label(self, measure: str) -> str:
        """Return the label of an axis of this measure, with its unit."""
        return MEASURES[measure].format(unit=unit_of(self.base))

    def __repr__(self) -> str:
        return f"<Curves of {', '.join(self.labels)} at {self.points.size} values of {self.grid}>"


def _grid(**given):
    chosen = [(name, values) for name, values in given.items() if values is not None]
    if len(chosen) != 1:
        names = ", ".join(name for name, _ in chosen) or "none"
        raise ValueError(f"give exactly one of alphas=, ldp= and log_lift=; given: {names}")
    name, values = chosen[0]
    try:
        points = list(values)
    except TypeError:
        points = [values]
    if not points:
        raise ValueError(f"{name}= has no points: give at least one number")
    high = 1.0 if name == "alphas" else math.inf
    points = [validation.number(f"{name}[{i}]", point, 0.0, high) for i, point in enumerate(points)]
    return name.removesuffix("s"), np.array(points)


def _makers(mechanisms, grid, distortion, time_limit):
    """Return {label: callable(joint, **asked)}."""
    if isinstance(mechanisms, dict) and mechanisms:
        for label, make in mechanisms.items():
            if not callable(make):
                raise ValueError(f"mechanisms[{label!r}] has type {validation.type_name(make)}, which cannot be called")
        return mechanisms
    options = {"distortion": distortion, "time_limit": time_limit}
    known = {name: partial(_made, kind, options) for name, kind in KINDS.items() if kind.takes_alpha or grid != "alpha"}
    labels = [mechanisms] if isinstance(mechanisms, str) else mechanisms
    if mechanisms is None:
        labels = FOR_ALPHA if grid == "alpha" else FOR_TARGET
    if not isinstance(labels, list | tuple) or not labels:
        raise ValueError(
            f"mechanisms is a {validation.type_name(mechanisms)}, neither a list of names nor a dict of callables"
        )
    for i, label in enumerate(labels):
        if not isinstance(label, str) or label not in known:
            names = ", ".join(map(repr, known))
            raise ValueError(f"mechanisms[{i}] = {validation.shortened(label)} is not one of {names} for {grid}")
    return {label: known[label] for label in labels}


def _made(kind, options, joint, **point):
    """Return the mechanism of one kind at a point of the grid: alpha=, or a limit of a `Target`."""
    asked = point if "alpha" in point else {"target": Target.of(**point)}
    return kind.made(joint, **asked, **options)


def _figures(label, mechanism, base, distortion):
    if not isinstance(mechanism, Mechanism):
        raise ValueError(
            f"mechanisms[{label!r}] returned type {validation.type_name(mechanism)}, not a linred.Mechanism"
        )
    report = mechanism.report(base)
    after, utility = report.after.as_dict(), report.utility
    return {
        "alpha": math.nan if mechanism.alpha is None else mechanism.alpha,
        "mutual_information_sy": after.pop("mutual_information"),
        **after,
        "dtv": utility.dtv,
        "mutual_information_xy": utility.mutual_information,
        "information_loss": utility.information_loss,
        "expected_distortion": math.nan if distortion is None else mechanism.expected_distortion(distortion),
        "gap": mechanism.gap,
    }
