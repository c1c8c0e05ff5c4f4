"""The protocol of columns and of tables: all that the library asks of them, whatever package they are of."""

import math
import re
from abc import ABC, abstractmethod

import numpy as np

from linred._common import validation
from linred.columns import encoded_column
from linred.columns.alphabet import as_list, as_objects
from linred.columns.missing import is_missing


class ColumnAdapter:
    """One column of records in order: its values as codes and labels, and codes as a column of the same kind.

    A kind that is no list has its own `make_decoder` and `text_column`. All else has a general form here, in place of
    which a kind may have a faster one that gives the same.

    Contract
    --------
    A value is missing where `missing.is_missing` says so, and its label is None. Labels, their order and the codes in
    an alphabet depend on the values alone: not on how a package stores them, nor on the order of the records; only a
    categorical whose categories were declared keeps their order. The column is not changed. Errors call it `name`.
    """

    are_codes = False  # whether a kernel takes the column for codes as it is

    def __init__(self, name, column):
        self.name, self.column = name, column
        self.dtype = getattr(column, "dtype", getattr(column, "type", "objects"))

    def __len__(self):
        return len(self.column)

    def values(self):
        """A list of all values, as Python has them."""
        return as_list(self.column)

    def value_at(self, record):
        """One value, for an error that names it."""
        value = self.column[record]
        return value.item() if isinstance(value, np.generic) else value

    def array(self):
        """The NumPy form of the column; None where there is none that keeps its values."""
        return None

    def encoded(self, sort):
        """`EncodedColumn` of the values that occur, sorted, or in any order where theirs will be declared."""
        array = self.array()
        if array is None:
            return encoded_column.of_objects(self.name, self.values(), sort)
        return encoded_column.of_array(self.name, array, sort)

    def codes_in(self, encoder):
        """Codes by the place of each value in the alphabet of an `Encoder`, the number of its labels for any other."""
        return encoder.recoded(self.encoded(sort=False))

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

    def make_decoder(self, labels):
        """`decoder`, with any exception where there is no room; of a kind that takes all labels as it takes texts."""
        values = as_objects(labels)
        return lambda codes: self.text_column(values[codes].tolist())

    def text_column(self, texts):
        """A list of texts as a column of this kind."""
        return texts


class TableAdapter(ABC):
    """A table of columns, of one package."""

    index_names = ()  # of columns that would be published with an index

    def __init__(self, table):
        self.table = table

    @abstractmethod
    def columns(self):
        """[(name, column), ...], of which names may repeat."""

    @abstractmethod
    def replaced(self, places, drawn):
        """A table of this kind: its columns at some places, or {place: column} in their stead."""

    @property
    def names(self):
        return [name for name, _ in self.columns()]

    def in_memory(self, names):
        """A table with at least these columns that can be read."""
        return self

    def mapped(self, function, needed):
        """function(table), which reads the columns that are `needed` beside those that it returns; of a lazy table, the
        lazy one of it."""
        return function(self.table)
