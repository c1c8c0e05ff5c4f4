"""Optimisation: linear programmes, transport, the interior-point method, balancing.

The solvers take limits and costs, and know neither `Mechanism` nor calibration. Only this package calls HiGHS and POT.
"""
