"""Optimisation: linear programmes, optimal transport, the interior-point method, balancing.

The solvers take limits and costs; they do not know `Mechanism` or calibration. Only this package calls HiGHS and POT.
"""
