"""Columns of CSV text as adapters: what the kernel reads off the bytes is what Arrow gives."""

import numpy as np
import pytest

from linred.columns.adapters.arrow_arrays import ArrowColumn
from linred.columns.encoder import Encoder
from linred.io.formats import format_of, open_source

LINES = 's,x\na,1\n"b",\n"",2\n"a ""q""",1\nzz,\nb,3\n'


@pytest.fixture
def column(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(LINES)
    with open_source(str(path), format_of(path)) as source:
        (batch,) = source.batches({"s", "x"})
        return batch.text("s")


@pytest.mark.parametrize("labels", [("b", "a"), ("a", None, 'a "q"'), ("", 5, "zz"), ("a", "b", "zz", 'a "q"', None)])
def test_codes_of_text_are_those_of_its_arrow_form(column, labels):
    codes = column.codes_in(Encoder(labels))
    np.testing.assert_array_equal(codes, ArrowColumn("s", column.column).codes_in(Encoder(labels)))


def test_text_is_an_adapter(column):
    assert column.values() == ["a", "b", None, 'a "q"', "zz", "b"]
    assert [column.value_at(record) for record in range(len(column))] == column.values()
    assert column.missing().tolist() == [False, False, True, False, False, False]
    assert column.encoded(sort=True).labels == ("a", 'a "q"', "b", "zz", None)
    assert column.take(~column.missing()).values() == ["a", "b", 'a "q"', "zz", "b"]
