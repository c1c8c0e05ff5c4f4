"""Columns that are computed from others: the records of a table as tuples, and numbers as their bins."""

from linred.columns import encoded_column
from linred.columns.adapters.base import ColumnAdapter


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
        return encoded_column.of_columns(self.name, self._keys, [part.encoded(sort) for part in self._parts])

    def decoder(self, labels):
        """Return a function from codes to a table; the decoder of each column checks the labels of that column."""
        n_parts, decoders = len(self._parts), []
        for place, label in enumerate(labels):
            if label is not None and not (isinstance(label, tuple) and len(label) == n_parts):
                what = f"label {place} of the mechanism is not a tuple of {n_parts} values"
                raise ValueError(f"{self.name} is a table of {n_parts} columns, and {what}")
        for place, part in enumerate(self._parts):
            decoders.append(part.decoder(tuple(None if label is None else label[place] for label in labels)))
        return lambda codes: self._table.replaced(
            range(n_parts), {place: decode(codes) for place, decode in enumerate(decoders)}
        )


class BinnedColumn(ColumnAdapter):
    """The bins of another column's numbers. Sampled values are text, in a column of the same kind as the other."""

    def __init__(self, spec, column):
        """spec: `ColumnSpec` with edges. column: `ColumnAdapter`."""
        super().__init__(column.name, column)
        self._bins, self._codes = spec.bins, spec.codes(column.numbers())

    def value_at(self, record):
        code = self._codes[record]
        return None if code < 0 else self._bins[code]

    def encoded(self, sort):
        return encoded_column.of_categories(self.name, self._codes, self._bins)

    def text_column(self, texts):
        return self.column.text_column(texts)
