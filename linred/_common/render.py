"""Text of an object, for its `__str__`. Loads `linred.report.text` at run time, because `report` is a higher layer."""

from importlib import import_module


def text(words, *about):
    """Return what the function named `words` in `linred.report.text` returns for these objects."""
    return getattr(import_module("linred.report.text"), words)(*about)
