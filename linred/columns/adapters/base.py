"""The protocol of columns and tables: everything that the library needs from them, whatever their package."""

import math
import re
from abc import ABC, abstractmethod

import numpy as np

from linred._common.validation import type_name
from linred.columns import encoded_column
from linred.columns.alphabet import as_list, as_objects
from linred.columns.missing import is_missing


class ColumnAdapter:
    """Adapts one column of records: reads its values as codes and labels, and turns codes into a column of its kind.

    Subclasses for kinds other than lists define `make_decoder` and `text_column`. All other methods have a general
    form here; a subclass may override them with a faster form that returns the same.

    Contract
    --------
    A value is missing where `missing.is_missing` says so, and its label is None. Labels, their order and the codes in
    an alphabet depend on the values alone: not on how a package stores them, nor on the order of the records. Only a
    categorical with declared categories keeps their order. The column is not changed. Error messages call it `name`,
    and show none of its values.
    """

    are_codes = False  # whether a kernel accepts the column as codes without conversion

    def __init__(self, name, column):
        self.name, self.column = name, column
        self.dtype = getattr(column, "dtype", getattr(column, "type", "objects"))

    def __len__(self):
        return len(self.column)

    @property
    def dtype_name(self):
        """The type of the values for a message, without any values."""
        return str(self.dtype)

    def values(self):
        """Return a list of all values as Python objects."""
        return self.read(as_list, self.column)

    def read(self, convert, *what):
        """Return convert(*what). Errors of other packages contain values, such as text that is not UTF-8."""
        try:
            return convert(*what)
        except Exception:  # each package raises its own
            what = f"{self.name} is a {type_name(self.column)} of {self.dtype_name}"
            raise ValueError(f"{what} with a value that cannot be read: it is damaged, or out of range") from None

    def value_at(self, record):
        """Return the value of one record."""
        value = self.read(self.column.__getitem__, record)
        return value.item() if isinstance(value, np.generic) else value

    def array(self):
        """Return the column as a NumPy array, or None if an array would change its values."""
        return None

    def encoded(self, sort):
        """Return the `EncodedColumn` of the values that occur: sorted, or in any order if `sort` is false."""
        array = self.array()
        if array is None:
            return encoded_column.of_objects(self.name, self.values(), sort)
        return encoded_column.of_array(self.name, array, sort)

    def codes_in(self, encoder):
        """Return the codes of the values in the alphabet of an `Encoder`; other values get the number of its labels."""
        return encoder.recoded(self.encoded(sort=False))

    def numbers(self):
        """Return the values as floats, NaN for missing; a ValueError names the first record without a number."""
        if re.fullmatch(r"u?int\d+|float\d*|double", str(self.dtype).lower()):
            return self.read(self.floats)
        numbers = np.full(len(self), math.nan)
        for record, value in enumerate(self.values()):
            if not is_missing(value):
                try:
                    numbers[record] = value.__float__()
                except (AttributeError, TypeError, ValueError, OverflowError):
                    what = f"a {type_name(value)} that is not a number"
                    raise ValueError(f"{self.name}[{record}] is {what}: bins need a column of numbers") from None
        return numbers

    def floats(self):
        """Return `numbers` for a column with a numeric type."""
        return np.asarray(self.column, dtype=float)

    def decoder(self, labels):
        """Return a function from codes to a column of this kind; the label None becomes a missing value.

        Raises a ValueError if the type of the column cannot hold one of the labels or a missing value, before any code
        is drawn. It names the label by its place, since the texts of other packages' errors contain values.
        """
        try:
            return self.make_decoder(labels)
        except Exception:  # each package raises its own
            what = f"{self.name} is a {type_name(self.column)} of {self.dtype_name}"
            raise ValueError(
                f"{what}, which cannot hold {self._unheld(labels)}: cast it to a type that holds all labels"
            ) from None

    def _unheld(self, labels):
        """What a column of this type cannot hold, for a message."""
        for place, label in enumerate(labels):
            try:
                self.make_decoder((label,))
            except Exception:
                return "missing values" if label is None else f"label {place} of the mechanism"
        return f"the {len(labels):,} labels of the mechanism together"

    def make_decoder(self, labels):
        """Return `decoder` or raise any exception; this form is for kinds that hold all labels as they hold texts."""
        values = as_objects(labels)
        return lambda codes: self.text_column(values[codes].tolist())

    def text_column(self, texts):
        """Return a list of texts as a column of this kind."""
        return texts

    def passing(self):
        """Return the column for publication: its values without anything else that its memory holds.

        A dictionary or a list of categories keeps the values that occur: sorted, or in their own order if they are
        ordered. Values hidden under a mask, or outside a slice, are left out.
        """
        return self.column


def drawn_categories(own, labels, is_ordered):
    """Return the categories of a sanitised column: the labels of the mechanism and no other value of the column.

    Ordered ones keep the order of the column's `own` categories; a ValueError is raised if these lack a label.
    """
    categories = list(dict.fromkeys(label for label in labels if label is not None))
    if not is_ordered:
        return categories
    place = {category: code for code, category in enumerate(own)}
    if not place.keys() >= set(categories):
        raise ValueError("a label of the mechanism is not one of the ordered categories")
    return sorted(categories, key=place.__getitem__)


class TableAdapter(ABC):
    """Adapts a table of columns."""

    index_names = ()  # columns that would be published as part of an index

    def __init__(self, table):
        self.table = table

    @abstractmethod
    def columns(self):
        """Return [(name, column), ...]; names may repeat."""

    @abstractmethod
    def replaced(self, places, new, keep_metadata=False):
        """Return a table of this kind with the columns at some places, replaced by those of {place: column}.

        Unless keep_metadata is true, what the table holds beside its columns and index is left out.
        """

    @property
    def names(self):
        return [name for name, _ in self.columns()]

    def in_memory(self, names):
        """Return a table that can be read and has at least these columns."""
        return self

    def mapped(self, function, needed):
        """Return function(table); for a lazy table, the lazy result.

        The function reads the columns `needed` in addition to those that it returns.
        """
        return function(self.table)
