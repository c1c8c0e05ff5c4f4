"""The exceptions and warnings of linred, all of them."""


class UnseenError(ValueError):
    """A value outside the mechanism's alphabet: which column, "s" or "x", which record, what value."""

    def __init__(self, name, record, value):
        self.name, self.record, self.value = name, record, value
        super().__init__(
            f"{name}[{record}] = {value!r} is not in the mechanism's alphabet: unseen= says what to do then"
        )


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
