"""The columns of record batches: as adapters, their kinds, their bins; and those that codes that were drawn become."""

import numpy as np
import pyarrow as pa

from linred.columns.adapters.arrow_arrays import ArrowColumn, ArrowLabels
from linred.errors import FileError


def is_ordered(arrow_type):
    """Whether it is a dictionary whose values have an order."""
    return getattr(arrow_type, "ordered", False)


class Replaced(ArrowLabels):
    """One public column by a dictionary that is the same in every batch. `labels` are by code; None is missing.

    order: of the labels in the dictionary; those that it does not name come after.
    """

    def __init__(self, name, labels, arrow_type, order=()):
        self.labels, self.order = labels, order
        known = dict.fromkeys(label for label in labels if label is not None)
        distinct = list(dict.fromkeys((*(label for label in order if label in known), *known)))
        is_dictionary = pa.types.is_dictionary(arrow_type)
        value_type = arrow_type.value_type if is_dictionary else arrow_type
        if is_dictionary and len(distinct) > np.iinfo(arrow_type.index_type.to_pandas_dtype()).max:
            raise FileError(f"column {name!r} of {arrow_type} has no room for {len(distinct):,} labels")
        try:
            super().__init__(labels, distinct, arrow_type)
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            raise FileError(f"column {name!r} of {value_type} has no room for every label: {error}") from None
        for label, value in zip(distinct, self.categories(), strict=True):
            if label != value:
                raise FileError(f"column {name!r} of {value_type}: the label {label!r} would become {value!r}")


def with_replaced(batch, schema, replaced, codes):
    """A record batch of a schema's columns, those that were drawn by their codes."""
    columns = [
        replaced[field.name].column(codes) if field.name in replaced else batch.column(field.name) for field in schema
    ]
    return pa.record_batch(columns, schema=schema)


def with_labels(parts, labels):
    """(a column, its labels) for each column of S or X; where these are several, a label is a tuple."""
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
"""The types that labels can have, in the words of `labels.kind_of`."""


def kind_of_type(arrow_type):
    """Which of `KINDS` a type is, or one whose values it encodes; its own name where it is none."""
    if pa.types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    return next((kind for kind, tests in KINDS.items() if any(test(arrow_type) for test in tests)), str(arrow_type))


def adapter_in(batch, path, part, start):
    """The `ColumnAdapter` of a column of a batch whose first record is number `start` of the table."""
    if part.edges or not hasattr(batch, "text"):
        return ArrowColumn(part.name, binned(path, part, batch.column(part.name), start))
    return batch.text(part.name)


def binned(path, part, column, start=0):
    """A column as it is, or its numbers as a dictionary of their bins."""
    if not part.edges:
        return column
    try:
        numbers = ArrowColumn(part.name, column).parsed_numbers()
    except pa.ArrowException as error:
        raise FileError(f"{path}: {part.name!r} is to be sorted into bins, after record {start:,}: {error}") from None
    codes = part.codes(numbers)
    indices = pa.array(codes.astype(np.int32), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(part.bins, pa.string()))
