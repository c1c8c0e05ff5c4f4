"""Objects that cannot be changed once they are made, nor can the arrays that they hold."""

from linred._common.validation import freeze_all


class Immutable:
    """What is known of an object is given when it is made, by `_freeze`, so that figures about it hold while it lives.

    Cached properties still work: they write to the dictionary of the instance.
    """

    def _freeze(self, **attributes):
        self.__dict__.update(attributes)
        freeze_all(self)

    def __setattr__(self, name, value):
        raise AttributeError(f"{name} of a {type(self).__name__} cannot be changed: make another one")

    def __delattr__(self, name):
        raise AttributeError(f"{name} of a {type(self).__name__} cannot be removed")

    def __setstate__(self, state):
        self._freeze(**state)
