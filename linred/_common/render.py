"""Text of an object, for its `__str__`. Loads `linred.report.text` at run time, because `report` is a higher layer."""

from __future__ import annotations

from importlib import import_module
from typing import ClassVar


def text(words, *about):
    """Return what the function named `words` in `linred.report.text` returns for these objects."""
    return getattr(import_module("linred.report.text"), words)(*about)


class Printed:
    """Base class of objects whose text comes from the function of `linred.report.text` that `words` names."""

    words: ClassVar[str] = ""

    def __str__(self) -> str:
        return text(self.words, self)

    def __repr__(self) -> str:
        return str(self)
