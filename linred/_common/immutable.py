"""`Immutable`, the base class of objects whose attributes and arrays cannot be changed."""

from linred._common.validation import freeze_all


class Immutable:
    """Base class of immutable objects. `_freeze` sets all attributes once and makes their arrays read-only.

    Figures computed from an object therefore stay valid. Cached properties work: they write to the instance dictionary.
    """

    def _freeze(self, **attributes):
        self.__dict__.update(attributes)
        freeze_all(self)

    def __setattr__(self, name, value):
        raise AttributeError(f"{name} of a {type(self).__name__} cannot be changed: create another one")

    def __delattr__(self, name):
        raise AttributeError(f"{name} of a {type(self).__name__} cannot be removed")

    def __setstate__(self, state):
        self._freeze(**state)
