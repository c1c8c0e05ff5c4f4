"""A mechanism P(y|s,x): how it is stored, summarised, saved and loaded.

Functions that build mechanisms are in `linred.design`; reports about them are in `linred.report`.
"""
