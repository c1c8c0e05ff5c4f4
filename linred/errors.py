"""The exceptions and warnings of linred, all of them."""


class UnseenError(ValueError):
    """A record has a value outside the mechanism's alphabet.

    `name` is the column ("s" or "x"), `record` the record's number and `value` the value. The message does not hold the
    value, and pickling drops it, so neither carries it into a log.
    """

    def __init__(self, name, record, value=None):
        self.name, self.record, self.value = name, record, value
        super().__init__(
            f"{name}[{record}] is not in the mechanism's alphabet: fit again, declare it by {name}_labels=, or choose "
            "unseen='marginal' (draw from P_Y) or unseen='null' (a missing value)"
        )

    def __reduce__(self):
        return type(self), (self.name, self.record)


class ArtifactError(ValueError):
    """A file that is not an artifact, or was changed, cut off, or written by a later version."""


class FileError(ValueError):
    """A file that cannot be read, written or understood: one line that names it and says what to do."""


class CannotMeetError(ValueError):
    """A target that a mechanism of this kind cannot meet as it is sampled."""


class NotFittedError(ValueError, AttributeError):
    """A `Sanitizer` is asked for what it knows once it was fitted; as scikit-learn's error of this name."""


class DriftWarning(UserWarning):
    """The stream no longer comes from the distribution that the mechanism was fitted on."""


class DriftError(ValueError):
    """The same, where the `Monitor` was made with on_drift="error"."""


class NotOptimalWarning(UserWarning):
    """The optimum was not found, for want of time mostly. What is returned meets its target all the same."""
