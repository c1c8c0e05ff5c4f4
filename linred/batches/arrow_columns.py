"""Codes that were drawn, as Arrow columns in the place of those that they were drawn for."""

import numpy as np

from linred.errors import FileError
from linred.io.pipes import pyarrow


class Replaced:
    """One public column by a dictionary that is the same in every batch. `labels` are by code; None is missing.

    order: of the labels in the dictionary; those that it does not name come after.
    """

    def __init__(self, name, labels, arrow_type, order=()):
        pa = pyarrow()
        self.name, self.labels, self.order, self._type = name, labels, order, arrow_type
        known = dict.fromkeys(label for label in labels if label is not None)
        distinct = list(dict.fromkeys((*(label for label in order if label in known), *known)))
        place = {label: code for code, label in enumerate(distinct)}
        self._is_dictionary = pa.types.is_dictionary(arrow_type)
        value_type = arrow_type.value_type if self._is_dictionary else arrow_type
        dtype = arrow_type.index_type.to_pandas_dtype() if self._is_dictionary else np.int32
        if len(distinct) > np.iinfo(dtype).max:
            raise FileError(f"column {name!r} of {arrow_type} has no room for {len(distinct):,} labels")
        self._values = _values(name, distinct, value_type)
        self._place = np.array([len(distinct) if label is None else place[label] for label in labels], dtype)
        self._is_code = bool((self._place == np.arange(self._place.size)).all())

    def column(self, codes):
        pa = pyarrow()
        indices = codes if self._is_code and codes.dtype == self._place.dtype else self._place.take(codes)
        if not self._is_dictionary:
            return self._values.take(pa.array(indices))
        missing = len(self._values) - 1
        indices = pa.array(indices, mask=indices == missing if indices.max(initial=0) == missing else None)
        return pa.DictionaryArray.from_arrays(indices, self._values[:-1], ordered=self._type.ordered, safe=False)


def _values(name, distinct, value_type):
    """The labels as an Arrow array, and a missing value after them."""
    pa = pyarrow()
    try:
        values = pa.array([*distinct, None], value_type)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise FileError(f"column {name!r} of {value_type} has no room for every label: {error}") from None
    for label, value in zip(distinct, values.to_pylist(), strict=False):
        if label != value:
            raise FileError(f"column {name!r} of {value_type}: the label {label!r} would become {value!r}")
    return values


def with_replaced(batch, schema, replaced, codes):
    """A record batch of a schema's columns, those that were drawn by their codes."""
    columns = [
        replaced[field.name].column(codes) if field.name in replaced else batch.column(field.name) for field in schema
    ]
    return pyarrow().record_batch(columns, schema=schema)
