"""Optimisation: linear programmes, transport, the interior-point method, balancing.

It knows limits and costs, not who asks for them: no `Mechanism`, no calibration. The only room that calls SciPy's HiGHS
and POT.
"""
