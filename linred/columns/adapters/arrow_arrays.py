"""Arrow: Array, ChunkedArray, RecordBatch, Table of pyarrow, which is there, where one of these is; and any column
that exports its data by Arrow's PyCapsule interface, of whatever package."""

import sys
from importlib.util import find_spec

import numpy as np

from linred._kernels import recoding
from linred.columns import encoded_column
from linred.columns.adapters.base import ColumnAdapter, TableAdapter
from linred.columns.alphabet import check_kept, in_order, with_new
from linred.columns.missing import is_missing


class ArrowColumn(ColumnAdapter):
    """Plain, a dictionary, or chunks of these. An ordered dictionary declares its alphabet; any other is an encoding,
    of which what occurs is sorted."""

    @property
    def is_dictionary(self):
        return isinstance(self.dtype, sys.modules["pyarrow"].DictionaryType)

    @property
    def is_ordered(self):
        return self.is_dictionary and self.dtype.ordered

    def values(self):
        return self.column.to_pylist()

    def value_at(self, record):
        return self.column[record].as_py()

    def array(self):
        is_plain = str(self.dtype).lstrip("u") in ("int8", "int16", "int32", "int64") and not self.column.null_count
        return np.asarray(self.column) if is_plain else None

    def dictionary(self):
        """`EncodedColumn` by the column's own dictionary: values that do not occur too, None more than once."""
        column = self.column
        if not self.is_dictionary:
            try:
                column = column.dictionary_encode()
            except NotImplementedError:
                what = f"an Arrow column of {self.dtype}, whose values cannot be labels"
                raise ValueError(f"{self.name} is {what}") from None
        if isinstance(column, sys.modules["pyarrow"].ChunkedArray):  # each chunk may have a dictionary of its own
            column = column.unify_dictionaries().combine_chunks()
        indices, categories = column.indices, column.dictionary.to_pylist()
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
        """Codes by the place of each value among some of this column, the number of these for any other."""
        from pyarrow import array, compute

        value_type = self.dtype.value_type if self.is_dictionary else self.dtype
        found = compute.index_in(self.column.cast(value_type), array(values, value_type))
        return np.asarray(found.fill_null(len(values)))

    def missing(self):
        """The mask of the records without a value: `missing.is_missing` for each."""
        if self.is_dictionary:
            codes, labels, _ = self.dictionary()
            return np.array([label is None for label in labels])[codes]
        return np.asarray(self.column.is_null(nan_is_null=True))

    def parsed_numbers(self):
        """`numbers`, those of text too; an exception of pyarrow where a value is none."""
        return np.asarray(self.column.cast("float64").fill_null(np.nan))

    def take(self, mask):
        """The column of the records of a mask."""
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
        """The labels, or the column's own dictionary if it is ordered; one for all chunks. One that is not has its
        values in the order in which they came: it would tell x of the first records, and values that are no label."""
        codes, own, _ = self.dictionary() if self.is_ordered else ((), (), None)
        categories, _ = with_new(own, codes, labels, self.is_ordered)
        if self.is_dictionary and len(categories) > np.iinfo(self.dtype.index_type.to_pandas_dtype()).max + 1:
            raise ValueError(f"{len(categories)} labels are too many for its indices")
        return categories

    def text_column(self, texts):
        return sys.modules["pyarrow"].array(texts, "string")


def is_exported(column):
    """Whether a column has Arrow's PyCapsule interface, and pyarrow is there to read it."""
    exports = hasattr(column, "__arrow_c_stream__") or hasattr(column, "__arrow_c_array__")
    return exports and find_spec("pyarrow") is not None


class CapsuleColumn(ArrowColumn):
    """A column that `is_exported`; what is drawn for it is a list."""

    def __init__(self, name, exported):
        import pyarrow

        read = pyarrow.chunked_array if hasattr(exported, "__arrow_c_stream__") else pyarrow.array
        super().__init__(name, read(exported))
        if pyarrow.types.is_struct(self.dtype):
            raise ValueError(f"{name} is a {type(exported).__name__}, not a column of records in order")

    make_decoder, text_column = ColumnAdapter.make_decoder, ColumnAdapter.text_column


class ArrowLabels:
    """Labels by code as values of an Arrow type, None being missing; categories: the distinct ones, in the order of a
    dictionary, which is the same in every column."""

    def __init__(self, labels, categories, arrow_type):
        pyarrow = sys.modules["pyarrow"]
        self._type, self._is_dictionary = arrow_type, isinstance(arrow_type, pyarrow.DictionaryType)
        views = {"string_view": "large_string", "binary_view": "large_binary"}  # which cannot be taken from
        value_type = arrow_type.value_type if self._is_dictionary else views.get(str(arrow_type), arrow_type)
        missing = [None] if None in labels else []  # only then: taking is slower where there may be nulls
        self._values = pyarrow.array([*categories, *missing], value_type)
        dtype = arrow_type.index_type.to_pandas_dtype() if self._is_dictionary else np.int32
        dtype = dtype if len(categories) <= np.iinfo(dtype).max else np.int64
        place = {label: code for code, label in enumerate(categories)}
        self._missing = len(categories)
        self._place = np.array([place.get(label, self._missing) for label in labels], dtype)
        self._is_code = np.array_equal(self._place, np.arange(self._place.size))
        self.column(np.zeros(1, np.uint8))  # not every type can be taken from

    def categories(self):
        """As they are as values of the type."""
        return self._values[: self._missing].to_pylist()

    def column(self, codes):
        pyarrow, arrow_type, missing = sys.modules["pyarrow"], self._type, self._missing
        as_they_are = self._is_code and (codes.dtype == self._place.dtype or not self._is_dictionary)
        indices = codes if as_they_are else self._place.take(codes)
        if not self._is_dictionary:
            return self._values.take(pyarrow.array(indices)).cast(arrow_type)
        mask = indices == missing if indices.max(initial=0) == missing else None
        indices, values = pyarrow.array(indices, arrow_type.index_type, mask=mask), self._values[:missing]
        return pyarrow.DictionaryArray.from_arrays(indices, values, ordered=arrow_type.ordered, safe=False)


class ArrowTable(TableAdapter):
    def columns(self):
        return list(zip(self.table.column_names, self.table.columns, strict=True))

    def replaced(self, places, drawn):
        """With its schema, but for a column that is text now, or has missing values; what pandas noted is then not
        true."""
        table, metadata = self.table.select(list(places)), self.table.schema.metadata or {}
        for new_place, place in enumerate(places):
            if place in drawn:
                field, column = table.schema.field(new_place), drawn[place]
                nullable = field.nullable or column.null_count > 0
                table = table.set_column(new_place, field.with_type(column.type).with_nullable(nullable), column)
                if column.type != field.type:
                    metadata = {name: value for name, value in metadata.items() if name != b"pandas"}
        return table.replace_schema_metadata(metadata or None)
