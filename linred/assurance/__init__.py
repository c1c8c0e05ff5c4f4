"""Guarantees when P(S, X) is estimated: confidence limits, `certify`, `audit`, `Monitor`, leakage of other columns.

This package evaluates mechanisms and does not build them.
"""
