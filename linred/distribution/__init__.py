"""The distribution P(S, X): `Joint`, its linear reduction, and tallies of counts that grow batch by batch.

Measures of what a distribution reveals about S are in `linred.privacy`.
"""
