"""Converts columns of any kind to integer codes and labels, and back.

This package decides which values are missing, orders alphabets, and rebuilds columns in their original type. It must
not handle probabilities or files. Only the adapter for a data-frame package may import that package.
"""
