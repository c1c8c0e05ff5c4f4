"""Prints the README's table of changed records for three pairs of columns: `make figures`."""

import linred
from benchmarks.data import TABLES, counts
from linred.design.registry import KINDS

NAMES = ("markov", "k_rr", "pram", "optimal_markov", "non_markov", "selective", "optimal")
TARGETS = (0.5, 1.0, 2.0)


def rows():
    """Yield (columns, target, share of changed records in percent for each mechanism)."""
    for title, name in TABLES.items():
        curves = linred.tradeoff(counts(name), ldp=TARGETS, mechanisms=NAMES)
        for i, target in enumerate(TARGETS):
            yield title, target, [100.0 * curves[label]["dtv"][i] for label in NAMES]


def table():
    lines = [f"| S, X | LDP | {' | '.join(KINDS[name].label for name in NAMES)} |", f"|---|---:|{'---:|' * len(NAMES)}"]
    for title, target, shares in rows():
        lines.append(f"| {title} | {target:g} | {' | '.join(percent(share) for share in shares)} |")
    return "\n".join(lines)


def percent(share):
    return f"{share:.1f} %" if share >= 1.0 else f"{share:.2f} %"


if __name__ == "__main__":
    print(table())
