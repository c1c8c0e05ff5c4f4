"""What a distribution reveals about S: the measures, the record of the six figures, targets, local geometry.

Formulas alone: what is sampled, estimated or optimised lies above.
"""
