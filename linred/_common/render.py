"""How an object prints itself: the words are in `linred.report`, which lies above all others and is found by name."""

from importlib import import_module


def text(words, *about):
    """What the function `words` of `linred.report.text` says about an object."""
    return getattr(import_module("linred.report.text"), words)(*about)
