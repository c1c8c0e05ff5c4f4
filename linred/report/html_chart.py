"""The chart of the page, as SVG: the share of changed records against privacy, each line with its name beside it."""

import math
from typing import NamedTuple

import numpy as np

from linred.design.registry import KINDS
from linred.report.html_templates import CHART
from linred.report.html_values import share, unit

LEFT, RIGHT, TOP, BOTTOM = 62.0, 470.0, 30.0, 250.0
"""The edges of the axes, in a picture of 480 x 300 units."""

LETTER, HALF_LINE, ASPECT = 0.021, 0.032, (RIGHT - LEFT) / (BOTTOM - TOP)
"""Size of names: the width of a letter and half the height of a line, as shares of the axes, on a narrow screen, where
letters are largest."""

CLEAR = 0.015
"""Smallest distance of a name from lines and other names, as a share of the height of the axes."""

LEAST_SHARE = 1e-6
"""Smallest share that is drawn on a logarithmic scale."""


class _Axes(NamedTuple):
    """Figures from 0 on the horizontal axis; shares of records on the vertical one, from 0 or logarithmic."""

    right: float
    bottom: float  # 0 where the scale is linear
    top: float

    @classmethod
    def around(cls, right, shares, own_share):
        """Build the axes, logarithmic if a linear scale would put the mechanism on the horizontal axis."""
        if LEAST_SHARE <= own_share < shares.max() / 16:
            least = max(shares[shares > 0.0].min(), own_share / 100, LEAST_SHARE)
            return cls(right, 10.0 ** math.floor(math.log10(least)), 1.0)
        return cls(right, 0.0, _steps(shares.max() or 1.0)[-1])

    def place(self, figures, shares):
        """Return positions as shares of the width and height, an array of (u, v), without points below the axis."""
        figures, shares = np.atleast_1d(figures), np.atleast_1d(shares)
        figures, shares = figures[shares >= self.bottom], shares[shares >= self.bottom]
        up = np.log(shares / self.bottom) / math.log(self.top / self.bottom) if self.bottom else shares / self.top
        return np.stack([figures / self.right, up], axis=1)

    def drawn(self):
        """Return the ticks and the grid."""
        decades = range(round(math.log10(self.bottom)), 1) if self.bottom else ()
        marks, at = "", 'class="tick" x="{:.1f}" y="{:.1f}"'
        for height in [10.0**power for power in decades] or _steps(self.top):
            ((_, y),) = _units(self.place(0.0, height))
            marks += f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            marks += f'<text {at.format(LEFT - 6, y)} dy=".35em" text-anchor="end">{100 * height:g} %</text>'
        for figure in (step for step in _steps(self.right) if step <= self.right):
            ((x, _),) = _units(self.place(figure, self.top))
            marks += f'<text {at.format(x, BOTTOM + 18)} text-anchor="middle">{figure:g}</text>'
        return marks


def _steps(top):
    """Return about five round numbers, from 0 to the first at or above the top."""
    decade = 10.0 ** math.floor(math.log10(top / 4))
    step = next(times * decade for times in (1, 2, 2.5, 5, 10) if 5 * times * decade >= top)
    return [float(f"{i * step:.6g}") for i in range(math.ceil(top / step - 1e-9) + 1)]


def _units(places):
    """Convert positions to the units of the picture."""
    return [(LEFT + u * (RIGHT - LEFT), BOTTOM - v * (BOTTOM - TOP)) for u, v in places.tolist()]


def chart(told, plane, targets, curves):
    """Return the chart of {kind: (figures, shares)}, with the mechanism of the page as a point. plane : of the figures.

    targets : those of the curves; the last one is the end of the axis, unless the mechanism is beyond it.
    """
    own = plane.own
    own_share, right = told.report.utility.dtv, max(targets[-1], own if own < math.inf else 0.0)
    axes = _Axes.around(right, np.concatenate([[own_share], *(shares for _, shares in curves.values())]), own_share)
    lines = {label: axes.place(*curve) for label, curve in curves.items()}
    shapes = {"own": axes.place(min(own, right), own_share)} | {label: one for label, one in lines.items() if len(one)}
    called = {label: KINDS[label].label for label in curves}
    called["own"] = "this mechanism" + (" →" if own == math.inf else "")
    halves = {label: 0.5 * LETTER * len(called[label]) for label in shapes}
    marks = axes.drawn()
    for label, line in lines.items():
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in _units(line))
        marks += f'<polyline class="line {label}" points="{points}"/>'
    for label, spot in names_beside(shapes, halves, HALF_LINE, ASPECT, always=["own"]).items():
        ((x, y),) = _units(np.array([spot]))
        marks += f'<text class="name {label}" x="{x:.1f}" y="{y:.1f}" dy=".35em">{called[label]}</text>'
    if own < math.inf:
        ((x, y),) = _units(shapes["own"])
        marks += f'<circle class="own" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
    scale = ", logarithmic scale" if axes.bottom else ""
    return CHART.format(marks=marks, scale=scale, name=plane.name, share=share(own_share), nats=unit(own))


def names_beside(shapes, halves, half_line, aspect, always):
    """Return {key: (u, v)}, the centre of each name: near its own shape, clear of other shapes and earlier names.

    The name of a line is closer to that line than to any other. If there is no such position the name is omitted, or,
    for keys in `always`, placed at the best position there is. "own" may be a point on a line, and so closer to it.

    shapes : {key: array of (u, v)}, lines or points, as shares of the width and the height of the axes.
    halves : {key: half the width of its name}; half_line : half the height of all names.
    aspect : width of the axes divided by their height.
    """
    u, v = (part.ravel() for part in np.meshgrid(np.linspace(0.0, 1.0, 81), np.linspace(0.0, 1.0, 61)))

    def distance(half, points):
        """Return how far names centred at (u, v) are from the nearest point, as a share of the height of the axes."""
        across = np.maximum(np.abs(u[:, None] - points[:, 0]) - half, 0.0) * aspect
        up = np.maximum(np.abs(v[:, None] - points[:, 1]) - half_line, 0.0)
        return np.hypot(across, up).min(axis=1)

    dense = {key: _densely(shape) for key, shape in shapes.items()}
    spots = {}
    for key, half in halves.items():
        others = [shape for other, shape in dense.items() if other != key]
        near, far = distance(half, dense[key]), distance(half, np.concatenate(others)) if others else np.inf
        within = (np.abs(u - 0.5) <= 0.49 - half) & (np.abs(v - 0.5) <= 0.5 - half_line)
        clear = within & (np.minimum(near, far) >= CLEAR) & ((far > near - 0.005) | (key == "own"))
        if clear.any() or key in always:
            best = np.argmax(np.minimum(far, 0.1) - near - 10.0 * ~clear - 10.0 * ~within)
            spots[key] = u[best], v[best]
            corners = [(u[best] + side * half, v[best] + lift * half_line) for side in (-1, 1) for lift in (-1, 1)]
            dense[f"name of {key}"] = _densely(np.array(corners))
    return spots


def _densely(places):
    """Return points along a line about a letter apart, 128 at most, because more make placing the names slow."""
    along = np.linspace(0.0, len(places) - 1.0, min(8 * len(places), 128))
    return np.stack([np.interp(along, np.arange(len(places)), part) for part in places.T], axis=1)


def sample(label):
    """Return a sample of a line for the key."""
    mark = '<circle class="own" cx="16" cy="6" r="4"/>'
    if label != "own":
        mark = f'<line class="line {label}" x1="0" x2="32" y1="6" y2="6"/>'
    return f'<svg class="sample" viewBox="0 0 32 12" aria-hidden="true">{mark}</svg>'
