"""Makers of mechanisms by name, for the tests that try each of them."""

import linred

CLOSED_FORMS = {
    "markov": linred.markov,
    "northwest": linred.non_markov,
    "proportional": lambda joint, *args, **how: linred.non_markov(joint, *args, coupling="proportional", **how),
}
"""Lemma 1, and Proposition 1 by each coupling."""
