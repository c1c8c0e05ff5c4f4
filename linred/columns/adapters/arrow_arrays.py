"""Array, ChunkedArray, RecordBatch and Table of pyarrow, and columns of any package with Arrow's PyCapsule interface.

An object of pyarrow exists only once the package is imported, so `sys.modules` has it.
"""

import sys
from importlib.util import find_spec

import numpy as np

from linred._common.validation import type_name
from linred._kernels import recoding
from linred.columns import encoded_column
from linred.columns.adapters.arrow_buffers import rebuilt
from linred.columns.adapters.base import ColumnAdapter, TableAdapter, drawn_categories
from linred.columns.alphabet import check_kept, in_order
from linred.columns.missing import is_missing


class ArrowColumn(ColumnAdapter):
    """A plain or dictionary array, or chunks of one.

    An ordered dictionary declares the alphabet. Any other dictionary is only an encoding, and the alphabet is the
    sorted values that occur.
    """

    @property
    def is_dictionary(self):
        return isinstance(self.dtype, sys.modules["pyarrow"].DictionaryType)

    @property
    def is_ordered(self):
        return self.is_dictionary and self.dtype.ordered

    def values(self):
        return self.read(self.column.to_pylist)

    def value_at(self, record):
        return self.read(lambda: self.column[record].as_py())

    def array(self):
        is_plain = str(self.dtype).lstrip("u") in ("int8", "int16", "int32", "int64") and not self.column.null_count
        return np.asarray(self.column) if is_plain else None

    def dictionary(self):
        """Return the `EncodedColumn` by the column's own dictionary.

        Its labels may include values that do not occur, and None more than once.
        """
        column = self.column
        if not self.is_dictionary:
            try:
                column = column.dictionary_encode()
            except NotImplementedError:
                what = f"an Arrow column of {self.dtype}, whose values cannot be labels: cast it to text or numbers"
                raise ValueError(f"{self.name} is {what}") from None
        if isinstance(column, sys.modules["pyarrow"].ChunkedArray):  # each chunk may have its own dictionary
            column = column.unify_dictionaries().combine_chunks()
        indices, categories = column.indices, self.read(column.dictionary.to_pylist)
        if indices.null_count:
            indices = indices.cast("int64").fill_null(len(categories))
        labels = (*(None if is_missing(one) else one for one in categories), None)
        return encoded_column.EncodedColumn(np.asarray(indices), labels)

    def encoded(self, sort):
        codes, labels, _ = self.dictionary()
        if self.is_ordered:
            alphabet = tuple(dict.fromkeys(label for label in labels if label is not None))
        else:
            occurring = np.flatnonzero(np.bincount(codes))
            alphabet = in_order(self.name, {labels[code] for code in occurring.tolist()}, sort)
        place = {label: code for code, label in enumerate(alphabet)}
        recode = np.array([place.get(label, -1) for label in labels])
        return encoded_column.of_categories(self.name, recode[codes], alphabet)

    def codes_in(self, encoder):
        codes, labels, _ = self.dictionary()
        return recoding.recode(codes, encoder.recoding_table(labels))

    def among(self, values):
        """Return the place of each value among some values of this column; other values get their number."""
        from pyarrow import array, compute

        value_type = self.dtype.value_type if self.is_dictionary else self.dtype
        found = compute.index_in(self.column.cast(value_type), array(values, value_type))
        return np.asarray(found.fill_null(len(values)))

    def missing(self):
        """Return the mask of the records with a missing value, by `missing.is_missing`."""
        if self.is_dictionary:
            codes, labels, _ = self.dictionary()
            return np.array([label is None for label in labels])[codes]
        return np.asarray(self.column.is_null(nan_is_null=True))

    def parsed_numbers(self):
        """Return `numbers`, also of text; raises an exception of pyarrow if a value is not a number."""
        return np.asarray(self.column.cast("float64").fill_null(np.nan))

    def take(self, mask):
        """Return the column of the records where a mask is true."""
        return ArrowColumn(self.name, self.column.filter(sys.modules["pyarrow"].array(mask)))

    def make_decoder(self, labels):
        pyarrow, categories = sys.modules["pyarrow"], self._categories(labels)
        labelled = ArrowLabels(labels, categories, self.dtype)
        check_kept(categories, labelled.categories())
        if not isinstance(self.column, pyarrow.ChunkedArray):
            return labelled.column
        ends = np.cumsum([len(chunk) for chunk in self.column.chunks], dtype=np.intp)
        return lambda codes: pyarrow.chunked_array(
            [labelled.column(of_chunk) for of_chunk in np.split(codes, ends)[:-1]], self.dtype
        )

    def _categories(self, labels):
        """Return the dictionary of the sampled column, the same for all chunks."""
        categories = drawn_categories(self.dictionary().labels if self.is_ordered else (), labels, self.is_ordered)
        if self.is_dictionary and len(categories) > np.iinfo(self.dtype.index_type.to_pandas_dtype()).max + 1:
            raise ValueError("too many labels for the type of the indices")
        return categories

    def passing(self):
        return rebuilt(self.column)

    def text_column(self, texts):
        return sys.modules["pyarrow"].array(texts, "string")


def is_exported(column):
    """Return whether a column has Arrow's PyCapsule interface and pyarrow is installed to read it."""
    exports = hasattr(column, "__arrow_c_stream__") or hasattr(column, "__arrow_c_array__")
    return exports and find_spec("pyarrow") is not None


class CapsuleColumn(ArrowColumn):
    """A column that `is_exported`. The sampled column is a list."""

    def __init__(self, name, exported):
        import pyarrow

        read = pyarrow.chunked_array if hasattr(exported, "__arrow_c_stream__") else pyarrow.array
        super().__init__(name, read(exported))
        if pyarrow.types.is_struct(self.dtype):
            raise ValueError(f"{name} is a {type_name(exported)}, not a column of records in order")

    make_decoder, text_column = ColumnAdapter.make_decoder, ColumnAdapter.text_column


class ArrowLabels:
    """Turns codes into columns of an Arrow type. The label None is a missing value.

    categories: the distinct labels in the order of the dictionary, which is the same in every column.
    """

    def __init__(self, labels, categories, arrow_type):
        pyarrow = sys.modules["pyarrow"]
        self._type, self._is_dictionary = arrow_type, isinstance(arrow_type, pyarrow.DictionaryType)
        views = {"string_view": "large_string", "binary_view": "large_binary"}  # views do not support take
        value_type = arrow_type.value_type if self._is_dictionary else views.get(str(arrow_type), arrow_type)
        missing = [None] if None in labels else []  # only if needed: take is slower on arrays with nulls
        self._values = pyarrow.array([*categories, *missing], value_type)
        dtype = arrow_type.index_type.to_pandas_dtype() if self._is_dictionary else np.int32
        dtype = dtype if len(categories) <= np.iinfo(dtype).max else np.int64
        place = {label: code for code, label in enumerate(categories)}
        self._missing = len(categories)
        self._place = np.array([place.get(label, self._missing) for label in labels], dtype)
        self._is_code = np.array_equal(self._place, np.arange(self._place.size))
        self.column(np.zeros(1, np.uint8))  # raises for a type that does not support take

    def categories(self):
        """Return the categories as the type holds them."""
        return self._values[: self._missing].to_pylist()

    def column(self, codes):
        pyarrow, arrow_type, missing = sys.modules["pyarrow"], self._type, self._missing
        are_indices = self._is_code and (codes.dtype == self._place.dtype or not self._is_dictionary)
        indices = codes if are_indices else self._place.take(codes)
        if not self._is_dictionary:
            return self._values.take(pyarrow.array(indices)).cast(arrow_type)
        mask = indices == missing if indices.max(initial=0) == missing else None
        indices, values = pyarrow.array(indices, arrow_type.index_type, mask=mask), self._values[:missing]
        return pyarrow.DictionaryArray.from_arrays(indices, values, ordered=arrow_type.ordered, safe=False)


class ArrowTable(TableAdapter):
    """A Table or a RecordBatch."""

    def columns(self):
        return list(zip(self.table.column_names, self.table.columns, strict=True))

    def replaced(self, places, new, keep_metadata=False):
        """Fields keep their names, and become nullable if a new column has nulls.

        With keep_metadata, the note of pandas is still left out if a column changes its type, since it would be wrong.
        """
        table = self.table.select(list(places))
        fields, columns, metadata = list(table.schema), list(table.columns), dict(table.schema.metadata or {})
        for new_place, place in enumerate(places):
            if place in new:
                field, column = fields[new_place], new[place]
                if column.type != field.type:
                    metadata.pop(b"pandas", None)
                nullable = field.nullable or column.null_count > 0
                fields[new_place], columns[new_place] = field.with_type(column.type).with_nullable(nullable), column
        if not keep_metadata:
            fields, metadata = [field.remove_metadata() for field in fields], {}
        schema = sys.modules["pyarrow"].schema(fields, metadata=metadata or None)
        return type(table).from_arrays(columns, schema=schema)
