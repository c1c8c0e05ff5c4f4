"""What holds where P(S, X) is estimated: confidence limits, `certify`, `audit`, `Monitor`, leaks of other columns.

It judges mechanisms; it makes none.
"""
