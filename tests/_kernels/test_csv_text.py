"""The CSV kernels against their twins, byte by byte, and against Python's csv module."""

import csv
import io
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linred._kernels import csv_text, numpy_twins

# Few characters, so that quotes, delimiters and line ends are adjacent; long runs, to cross windows of 64 bytes.
texts = st.lists(
    st.sampled_from(['"', '""', ",", "\n", "\r", "\r\n", "a", "é", "x" * 70, '"b"', "cd,"]), max_size=40
).map("".join)


def split(text, n_columns, is_last=True):
    """Return the fields of all columns, and the number of bytes of complete records."""
    bounds, n_bytes = csv_text.split(text, is_last, ord(","), np.arange(n_columns, dtype=np.int32))
    return [[text[begin:end] for begin, end in record] for record in bounds.tolist()], n_bytes


@given(texts, st.integers(1, 4))
def test_records_are_those_of_the_twin(text, n_columns):
    text = text.encode()
    if not text:
        return
    assert outcome(lambda: split(text, n_columns)[0]) == outcome(lambda: numpy_twins.csv_records(text, b",", n_columns))


def outcome(call):
    try:
        return call()
    except ValueError as error:
        return str(error)


@given(texts, st.integers(1, 3), st.integers(1, 40))
def test_blocks_cut_anywhere_give_the_same_records(text, n_columns, size):
    text = text.encode()
    expected = outcome(lambda: numpy_twins.csv_records(text, b",", n_columns))
    assert outcome(lambda: split_in_blocks(text, n_columns, size)) == expected


def split_in_blocks(text, n_columns, size):
    """Return the fields of all columns, read like a file: a block is the rest of the last one and `size` more bytes.

    Errors count the records of all blocks, as the twin does in a single block."""
    records, rest = [], b""
    for begin in range(0, len(text), size):
        block = rest + text[begin : begin + size]
        try:
            found, n_bytes = split(block, n_columns, is_last=begin + size >= len(text))
        except csv_text.CsvError as error:
            raise csv_text.CsvError(len(records) + error.record, error.what) from None
        records, rest = records + found, block[n_bytes:]
    assert rest == b""
    return records


@given(st.lists(st.lists(st.text(st.sampled_from('a",\n\ré;'), max_size=80), min_size=3, max_size=3), max_size=8))
def test_values_are_those_of_pythons_csv(rows):
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    text = file.getvalue().encode()
    if not text:
        return
    bounds, _ = csv_text.split(text, True, ord(","), np.arange(3, dtype=np.int32))
    columns = []
    for slot in range(3):
        values, begins = csv_text.column(text, bounds, slot)
        columns.append([values[a:b].tobytes().decode() for a, b in pairwise(begins)])
    assert [list(row) for row in zip(*columns, strict=True)] == rows


@pytest.mark.parametrize("length", [1, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 64, 65, 200])
def test_labels_are_told_apart_by_every_byte(length):
    """Values that differ from a label in one byte, or in length by one, do not match it."""
    label = bytes(97 + i % 26 for i in range(length))
    wrong = [label[:i] + b"#" + label[i + 1 :] for i in range(length)] + [label + b"a", label[:-1] or b"zz"]
    quoted = b'"' + label + b'"'
    values = [label, *wrong, quoted, b"", b'""', label]
    text = b"".join(b"%s,%s\n" % (value, value) for value in values)
    bounds, _ = csv_text.split(text, True, ord(","), np.array([0, 1], np.int32))
    index = csv_text.Labels([b"other", label], 9)
    expected = [1] + [2] * len(wrong) + [1, 9, 9, 1]
    for slot in range(2):
        assert index.codes(text, bounds, slot).tolist() == expected
        for end in range(len(text) - 1, len(text) - 3, -1):  # nothing after the value to read
            cut, _ = csv_text.split(text[:end], True, ord(","), np.array([0, 1], np.int32))
            assert index.codes(text[:end], cut, 0).tolist() == expected


def test_many_labels_and_doubled_quotes():
    rng = np.random.default_rng(1)
    labels = list({b"".join(rng.choice([b"a", b'"', b"bcdefgh", b"\xc3\xa9"], 6).tolist()) for _ in range(500)})
    fields = [b'"%s"' % label.replace(b'"', b'""') for label in labels]
    text = b"".join(b"%s\n" % field for field in fields)
    bounds, _ = csv_text.split(text, True, ord(","), np.zeros(1, np.int32))
    assert csv_text.Labels(labels, 0).codes(text, bounds, 0).tolist() == list(range(len(labels)))
    assert [numpy_twins.csv_value(field) for field in fields] == labels


@given(
    st.lists(st.lists(st.sampled_from([b"", b"a", b'"b,\n"', b"c" * 31, b"d" * 32, b"e" * 50]), min_size=4, max_size=4))
)
def test_lines_are_fields_and_texts_put_together(rows):
    text = b"".join(b",".join(row) + b"\n" for row in rows)
    if not text.strip(b"\n"):
        return
    bounds, n_bytes = csv_text.split(text, True, ord(","), np.arange(4, dtype=np.int32))
    assert n_bytes == len(text)
    new = [b"", b"N" * 40, b"y"]
    codes = (np.arange(len(rows)) % 3).astype(np.uint32)
    lines = csv_text.lines(text, bounds, [(0, 1), csv_text.Text(new), (3, 3)], codes, ord(","))
    expected = b"".join(b",".join([*row[:2], new[i % 3], row[3]]) + b"\n" for i, row in enumerate(rows))
    assert lines.tobytes() == expected


def test_a_long_text_takes_room_where_it_is_drawn_alone():
    n = 200_000
    text = b"a\n" * n
    bounds, _ = csv_text.split(text, True, ord(","), np.zeros(1, np.int32))
    codes = np.zeros(n, np.uint32)
    codes[7] = 1
    tracemalloc.start()
    lines = csv_text.lines(text, bounds, [csv_text.Text([b"b", b"c" * 1_000_000])], codes, ord(","))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6
    assert lines.tobytes() == b"b\n" * 7 + b"c" * 1_000_000 + b"\n" + b"b\n" * (n - 8)


def test_what_does_not_fit_is_refused():
    text = b"a,b\n"
    bounds, _ = csv_text.split(text, True, ord(","), np.array([0, 1], np.int32))
    code = np.zeros(1, np.uint32)
    wrong_pieces = ([(0, 2)], [], [csv_text.Text([])], [(1, 0)], [(0, 1), (1, 1)], [(1, 1), (0, 0)])
    for pieces, codes in (*((pieces, code) for pieces in wrong_pieces), ([(0, 0)], code[:0])):
        with pytest.raises(ValueError, match=r"slot|pieces|text"):
            csv_text.lines(text, bounds, pieces, codes, ord(","))
    with pytest.raises(ValueError, match="slot"):
        csv_text.column(text, bounds, 2)
    with pytest.raises(ValueError, match="cannot be split"):
        csv_text.split(b"", True, ord(","), np.array([0], np.int32))
