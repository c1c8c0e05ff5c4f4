"""Compiled from csrc/, one module a family of kernels, each with its stub.

`numpy_twins` says the same in NumPy, for tests and benchmarks; no other room may import it. No decisions are made here.
"""
