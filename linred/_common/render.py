"""Text of an object, for its `__str__`. Loads `linred.report.text` at run time, because `report` is a higher layer."""

from importlib import import_module


def text(words, *about):
    """Return what the function named `words` in `linred.report.text` returns for these objects."""
    return getattr(import_module("linred.report.text"), words)(*about)


class Printed:
    """Base class of objects that print as the text of the function of `linred.report.text` that `words` names."""

    words = ""

    def __str__(self):
        return text(self.words, self)

    def __repr__(self):
        return str(self)
