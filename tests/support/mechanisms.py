"""Functions that make mechanisms, by name, for tests that try all of them."""

import linred

CLOSED_FORMS = {
    "markov": linred.markov,
    "northwest": linred.non_markov,
    "proportional": lambda joint, *args, **how: linred.non_markov(joint, *args, coupling="proportional", **how),
}
"""Lemma 1, and Proposition 1 by each coupling."""
MAKERS = {
    "non_markov": lambda joint: linred.non_markov(joint, ldp=0.7),
    "markov": lambda joint: linred.markov(joint, 0.4),
    "optimal": lambda joint: linred.optimal(joint, ldp=0.7),
    "identity": lambda joint: linred.markov(joint, 0.0),
}
"""One of each kind, with a target or an alpha, and one that changes nothing."""
