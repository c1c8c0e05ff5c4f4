"""All exceptions and warnings of linred."""

from __future__ import annotations

from typing import Any


class UnseenError(ValueError):
    """A record has a value outside the mechanism's alphabet.

    `name` is the column, such as "s" or "x", `record` the record's number and `value` the value. The message does not
    contain the value, and pickling drops it, so neither carries it into a log. `advice` is what the message says to do.
    """

    def __init__(self, name: str, record: int, value: Any = None, advice: str | None = None) -> None:
        self.name, self.record, self.value = name, record, value
        self.advice = advice or (
            f"fit again, declare the value in {name}_labels=, or choose "
            "unseen='marginal' (draw from P_Y) or unseen='null' (a missing value)"
        )
        super().__init__(f"{name}[{record}] is not in the mechanism's alphabet: {self.advice}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.record, None, self.advice), {"args": self.args}


class ArtifactError(ValueError):
    """A file is not an artifact, is damaged or changed, or was written by a later version of linred."""


class FileError(ValueError):
    """A file cannot be read, parsed or written. The message is one line that names the file and says what to do."""


class CannotMeetError(ValueError):
    """No mechanism of this kind meets the target once its probabilities are rounded to the sampled integers."""


class NotFittedError(ValueError, AttributeError):
    """A `Sanitizer` was used before it was fitted. Same bases as scikit-learn's exception of this name."""


class DriftWarning(UserWarning):
    """The stream no longer comes from the distribution that the mechanism was fitted on; see `Monitor`."""


class DriftError(ValueError):
    """The stream has drifted, and the `Monitor` was created with on_drift="error"."""


class NotOptimalWarning(UserWarning):
    """The solver stopped before it found the optimum, usually at its time limit. The result still meets its target."""
