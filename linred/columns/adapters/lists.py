"""Lists, tuples and other sequences of values; dicts of columns."""

from linred.columns.adapters.base import ColumnAdapter, TableAdapter


class ListColumn(ColumnAdapter):
    """A list, a tuple, or a column of an unknown kind, for which the sampled column is a list."""

    def __init__(self, name, column):
        super().__init__(name, column if hasattr(column, "__len__") else list(column))  # an iterator is read once

    def text_column(self, texts):
        return tuple(texts) if isinstance(self.column, tuple) else texts


class DictTable(TableAdapter):
    """A dict of columns of any kinds."""

    def columns(self):
        return list(self.table.items())

    def replaced(self, places, new, keep_metadata=False):
        columns = self.columns()
        return {columns[place][0]: new.get(place, columns[place][1]) for place in places}
