"""P(S, X): `Joint`, from codes, counts or probabilities, its linear reduction, and tallies that grow batch by batch.

Measures of what a distribution reveals about S are in `linred.privacy`.
"""
