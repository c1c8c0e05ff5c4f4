"""P(S, X): `Joint`, from codes, counts or probabilities, and its linear reduction.

What a distribution reveals about S is measured in `linred.privacy`, not here.
"""
