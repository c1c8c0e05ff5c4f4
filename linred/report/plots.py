"""Pictures of `Curves`: one colour and one line style a mechanism, the same in every figure, labelled directly."""

import numpy as np

from linred.design.registry import KINDS

LETTER_INCHES = 0.075
"""How wide a letter of 9 points is, about."""

OTHERS = ("#555555", "#7a4b00", "#4b2e83", "#005f5f")


def draw(curves, x, y, ax=None):
    """Draw measure y against measure x, and return the axes."""
    try:
        import matplotlib.pyplot as plt
        from matplotlib.axes import Axes
    except ImportError:
        raise ImportError("plot needs matplotlib: pip install linred[plot]") from None
    for name, measure in (("x", x), ("y", y)):
        if not isinstance(measure, str) or measure not in curves.measures:
            raise ValueError(f"{name} = {measure!r} is none of {', '.join(map(repr, curves.measures))}")
    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax = {ax!r} is not matplotlib axes")
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
    """Records changed against the targets, as a picture in a binary file: ".svg", ".png" or ".pdf"."""
    if extension not in (".svg", ".png", ".pdf"):
        raise ValueError(f"a plot is .svg, .png or .pdf, not {extension or 'without an extension'}")
    ax = draw(curves, curves.grid, "dtv")
    ax.figure.savefig(file, format=extension[1:], dpi=150)
    import matplotlib.pyplot as plt

    plt.close(ax.figure)


def style_of(label, labels=()):
    """(name, colour, dashes) of a mechanism; one that is not known gets a colour by its place among those."""
    if label in KINDS:
        kind = KINDS[label]
        return kind.label, kind.colour, (0, kind.dashes) if kind.dashes else "-"
    place = [other for other in labels if other not in KINDS].index(label) if label in labels else 0
    return label, OTHERS[place % len(OTHERS)], (0, (5, 1 + place))


def _drawable(x, y):
    """Points with both coordinates finite, from left to right."""
    finite = np.isfinite(x) & np.isfinite(y)
    order = np.argsort(x[finite], kind="stable")
    return x[finite][order], y[finite][order]


def label_directly(ax, lines):
    """Write each line's name beside it, where it is farthest from the other lines and from names written before."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    columns = np.linspace(0.06, 0.94, 45)
    heights = []
    for _, _, (x, y) in lines:
        u = (x - left) / (right - left)
        inside = (columns >= u.min()) & (columns <= u.max())
        heights.append(np.where(inside, np.interp(columns, u, (y - bottom) / (top - bottom)), np.nan))
    heights, placed = np.array(heights), []
    inches = ax.get_position().width * ax.figure.get_figwidth()
    for i, (name, colour, _) in enumerate(lines):
        width = LETTER_INCHES * len(name) / inches
        spot = _best_spot(columns, heights, i, placed, width)
        if spot is not None:
            placed.append((*spot, width))
            ax.annotate(name, spot, xycoords="axes fraction", color=colour, ha="center", va="center", fontsize=9)


def _best_spot(columns, heights, line, placed, width):
    """(u, v) in the axes, above or below a line, with the most room around it; None where there is none at all."""
    best, most = None, -np.inf
    for k in np.flatnonzero(np.isfinite(heights[line])):
        for side in (1, -1):
            near = np.abs(columns - columns[k]) <= 0.5 * width
            own = heights[line][near]
            v = (np.nanmax(own) if side > 0 else np.nanmin(own)) + side * 0.045
            if not 0.03 <= v <= 0.97 or not 0.5 * width + 0.02 <= columns[k] <= 0.98 - 0.5 * width:
                continue
            others = np.delete(heights[:, near], line, axis=0)
            room = np.nanmin(np.abs(others - v), initial=0.25, where=np.isfinite(others))
            for u_other, v_other, w_other in placed:
                if abs(u_other - columns[k]) < 0.5 * (width + w_other):
                    room = min(room, abs(v - v_other) - 0.05)
            room = min(room, 3.0 * room - 0.12)  # a name that touches another line is worse than one far from its own
            worth = room - 0.25 * (np.nanmax(own) - np.nanmin(own))  # a name goes better with a flat line
            if worth > most + 1e-9:
                best, most = (columns[k], v), worth
    return best
