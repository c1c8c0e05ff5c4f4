"""Modules compiled from csrc/, one for each family of kernels, each with a stub.

`numpy_twins` has reference implementations in NumPy; only tests and benchmarks may import it.
"""
