"""Mechanisms of every kind that an artifact can hold, and one stored in a file."""

import math

import linred
from linred.design import baselines
from linred.privacy.target import Target
from support import joints

COUNTS = [[90, 10, 0, 5], [20, 60, 9, 5], [12, 30, 40, 0], [30, 4, 70, 6]]
COMPOSITE = linred.Joint.from_counts(COUNTS, [("f", 20), ("f", 40), ("m", 20), ("m", 40)])
"""S has two columns, and two of the pairs (s, x) never occur."""

DISTANCE = [[abs(i - j) for j in range(4)] for i in range(4)]
ALL_LIMITS = {
    "ldp": 0.9, "log_lift": 0.8, "max_lift": 0.6, "min_lift": 0.7, "dp": 0.8, "neighbors": "hamming",
    "pairs": lambda a, b: 0.5 + abs(a[1] - b[1]) / 50, "secrets": {(0,): 0.4}, "given_x": 1.5, "max_changed_by_s": 0.6,
}  # fmt: skip
MADE = {
    "optimal": lambda: linred.optimal(joints.adult(), ldp=1.0),
    "optimal, both targets": lambda: linred.optimal(joints.adult(), ldp=1.0, log_lift=0.5),
    "optimal, without s": lambda: linred.optimal(joints.adult(), ldp=1.0, sees_s=False),
    "optimal, other marginal": lambda: linred.optimal(joints.example_1(), log_lift=0.4, keep_marginal=False),
    "optimal, distortion": lambda: linred.optimal(joints.example_1(), ldp=0.5, distortion=DISTANCE),
    "independent": lambda: linred.optimal(joints.example_1(), ldp=0.0),
    "in whole numbers": lambda: linred.optimal(joints.adult(), ldp=0.0),
    "in whole numbers, shared tables": lambda: linred.non_markov(COMPOSITE, 1.0, prefer="smooth"),
    "in whole numbers, distortion": lambda: linred.optimal(COMPOSITE, ldp=0.0, distortion=DISTANCE),
    "in whole numbers, other marginal": lambda: linred.optimal(COMPOSITE, ldp=0.0, keep_marginal=False),
    "markov": lambda: linred.markov(joints.adult(), 0.5),
    "non_markov": lambda: linred.non_markov(joints.adult(), ldp=1.0),
    "proportional": lambda: linred.non_markov(joints.example_1(), 0.3, coupling="proportional"),
    "nothing done": lambda: linred.non_markov(joints.example_1(), 0.0),
    "selective": lambda: linred.selective(joints.adult(), ldp=1.0),
    "k_rr": lambda: baselines.k_rr(joints.adult(), ldp=1.0),
    "pram": lambda: baselines.pram(joints.adult(), ldp=1.0),
    "watchdog": lambda: baselines.watchdog(joints.adult(), ldp=1.0),
    "from a matrix": lambda: linred.optimal(linred.Joint([[0.3, 0.2, 0.0], [0.1, 0.1, 0.3]]), ldp=1.0),
    "with confidence": lambda: linred.optimal(joints.adult(), ldp=1.0, confidence=0.95),
    "lifts apart": lambda: linred.optimal(COMPOSITE, max_lift=0.3, min_lift=0.8),
    "neighbours and pairs": lambda: linred.optimal(
        COMPOSITE, dp=0.5, neighbors="hamming", pairs={(("f", 20), ("m", 40)): 0.4, (("m", 40), ("f", 20)): 1e-3}
    ),
    "secrets": lambda: linred.optimal(
        COMPOSITE, ldp=0.9, secrets={(0,): 0.3, (1, 0): math.inf, lambda s: s[1] > 30: 0.4}
    ),
    "each secret": lambda: linred.optimal(COMPOSITE, ldp=0.4, secrets="each"),
    "given x": lambda: linred.optimal(COMPOSITE, ldp=0.7, given_x=1.0),
    "all limits": lambda: linred.optimal(COMPOSITE, **ALL_LIMITS),
    "by utility": lambda: linred.optimal(COMPOSITE, max_changed=0.1),
    "no limit": lambda: linred.optimal(COMPOSITE, target=Target()),
    "neighbours of Lemma 1": lambda: linred.markov(COMPOSITE, dp=0.5, neighbors="hamming"),
    "symbols of no probability": lambda: linred.non_markov(
        linred.Joint.from_counts([[3, 0, 1], [0, 0, 0], [1, 0, 5]]), 0.5
    ),
}


def stored(mechanism, tmp_path):
    tmp_path.mkdir(exist_ok=True)
    path = tmp_path / "mechanism.json"
    mechanism.save(path)
    return path
