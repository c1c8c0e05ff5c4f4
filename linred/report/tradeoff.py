"""Privacy against utility, point by point, for several mechanisms: `linred.tradeoff`."""

import math
from functools import partial

import numpy as np

from linred._common import validation
from linred.design.registry import KINDS
from linred.mechanism.mechanism import Mechanism
from linred.privacy.leakage import unit_of
from linred.privacy.target import Target, refuses_epsilon

MEASURES = {
    "alpha": "alpha, share of the way to P(x)",
    "ldp": "LDP of S to Y [{unit}]",
    "log_lift": "log-lift of S to Y [{unit}]",
    "max_lift": "max-lift of S to Y [{unit}]",
    "min_lift": "min-lift of S to Y [{unit}]",
    "mutual_information_sy": "I(S;Y) [{unit}]",
    "maximal_leakage": "maximal leakage of S to Y [{unit}]",
    "dtv": "share of records changed",
    "mutual_information_xy": "I(X;Y) [{unit}]",
    "information_loss": "H(X) - I(X;Y) [{unit}]",
    "expected_distortion": "expected distortion E d(X,Y)",
    "gap": "gap to the dual bound",
}
"""What is known at every point, and how an axis says it."""

FOR_ALPHA = ("markov", "optimal_markov", "non_markov")
FOR_TARGET = (*FOR_ALPHA, "optimal")


@refuses_epsilon
def tradeoff(
    joint, *, alphas=None, ldp=None, log_lift=None, mechanisms=None, distortion=None, base=math.e, time_limit=None
):
    """`Curves`: the figures of several mechanisms over a grid of alphas or of targets.

    Parameters
    ----------
    alphas, ldp, log_lift : sequence of numbers
        One of the three: the points, in the order of the curves. Targets are in nats, whatever the base.
    mechanisms : sequence of names, or dict of callables, optional
        "markov" (Lemma 1), "optimal_markov" (the best without s), "non_markov" (Proposition 1), "optimal"; for targets
        also "selective", "k_rr", "pram" and "watchdog". A callable is called with the joint and alpha=, ldp= or
        log_lift=, and returns a Mechanism: {"mine": functools.partial(linred.optimal, prefer="information")}. Without
        it the first three for alphas, the first four for targets. Callables get neither `distortion` nor `time_limit`.
    distortion : |X| x |X| matrix, optional
        What mechanisms minimise, those that can, and what is reported as expected distortion.
    base : of the logarithms that are reported.
    time_limit : seconds for each programme.

    Guarantee
    ---------
    Every point is a mechanism that was built and measured; nothing is interpolated.

    >>> from linred.datasets import example_1
    >>> curves = tradeoff(example_1(), ldp=[0.5, 1.0])
    >>> {label: curves[label]["dtv"].round(4).tolist() for label in ("non_markov", "optimal")}
    {'non_markov': [0.1473, 0.079], 'optimal': [0.1302, 0.0632]}
    """
    validation.joint(joint)
    validation.log_of_base(base)
    distortion = None if distortion is None else validation.distortion(distortion, joint.shape[1])
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
    """Figures of mechanisms over a grid: `curves[label][measure]` is an array, a value for each point.

    Attributes
    ----------
    grid : "alpha", "ldp" or "log_lift", what was varied; `points` its values.
    labels : of the mechanisms. `measures` : see `linred.report.tradeoff.MEASURES`.
    base : of the logarithms.
    """

    def __init__(self, grid, points, curves, base):
        self.grid, self.points, self.base, self._curves = grid, points, base, curves
        self.labels, self.measures = tuple(curves), tuple(MEASURES)

    def __getitem__(self, label):
        if label not in self._curves:
            raise KeyError(f"{label!r} is none of the curves {', '.join(map(repr, self.labels))}")
        return self._curves[label]

    def to_pandas(self):
        """A DataFrame with a row for each mechanism and point: `mechanism`, `asked` (the point), then the measures."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install linred[pandas]") from None
        parts = ({"mechanism": label, "asked": self.points, **curve} for label, curve in self._curves.items())
        return pandas.concat(map(pandas.DataFrame, parts), ignore_index=True)

    def plot(self, x=None, y="dtv", ax=None):
        """Draw measure y against measure x, by default against what was varied; returns the matplotlib axes."""
        from linred.report import plots

        return plots.draw(self, self.grid if x is None else x, y, ax)

    def axis_label(self, measure):
        """What an axis of this measure is called, with its unit."""
        return MEASURES[measure].format(unit=unit_of(self.base))

    def __repr__(self):
        return f"<Curves of {', '.join(self.labels)} at {self.points.size} values of {self.grid}>"


def _grid(**given):
    chosen = [(name, values) for name, values in given.items() if values is not None]
    if len(chosen) != 1:
        names = ", ".join(name for name, _ in chosen) or "none"
        raise ValueError(f"just one of alphas, ldp and log_lift is needed; given: {names}")
    name, values = chosen[0]
    try:
        points = list(values)
    except TypeError:
        points = [values]
    if not points:
        raise ValueError(f"{name} has no points")
    high = 1.0 if name == "alphas" else math.inf
    points = [validation.number(f"{name}[{i}]", point, 0.0, high) for i, point in enumerate(points)]
    return name.removesuffix("s"), np.array(points)


def _makers(mechanisms, grid, distortion, time_limit):
    """{label: callable(joint, **asked)}."""
    if isinstance(mechanisms, dict) and mechanisms:
        for label, make in mechanisms.items():
            if not callable(make):
                raise ValueError(f"mechanisms[{label!r}] = {make!r} cannot be called")
        return mechanisms
    options = {"distortion": distortion, "time_limit": time_limit}
    known = {name: partial(_made, kind, options) for name, kind in KINDS.items() if kind.takes_alpha or grid != "alpha"}
    labels = [mechanisms] if isinstance(mechanisms, str) else mechanisms
    if mechanisms is None:
        labels = FOR_ALPHA if grid == "alpha" else FOR_TARGET
    if not isinstance(labels, list | tuple) or not labels:
        raise ValueError(f"mechanisms = {mechanisms!r} is neither a list of names nor a dict of callables")
    for i, label in enumerate(labels):
        if not isinstance(label, str) or label not in known:
            raise ValueError(f"mechanisms[{i}] = {label!r} is none of {', '.join(map(repr, known))} for {grid}")
    return {label: known[label] for label in labels}


def _made(kind, options, joint, **point):
    """The mechanism of one kind at a point of the grid: alpha=, or a limit of a `Target`."""
    asked = point if "alpha" in point else {"target": Target.of(**point)}
    return kind.made(joint, **asked, **options)


def _figures(label, mechanism, base, distortion):
    if not isinstance(mechanism, Mechanism):
        raise ValueError(f"mechanisms[{label!r}] returned a {type(mechanism).__name__}, not a linred.Mechanism")
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
