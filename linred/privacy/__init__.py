"""Privacy: measures of what a distribution reveals about S, the record `Leakage`, `Target`, local geometry.

This package contains formulas only. Sampling, estimation and optimisation are in higher packages.
"""
