"""Turns values into codes: `Encoder` for a known alphabet, `encode` also for an alphabet taken from the column."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linred._kernels import recoding
from linred.columns.adapters.kinds import adapter_of
from linred.columns.alphabet import check_labels
from linred.columns.encoded_column import EncodedColumn, narrow

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linred._common.types import Column


class Encoder:
    """Encodes columns by the place of each value in an alphabet; the code of any other value is the number of labels.

    One encoder serves every column, batch and file. `labels` must have passed `check_labels`.

    >>> Encoder(("a", "b", None)).codes("x", ["b", "c", float("nan"), "a"]).tolist()
    [1, 3, 2, 0]
    """

    def __init__(self, labels: tuple[Any, ...]) -> None:
        self.labels, self.is_range = labels, labels == tuple(range(len(labels)))

    @cached_property
    def with_missing(self) -> Encoder:
        """The encoder for the labels of this alphabet followed by None, for missing values."""
        return Encoder((*self.labels, None))

    @cached_property
    def _place(self):
        return {label: place for place, label in enumerate(self.labels)}

    def codes(self, name: str, column: Column) -> NDArray[Any]:
        """Return the codes of a column, a table of columns or an adapter; errors call it `name`."""
        return adapter_of(name, column).codes_in(self)

    def recoding_table(self, values: Any) -> NDArray[Any]:
        """Return the codes of a few values (None for missing), as a table for `recoding.recode`."""
        n_labels = len(self.labels)
        return narrow(np.array([self._place.get(value, n_labels) for value in values], np.int64), n_labels + 1)

    def recoded(self, column: EncodedColumn) -> NDArray[Any]:
        """Return the codes of an `EncodedColumn` in this alphabet."""
        if self.labels[: len(column.labels)] == column.labels:
            return column.codes
        return recoding.recode(column.codes, self.recoding_table(column.labels))

    def first_unknown(self, codes: NDArray[Any]) -> int | None:
        """Return the number of the first record whose value is not a label, or None."""
        n_labels = len(self.labels)
        return None if codes.max(initial=0) < n_labels else int(np.argmax(codes == n_labels))


def encode(name, column, labels=None):
    """Return a column or a table of columns as `EncodedColumn`, over declared labels or over its sorted values.

    If labels are declared, any other value is a ValueError. A column of integers with the labels 0, 1, 2, ... is used
    as it is, unchecked, because every kernel that reads codes checks their range.
    """
    if labels is None:
        return adapter_of(name, column).encoded(sort=True)
    encoder, adapter = Encoder(check_labels(f"{name}_labels", labels)), adapter_of(name, column)
    if encoder.is_range and adapter.are_codes:
        return EncodedColumn(column, encoder.labels)
    codes = adapter.codes_in(encoder)
    record = encoder.first_unknown(codes)
    if record is not None:
        raise ValueError(f"{name}[{record}] is not in {name}_labels=, which must list every value of the column")
    return EncodedColumn(codes, encoder.labels)
