"""What all benchmarks share: the timer, the table, and the description of the machine."""

import math
import platform
import statistics
import time
from importlib import metadata
from typing import NamedTuple

ROUNDS = 9


class Row(NamedTuple):
    """One comparison: the median seconds of linred and of the rival, which took turns in one process."""

    what: str
    ours: float
    rival_name: str
    rival: float
    goal: str = ""

    @property
    def times_as_fast(self):
        return self.rival / self.ours


def compare(what, ours, rival_name, rival, goal="", rounds=ROUNDS, warm=True):
    """Time two calls in turns, so that slow spells of the machine affect both, and return the medians as a `Row`."""
    if warm:
        ours(), rival()  # warms caches and completes lazy imports
    ours_seconds, rival_seconds = [], []
    for _ in range(rounds):
        ours_seconds.append(seconds(ours))
        rival_seconds.append(seconds(rival))
    return Row(what, statistics.median(ours_seconds), rival_name, statistics.median(rival_seconds), goal)


def not_installed(what, ours, rival_name, package):
    """Return a row for a rival whose package is missing, with the time of linred."""
    return Row(
        what,
        statistics.median(seconds(ours) for _ in range(ROUNDS)),
        f"{rival_name}: {package} is not installed",
        math.nan,
    )


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def table(rows):
    lines = ["| case | linred | rival | rival's time | times as fast | goal |", "|---|---:|---|---:|---:|---|"]
    for row in rows:
        ratio = f"**{row.times_as_fast:.2f}**" if row.times_as_fast < 1.0 else f"{row.times_as_fast:.2f}"
        cells = (row.what, _duration(row.ours), row.rival_name, _duration(row.rival), ratio, row.goal)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def machine():
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "scipy", "POT", "cryptography"))
    return f"{_processor()}, Python {platform.python_version()}, {packages}"


def _processor():
    try:
        with open("/proc/cpuinfo") as file:
            models = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
        return f"{len(models)} cores of {models[0]}"
    except (OSError, IndexError):
        return platform.machine()


def _duration(value):
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return "" if math.isnan(value) else f"{value / 1e-9:.3g} ns"
