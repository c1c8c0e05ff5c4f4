"""Arrow: Array, ChunkedArray, RecordBatch, Table of pyarrow, which is there, where one of these is."""

import sys

import numpy as np

from linred._kernels import recoding
from linred.columns import encoded
from linred.columns.adapters.base import ColumnAdapter, FrameAdapter, check_kept
from linred.columns.adapters.categories import with_new, without_unseen
from linred.columns.alphabet import in_order, is_missing


class ArrowColumn(ColumnAdapter):
    """Plain, a dictionary, or chunks of these. An ordered dictionary declares its alphabet; any other is an encoding,
    of which what occurs is sorted."""

    @property
    def dtype(self):
        return self.column.type

    @property
    def is_dictionary(self):
        return isinstance(self.dtype, sys.modules["pyarrow"].DictionaryType)

    def values(self):
        return self.column.to_pylist()

    def value_at(self, record):
        return self.column[record].as_py()

    def array(self):
        is_plain = str(self.dtype).lstrip("u") in ("int8", "int16", "int32", "int64") and not self.column.null_count
        return np.asarray(self.column) if is_plain else None

    def _as_dictionary(self):
        """As one array of pyarrow; chunks may each have a dictionary of their own."""
        column, chunked = self.column, sys.modules["pyarrow"].ChunkedArray
        if not self.is_dictionary:
            try:
                column = column.dictionary_encode()
            except NotImplementedError:
                what = f"an Arrow column of {self.dtype}, whose values cannot be labels"
                raise ValueError(f"{self.name} is {what}") from None
        if isinstance(column, chunked):
            column = column.unify_dictionaries().combine_chunks()
            column = column.chunk(0) if isinstance(column, chunked) and column.num_chunks else column
        return column

    def dictionary(self):
        """`EncodedColumn` by the column's own dictionary: values that do not occur too, None more than once."""
        column = self._as_dictionary()
        indices, categories = column.indices, column.dictionary.to_pylist()
        if indices.null_count:
            indices = indices.cast("int64").fill_null(len(categories))
        labels = (*(None if is_missing(one) else one for one in categories), None)
        return encoded.EncodedColumn(np.asarray(indices), labels)

    def encoded(self, sort):
        codes, labels, _ = self.dictionary()
        alphabet = labels
        if not (self.is_dictionary and self.dtype.ordered):
            occurs = np.bincount(codes, minlength=len(labels))
            alphabet = in_order(self.name, {labels[code] for code in np.flatnonzero(occurs).tolist()}, sort)
        alphabet = [label for label in dict.fromkeys(alphabet) if label is not None]
        place = {label: code for code, label in enumerate(alphabet)}
        recode = np.array([place.get(label, -1) for label in labels])
        return encoded.of_categories(self.name, recode[codes], alphabet)

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
        if self.is_dictionary:
            codes, labels, _ = self.dictionary()
            return np.array([label is None for label in labels])[codes]
        return np.asarray(self.column.is_null(nan_is_null=True))

    def parsed_numbers(self):
        """`numbers`, those of text too; any exception of pyarrow where one is none."""
        return np.asarray(self.column.cast("float64").fill_null(np.nan))

    def take(self, mask):
        """The records of a mask."""
        return ArrowColumn(self.name, self.column.filter(sys.modules["pyarrow"].array(mask)))

    def make_decoder(self, labels):
        pyarrow = sys.modules["pyarrow"]
        decode = (self._dictionary_decoder if self.is_dictionary else self._plain_decoder)(pyarrow, labels)
        if not isinstance(self.column, pyarrow.ChunkedArray):
            return decode
        ends = np.cumsum([len(chunk) for chunk in self.column.chunks], dtype=np.intp)
        begins = ends - [len(chunk) for chunk in self.column.chunks]
        return lambda codes: pyarrow.chunked_array(
            [decode(codes[begin:end]) for begin, end in zip(begins, ends, strict=True)], self.dtype
        )

    def _plain_decoder(self, pyarrow, labels):
        taken = {"string_view": "large_string", "binary_view": "large_binary"}.get(str(self.dtype), self.dtype)
        values = pyarrow.array(list(labels), taken)  # views cannot be taken from
        check_kept(labels, values.to_pylist())

        def decode(codes):
            return values.take(pyarrow.array(codes)).cast(self.dtype)

        decode(np.zeros(1, np.uint8))  # not every type can be taken from
        return decode

    def _dictionary_decoder(self, pyarrow, labels):
        """By the labels, or by the column's own dictionary if it is ordered; one for all chunks. One that is not has
        its values in the order in which they came: it would tell x of the first records, and values that are no label.
        """
        own, dtype = [], self.dtype
        if dtype.ordered:
            codes, own, _ = self.dictionary()
            own = without_unseen(own[:-1], np.where(codes < len(own) - 1, codes.astype(np.int64), -1), labels)
        categories, recode = with_new([one for one in own if one is not None], labels, dtype.ordered)
        dictionary = pyarrow.array(categories, dtype.value_type)
        check_kept(categories, dictionary.to_pylist())
        width = dtype.index_type.bit_width - (not str(dtype.index_type).startswith("u"))
        if len(categories) > 2**width:
            raise ValueError(f"{len(categories)} labels are too many for its indices")

        def decode(codes):
            places = recode[codes]
            indices = pyarrow.array(places, dtype.index_type, mask=places < 0)
            return pyarrow.DictionaryArray.from_arrays(indices, dictionary, ordered=dtype.ordered)

        return decode

    def text_column(self, texts):
        return sys.modules["pyarrow"].array(texts, "string")


class ArrowFrame(FrameAdapter):
    def columns(self):
        return list(zip(self.table.column_names, self.table.columns, strict=True))

    def of_columns(self, columns):
        return type(self.table).from_arrays(columns, self.table.column_names)

    def replaced(self, places, drawn):
        """With its schema, but for a column that is text now, or has missing values; what pandas noted is then not
        true."""
        table = self.table.select(places)
        columns, fields, metadata = list(table.columns), list(table.schema), table.schema.metadata or {}
        for place, field in enumerate(fields):
            if field.name in drawn:
                columns[place] = column = drawn[field.name]
                fields[place] = field.with_type(column.type).with_nullable(field.nullable or column.null_count > 0)
                if column.type != field.type:
                    metadata = {name: value for name, value in metadata.items() if name != b"pandas"}
        return type(table).from_arrays(columns, schema=sys.modules["pyarrow"].schema(fields, metadata or None))
