"""The protocol of columns and tables: all that the library asks of them, whatever package they are of."""

import math
import re
from abc import ABC, abstractmethod

import numpy as np

from linred._common import validation
from linred.columns import encoded
from linred.columns.alphabet import is_missing


class ColumnAdapter(ABC):
    """One column of records in order: its values as codes and labels, and codes as a column of the same kind.

    A kind has `values`, `value_at` and `make_decoder`. All else has a general form here, in place of which a kind may
    have a faster one that gives the same.

    Contract
    --------
    A value is missing where `alphabet.is_missing` says so, and its label is None. Labels, their order and the codes in
    an alphabet depend on the values alone: not on how a package stores them, nor on the order of the records; only a
    categorical whose categories were declared keeps their order. The column is not changed. Errors call it `name`.
    """

    dtype, are_codes = "objects", False
    """What a message calls its type; whether a kernel takes the column for codes as it is."""

    def __init__(self, name, column):
        self.name, self.column = name, column

    def __len__(self):
        return len(self.column)

    @abstractmethod
    def values(self):
        """A list of all values, as Python has them."""

    @abstractmethod
    def value_at(self, record):
        """One value, for an error that names it."""

    def array(self):
        """The NumPy form of the column; None where there is none that keeps its values."""
        return None

    def encoded(self, sort):
        """`EncodedColumn` of the values that occur, sorted, or in any order where theirs will be declared."""
        array = self.array()
        if array is None:
            return encoded.of_objects(self.name, self.values(), sort)
        return encoded.of_array(self.name, array, sort)

    def codes_in(self, encoder):
        """Codes by the place of each value in the alphabet of an `Encoder`, the number of its labels for any other."""
        return encoder.recoded(self.encoded(sort=False))

    def missing(self):
        """The mask of the records without a value."""
        return np.fromiter(map(is_missing, self.values()), bool, len(self))

    def numbers(self):
        """The values as floats, NaN for missing; a ValueError names one that is no number."""
        if re.fullmatch(r"u?int\d+|float\d*|double", str(self.dtype).lower()):
            return self.floats()
        numbers = np.full(len(self), math.nan)
        for record, value in enumerate(self.values()):
            if not is_missing(value):
                if not hasattr(value, "__float__"):
                    shown = validation.shortened(value)
                    raise ValueError(f"{self.name}[{record}] = {shown} is not a number, to be in a bin")
                numbers[record] = value
        return numbers

    def floats(self):
        """`numbers` of a column whose type is one of numbers."""
        return np.asarray(self.column, dtype=float)

    def decoder(self, labels):
        """A function from codes to a column of this kind, None among the labels being a missing value.

        A ValueError where it has no room for one of the labels, or for missing values: here, before a code is drawn.
        """
        try:
            return self.make_decoder(labels)
        except Exception as error:  # each package has its own
            kind, detail = f"{type(self.column).__name__} of {self.dtype}", str(error).partition("\n")[0]
            raise ValueError(
                f"{self.name} is a {kind}, which has no room for every label of the mechanism: {detail}"
            ) from error

    @abstractmethod
    def make_decoder(self, labels):
        """`decoder`, with any exception where there is no room."""

    def text_column(self, texts):
        """A list of texts as a column of this kind."""
        return texts


def check_kept(labels, values):
    """That a column's values are the labels that were put into it, not what is left of them."""
    for label, value in zip(labels, values, strict=True):
        if label is not None and (value is None or label != value):
            raise ValueError(f"{label!r} would become {value!r}")


class CompositeColumn(ColumnAdapter):
    """A table as one column, whose values are the tuples of its records."""

    def __init__(self, name, table, parts):
        """table: `TableAdapter`. parts: (key, `ColumnAdapter`) of each of its columns."""
        super().__init__(name, table.table)
        self._table, (self._keys, self._parts) = table, zip(*parts, strict=True)

    def __len__(self):
        return len(self._parts[0])

    def values(self):
        return list(zip(*(part.values() for part in self._parts), strict=True))

    def value_at(self, record):
        return tuple(part.value_at(record) for part in self._parts)

    def encoded(self, sort):
        return encoded.of_columns(self.name, self._keys, [part.encoded(sort) for part in self._parts])

    def decoder(self, labels):
        return self.make_decoder(labels)  # a part says itself that it has no room

    def make_decoder(self, labels):
        n_parts = len(self._parts)
        for label in labels:
            if label is not None and not (isinstance(label, tuple) and len(label) == n_parts):
                raise ValueError(
                    f"{self.name} is a table of {n_parts} columns, and {label!r} is a label of the mechanism"
                )
        of_parts = ([None if label is None else label[place] for label in labels] for place in range(n_parts))
        decoders = [part.decoder(tuple(own)) for part, own in zip(self._parts, of_parts, strict=True)]
        return lambda codes: self._table.of_columns([decode(codes) for decode in decoders])


class TableAdapter(ABC):
    """A table of columns, of one package: its columns, and such a table of others."""

    def __init__(self, table):
        self.table = table

    @abstractmethod
    def columns(self):
        """[(name, column), ...], of which names may repeat."""

    @abstractmethod
    def of_columns(self, columns):
        """A table of this kind: columns in place of its own, under the same names."""


class FrameAdapter(TableAdapter):
    """A table whose columns have names and types of their own: what `sanitize_frame` takes."""

    index_names = ()
    """The columns that are in an index: they would be published with it."""

    def checked_columns(self):
        """`columns`, of which there are some, all as long as the first."""
        columns = self.columns()
        if not columns:
            raise ValueError("frame is a table without columns")
        return columns

    @property
    def names(self):
        return [name for name, _ in self.checked_columns()]

    @abstractmethod
    def replaced(self, places, drawn):
        """The frame of its columns at some places, with {name: column} in place of their namesakes."""

    def in_memory(self, names):
        """A frame with at least these columns that can be read."""
        return self

    def mapped(self, function, needed):
        """function(frame), which reads the columns that are `needed` beside those that it returns; of a lazy frame, the
        lazy one of it."""
        return function(self.table)
