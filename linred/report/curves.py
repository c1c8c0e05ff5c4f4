"""`Curves`: the figures of several mechanisms over a grid, what `linred.tradeoff` returns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linred._common import validation
from linred.distribution.joint import Joint
from linred.mechanism.leakage_given_x import ldp_given_x
from linred.mechanism.mechanism import Mechanism
from linred.privacy import metrics
from linred.privacy.comparisons import of_secrets
from linred.privacy.leakage import Leakage, unit_of

MEASURES = {
    "alpha": "alpha, share of the way to P(x)",
    "ldp": "LDP of S to Y [{unit}]",
    "log_lift": "log-lift of S to Y [{unit}]",
    "max_lift": "max-lift of S to Y [{unit}]",
    "min_lift": "min-lift of S to Y [{unit}]",
    "dp": "DP of S to Y between neighbours [{unit}]",
    "secrets": "largest LDP of a secret to Y [{unit}]",
    "ldp_given_x": "LDP of S to Y for someone who knows X [{unit}]",
    "mutual_information_sy": "I(S;Y) [{unit}]",
    "maximal_leakage": "maximal leakage of S to Y [{unit}]",
    "dtv": "share of changed records",
    "max_changed_by_s": "largest share of changed records in a group of S",
    "mutual_information_xy": "I(X;Y) [{unit}]",
    "information_loss": "H(X) - I(X;Y) [{unit}]",
    "expected_distortion": "expected distortion E d(X,Y)",
    "gap": "gap to the dual bound",
}
"""The measures at every point, with the labels of their axes."""


class Curves:
    """Figures of mechanisms over a grid: `curves[label][measure]` is an array with a value for each point.

    Attributes
    ----------
    grid : the parameter that was varied, such as "ldp", "max_changed" or "alpha"; `points` are its values.
    labels : names of the mechanisms. `measures` : see `linred.report.curves.MEASURES`.
    base : base of the logarithms.
    axes : the two measures that `plot` draws by default: that of the grid, and the one that depends on it.
    missing : {(label, point): reason} where no mechanism meets the limits; the figures there are nan.
    """

    def __init__(
        self,
        grid: str,
        points: np.ndarray,
        curves: dict[str, dict[str, np.ndarray]],
        base: float,
        axes: tuple[str, str],
        missing: dict[tuple[str, float], str],
    ) -> None:
        self.grid, self.points, self.base, self._curves = grid, points, base, curves
        self.axes, self.missing = axes, missing
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

    def plot(self, x: str | None = None, y: str | None = None, ax: Any = None) -> Any:
        """Draw measure y against measure x, by default `axes`, and return the matplotlib axes."""
        from linred.report import plots

        return plots.draw(self, x or self.axes[0], y or self.axes[1], ax)

    def axis_label(self, measure: str) -> str:
        """Return the label of an axis of this measure, with its unit."""
        return MEASURES[measure].format(unit=unit_of(self.base))

    def __repr__(self) -> str:
        n_missing = len(self.missing)
        missing = f", {n_missing} point{'s' * (n_missing > 1)} missing" if n_missing else ""
        return f"<Curves of {', '.join(self.labels)} at {self.points.size} values of {self.grid}{missing}>"


def measures_of(mechanism: Mechanism, target: Any, base: float, distortion: np.ndarray | None) -> dict[str, float]:
    """Return every measure of a mechanism; nan for those that it, or its target, has nothing to do with.

    target : the settled `Target` of the point, or None. distortion : costs for the expected distortion, or None.
    """
    entropy, information = metrics.entropy(mechanism.joint.p_x, base), mechanism.mutual_information(base)
    return {
        "alpha": math.nan if mechanism.alpha is None else mechanism.alpha,
        **leakages(mechanism.released, target, base),
        "ldp_given_x": ldp_given_x(mechanism, base),
        "dtv": mechanism.dtv(),
        "max_changed_by_s": float(np.nanmax(mechanism.changed("s"))),
        "mutual_information_xy": information,
        "information_loss": max(0.0, entropy - information),
        "expected_distortion": math.nan if distortion is None else mechanism.expected_distortion(distortion),
        "gap": mechanism.gap,
    }


def leakages(released: Joint, target: Any, base: float) -> dict[str, float]:
    """Return the measures of what Y reveals about S, by name; nan for those that the target has nothing to do with."""
    found = Leakage.of(released, base).as_dict()
    neighbors = None if target is None else target.neighbors
    return {
        "mutual_information_sy": found.pop("mutual_information"),
        **found,
        "dp": math.nan if neighbors is None else metrics.dp(released, neighbors, base),
        "secrets": math.nan if target is None else _ldp_of_secrets(released, target, base),
    }


def _ldp_of_secrets(released: Joint, target: Any, base: float) -> float:
    """Return the largest LDP of a secret of a settled target; nan if it has none."""
    found = []
    for p_s_given_group, _ in of_secrets(target, released.p_s):
        p_group = (p_s_given_group > 0.0) @ released.p_s
        found.append(metrics.ldp(Joint.from_conditional(p_s_given_group @ released.p_x_given_s, p_group), base))
    return max(found, default=math.nan)
