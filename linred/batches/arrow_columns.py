"""The columns of Arrow record batches: their adapters, kinds and bins, and the columns that sampled codes become."""

import numpy as np
import pyarrow as pa

from linred.columns.adapters.arrow_arrays import ArrowColumn, ArrowLabels
from linred.columns.adapters.arrow_buffers import has_dictionary, rebuilt
from linred.errors import FileError


def is_ordered(arrow_type):
    """Return whether a type is a dictionary whose values have an order."""
    return getattr(arrow_type, "ordered", False)


class Replaced(ArrowLabels):
    """Turns sampled codes into one public column. A dictionary is the same in every batch.

    labels: the label of each code; None is a missing value. order: the first labels of the dictionary, in order.
    """

    def __init__(self, name, labels, arrow_type, order=()):
        self.labels, self.order = labels, order
        known = dict.fromkeys(label for label in labels if label is not None)
        distinct = list(dict.fromkeys((*(label for label in order if label in known), *known)))
        is_dictionary = pa.types.is_dictionary(arrow_type)
        value_type = arrow_type.value_type if is_dictionary else arrow_type
        if is_dictionary and len(distinct) > np.iinfo(arrow_type.index_type.to_pandas_dtype()).max:
            raise FileError(
                f"column {name!r} of {arrow_type} cannot hold {len(distinct):,} labels: its indices need a wider type"
            )
        is_refused = False
        try:
            super().__init__(labels, distinct, arrow_type)
            held = self.categories()
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            held, is_refused = [_held(label, value_type) for label in distinct], True
        for label, value in zip(distinct, held, strict=True):
            if label != value:
                place = f"label {labels.index(label)} of the mechanism"
                raise FileError(f"column {name!r} of {value_type} cannot hold {place}: cast it to the type of the fit")
        if is_refused:
            raise FileError(f"column {name!r} of {value_type} cannot be written: cast it to text or numbers")


def _held(label, value_type):
    """Return a label as a value of an Arrow type, or None if the type cannot hold it."""
    try:
        return pa.scalar(label, value_type).as_py()
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return None


def with_replaced(batch, schema, replaced, codes, rebuild_all=False):
    """Return a record batch of a schema's columns, with the public ones made from sampled codes.

    Dictionaries of the other columns hold the values that occur in the batch, or become plain values if the schema has
    plain values for them. rebuild_all: rebuild every other column, for writers that write more than its values.
    """
    columns = []
    for field in schema:
        if field.name in replaced:
            columns.append(replaced[field.name].column(codes))
            continue
        column = batch.column(field.name)
        if rebuild_all or has_dictionary(column.type):
            column = rebuilt(column, decode=column.type != field.type)
        columns.append(column)
    return pa.record_batch(columns, schema=schema)


def with_labels(parts, labels):
    """Yield (column, its labels) for each column of S or X; a label of several columns is a tuple."""
    for place, part in enumerate(parts):
        yield part, labels if len(parts) == 1 else tuple(None if label is None else label[place] for label in labels)


KINDS = {
    "text": (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
    "true or false": (pa.types.is_boolean,),
    "whole numbers": (pa.types.is_integer,),
    "numbers": (pa.types.is_floating,),
    "bytes": (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view),
    "date": (pa.types.is_date,),
    "datetime": (pa.types.is_timestamp,),
    "time": (pa.types.is_time,),
    "Decimal": (pa.types.is_decimal,),
}
"""The types that labels can have, under the names that `labels.kind_of` gives them."""


def kind_of_type(arrow_type):
    """Return the name in `KINDS` of a type or of a dictionary's values; the type's own name if it has none."""
    if pa.types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    return next((kind for kind, tests in KINDS.items() if any(test(arrow_type) for test in tests)), str(arrow_type))


def adapter_in(batch, path, part, start):
    """Return the `ColumnAdapter` of a column of a batch whose first record is number `start` of the table."""
    if part.edges or not hasattr(batch, "text"):
        return ArrowColumn(part.name, binned(path, part, batch.column(part.name), start))
    return batch.text(part.name)


def binned(path, part, column, start=0):
    """Return a column as it is, or its numbers as a dictionary of their bins if the `ColumnSpec` has edges."""
    if not part.edges:
        return column
    try:
        numbers = ArrowColumn(part.name, column).parsed_numbers()
    except pa.ArrowException:  # its text contains the value
        what = f"column {part.name!r}: a value after record {start:,} is not a number, and its bins need numbers"
        raise FileError(f"{path}: {what}") from None
    codes = part.codes(numbers)
    indices = pa.array(codes.astype(np.int32), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(part.bins, pa.string()))
