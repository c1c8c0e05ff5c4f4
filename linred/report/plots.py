"""Plots of `Curves`. Each mechanism has one colour and one line style in all figures, and its name beside its line."""

import numpy as np

from linred._common import validation
from linred.design.registry import KINDS
from linred.report.html_chart import names_beside

OTHERS = ("#555555", "#7a4b00", "#4b2e83", "#005f5f")


def draw(curves, x, y, ax=None):
    """Draw measure y against measure x, and return the axes."""
    try:
        import matplotlib.pyplot as plt
        from matplotlib.axes import Axes
    except ImportError:
        raise ImportError("plots need matplotlib: pip install linred[plot]") from None
    for name, measure in (("x", x), ("y", y)):
        if not isinstance(measure, str) or measure not in curves.measures:
            raise ValueError(
                f"{name} = {validation.shortened(measure)} is not one of {', '.join(map(repr, curves.measures))}"
            )
    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax has type {validation.type_name(ax)}; matplotlib axes are needed")
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    lines = []
    for label in curves.labels:
        name, colour, dashes = style_of(label, curves.labels)
        points = _drawable(curves[label][x], curves[label][y])
        if points[0].size:
            ax.plot(*points, color=colour, linestyle=dashes, linewidth=1.8)
            lines.append((name, colour, points))
    if not lines:
        raise ValueError(f"no curve has a point where both {x!r} and {y!r} are known and finite")
    ax.set(xlabel=curves.axis_label(x), ylabel=curves.axis_label(y))
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.02)
    ax.set_ylim(bottom=0.0)
    label_directly(ax, lines)
    return ax


def save(curves, file, extension):
    """Write the plot of the curves' `axes` to a binary file, as ".svg", ".png" or ".pdf"."""
    if extension not in (".svg", ".png", ".pdf"):
        raise ValueError(f"the name of a plot ends in .svg, .png or .pdf, not in {extension or 'nothing'}")
    ax = draw(curves, *curves.axes)
    ax.figure.savefig(file, format=extension[1:], dpi=150)
    import matplotlib.pyplot as plt

    plt.close(ax.figure)


def style_of(label, labels=()):
    """Return (name, colour, dashes) of a mechanism. An unknown one gets its colour by its place in `labels`."""
    if label in KINDS:
        kind = KINDS[label]
        return kind.label, kind.colour, (0, kind.dashes) if kind.dashes else "-"
    place = [other for other in labels if other not in KINDS].index(label) if label in labels else 0
    return label, OTHERS[place % len(OTHERS)], (0, (5, 1 + place))


def _drawable(x, y):
    """Return the points with two finite coordinates, from left to right."""
    finite = np.isfinite(x) & np.isfinite(y)
    order = np.argsort(x[finite], kind="stable")
    return x[finite][order], y[finite][order]


def label_directly(ax, lines):
    """Write the name of each line beside it, where `names_beside` says. lines : (name, colour, (x, y)) of each."""
    ax.figure.draw_without_rendering()  # now the axes have their final size
    how = {"xycoords": "axes fraction", "ha": "center", "va": "center", "fontsize": 9}
    texts = [ax.annotate(name, (0.5, 0.5), color=colour, **how) for name, colour, _ in lines]
    halves = np.array([0.5 * text.get_window_extent().size / ax.bbox.size for text in texts])
    to_axes = ax.transScale + ax.transLimits
    shapes = {i: to_axes.transform(np.transpose(points)) for i, (_, _, points) in enumerate(lines)}
    widths = {
        i: halves[i, 0] for i in np.argsort(-halves[:, 0])
    }  # long names first, because they fit in the fewest places
    spots = names_beside(shapes, widths, halves[:, 1].max(), ax.bbox.width / ax.bbox.height, always=shapes)
    for i, text in enumerate(texts):
        text.xy = text.xyann = spots[i]
