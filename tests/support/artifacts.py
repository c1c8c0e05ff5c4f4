"""Mechanisms of every kind that an artifact can hold, and one stored in a file."""

import math

import linred
from linred.design import baselines, fit
from linred.privacy.target import Target
from support import joints

DISTANCE = [[abs(i - j) for j in range(4)] for i in range(4)]
MADE = {
    "optimal": lambda: linred.optimal(joints.adult(), ldp=1.0),
    "optimal, both targets": lambda: linred.optimal(joints.adult(), ldp=1.0, log_lift=0.5),
    "optimal, without s": lambda: linred.optimal(joints.adult(), ldp=1.0, sees_s=False),
    "optimal, other marginal": lambda: linred.optimal(joints.example_1(), log_lift=0.4, keep_marginal=False),
    "optimal, distortion": lambda: linred.optimal(joints.example_1(), ldp=0.5, distortion=DISTANCE),
    "independent": lambda: linred.optimal(joints.adult(), ldp=0.0),
    "markov": lambda: linred.markov(joints.adult(), 0.5),
    "non_markov": lambda: linred.non_markov(joints.adult(), ldp=1.0),
    "proportional": lambda: linred.non_markov(joints.example_1(), 0.3, coupling="proportional"),
    "nothing done": lambda: linred.non_markov(joints.example_1(), 0.0),
    "selective": lambda: linred.selective(joints.adult(), ldp=1.0),
    "k_rr": lambda: baselines.k_rr(joints.adult(), ldp=1.0),
    "pram": lambda: baselines.pram(joints.adult(), ldp=1.0),
    "watchdog": lambda: baselines.watchdog(joints.adult(), ldp=1.0),
    "from a matrix": lambda: linred.optimal(linred.Joint([[0.3, 0.2, 0.0], [0.1, 0.1, 0.3]]), ldp=1.0),
    "with confidence": lambda: fit.with_confidence(joints.adult(), Target(1.0, math.inf), 0.95),
    "symbols of no probability": lambda: linred.non_markov(
        linred.Joint.from_counts([[3, 0, 1], [0, 0, 0], [1, 0, 5]]), 0.5
    ),
}


def stored(mechanism, tmp_path):
    path = tmp_path / "mechanism.json"
    mechanism.save(path)
    return path
