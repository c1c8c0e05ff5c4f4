"""A mechanism P(y|s,x): how it is stored, summarised, saved and loaded.

What makes one is in `linred.design`; what people read about one is in `linred.report`.
"""
