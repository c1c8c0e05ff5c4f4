"""Lists, tuples and anything else with values one after the other; dicts of columns."""

import numpy as np

from linred.columns.adapters.base import ColumnAdapter, FrameAdapter
from linred.columns.alphabet import as_list, as_objects


class ListColumn(ColumnAdapter):
    """A list, a tuple, or a column of a kind that is not known: what is drawn for that is a list."""

    def values(self):
        return as_list(self.column)

    def value_at(self, record):
        value = self.column[record]
        return value.item() if isinstance(value, np.generic) else value

    def make_decoder(self, labels):
        values, kind = as_objects(labels), tuple if isinstance(self.column, tuple) else list
        return lambda codes: kind(values[codes].tolist())

    def text_column(self, texts):
        return tuple(texts) if isinstance(self.column, tuple) else texts


class DictFrame(FrameAdapter):
    """A dict of columns, of any kinds."""

    def columns(self):
        return list(self.table.items())

    def checked_columns(self):
        columns = super().checked_columns()
        for name, column in columns:
            if not hasattr(column, "__len__"):
                raise ValueError(f"column {name!r} is a {type(column).__name__}, not a column of records in order")
            n_first = len(columns[0][1])
            if len(column) != n_first:
                raise ValueError(f"column {name!r} has {len(column)} records, and the first column {n_first}")
        return columns

    def of_columns(self, columns):
        return dict(zip(self.table, columns, strict=True))

    def replaced(self, places, drawn):
        columns = self.columns()
        return {name: drawn.get(name, column) for name, column in (columns[place] for place in places)}
