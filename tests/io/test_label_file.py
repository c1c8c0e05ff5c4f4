"""Matrix files and group files: how labels match, what a cell may hold, and faults by row and column."""

import csv
import datetime
import decimal
import io
import itertools
import math
import os
import re

import numpy as np
import pytest

import linred
from linred.columns.label_distance import distortion_of
from linred.columns.label_matrix import groups_of, matrix_of, relation_of
from linred.columns.schema import ColumnSpec
from linred.errors import FileError
from linred.io.label_file import MatrixFile, read_groups
from support.joints import random_joint


@pytest.fixture
def written(tmp_path):
    """Return a function that writes text or bytes to a file and returns its path."""

    def write(content, name="labels.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def sheet(labels, cell, columns=None):
    """Return the text of a matrix file, by the csv module of Python alone."""
    text = io.StringIO(newline="")
    rows = csv.writer(text)
    rows.writerow(["any corner", *(columns or labels)])
    rows.writerows([[label, *(cell(label, column) for column in columns or labels)] for label in labels])
    return text.getvalue()


def test_a_matrix_stands_in_the_order_of_the_alphabet_whatever_the_order_in_the_file(written):
    numbers = {pair: 1.0 + i for i, pair in enumerate(itertools.permutations("abcd", 2))}
    expected = matrix_of("d", numbers, tuple("abcd")).tolist()
    for rows, columns in (("abcd", "abcd"), ("dbca", "abcd"), ("cabd", "dcba")):
        path = written(sheet(rows, lambda a, b: numbers.get((a, b), ""), columns))
        assert matrix_of("d", MatrixFile(path), tuple("abcd")).tolist() == expected


def test_empty_cells_have_no_limit_and_inf_is_a_number(written):
    file = MatrixFile(written(",a,b,c\na,,0.5,inf\nb,1e-3,0,\nc,,2,0.0\n"))
    pairs = matrix_of("pairs", file, ("a", "b", "c"), missing=math.inf, infinite=True)
    assert pairs.tolist() == [[0.0, 0.5, math.inf], [1e-3, 0.0, math.inf], [math.inf, 2.0, 0.0]]
    relation = relation_of("neighbors", MatrixFile(written(",b,a\na,1,\nb,,1\n")), ("a", "b"))
    assert relation.tolist() == [[False, True], [True, False]]
    assert relation.dtype == bool


DATES = (datetime.date(2013, 1, 31), datetime.date(2014, 1, 1))
TIMES = (datetime.datetime(2013, 1, 31, 23, 59), datetime.datetime(2014, 1, 1))
AGE = ColumnSpec("age", (20.0, 30.5))


@pytest.mark.parametrize(
    ("labels", "texts"),
    [
        (("a,b", 'say "x"'), ("a,b", 'say "x"')),
        (("two\nlines", "é", " padded "), ("two\nlines", "é", " padded ")),
        (("x", None), ("x", "")),  # an empty field is the missing value, as in every CSV file of linred
        ((1, -20, 2**70), ("1", "-20", str(2**70))),
        ((np.int64(5), np.str_("a")), ("5", "a")),
        ((1.0, 2.5, math.inf), ("1", "2.5", "inf")),
        ((1.0, 2.5), ("1.0", "2.5")),
        ((decimal.Decimal("1.10"), decimal.Decimal("2")), ("1.10", "2")),
        ((True, False), ("true", "false")),
        ((True, False), ("True", "False")),
        (DATES, ("2013-01-31", "2014-01-01")),
        (TIMES, ("2013-01-31 23:59:00", "2014-01-01T00:00:00")),
        (AGE.bins, ("age<20", "20<=age<30.5", "age>=30.5")),
        (("01", "1"), ("01", "1")),  # texts, not numbers
        ((("a", 1), ("b,c", 2.0), ('"', None)), ("a,1", '"b,c",2', '"""",')),
        (((DATES[0], True), (None, None)), ("2013-01-31,true", ",")),
    ],
)
def test_labels_match_by_their_text(written, labels, texts):
    """Composite labels are one field with the texts of their parts as a line of CSV."""
    number = {text: float(place) for place, text in enumerate(texts)}
    path = written(sheet(texts[::-1], lambda a, b: abs(number[a] - number[b])))
    expected = [[abs(i - j) for j in range(len(texts))] for i in range(len(texts))]
    assert distortion_of("distortion", MatrixFile(path), labels).tolist() == expected
    path = written(sheet(texts[::-1], lambda a, _: "first" if a == texts[0] else "", ["group"]))
    (groups,) = read_groups(path)
    assert groups_of("secrets", groups, labels).tolist() == [0] + [1] * (len(labels) - 1)


def test_each_column_of_a_group_file_is_a_secret(written):
    file = read_groups(written("S,kind,any\nb,hard,x\na,soft,\nc,hard,x\ne,,\n"))
    assert [groups_of("secrets", one, ("a", "b", "c", "e")).tolist() for one in file] == [[0, 1, 1, 2], [0, 1, 1, 0]]


def test_targets_from_files_are_those_from_mappings(written):
    joint = random_joint(np.random.default_rng(3), 3, 4)
    joint = linred.Joint(joint.p_sx, ["a", "b", "c"], [1, 2, 3, 4])
    pairs = {("a", "b"): 0.2, ("b", "c"): 0.1}
    path = written(sheet("cba", lambda a, b: pairs.get((a, b), "")))
    assert linred.Target(pairs=MatrixFile(path)).settled(joint) == linred.Target(pairs=pairs).settled(joint)
    neighbors = {("a", "b"): True, ("b", "a"): True}
    path = written(sheet("cba", lambda a, b: int((a, b) in neighbors)))
    by_file, by_mapping = (linred.Target(dp=0.3, neighbors=one) for one in (MatrixFile(path), neighbors))
    assert by_file.settled(joint) == by_mapping.settled(joint)
    groups = {"a": 0, "b": 1, "c": 0}
    (column,) = read_groups(written(sheet("cab", lambda a, _: groups[a], ["is b"])))
    by_file, by_mapping = (linred.Target(ldp=0.1, secrets=[one]) for one in (column, groups))
    assert by_file.settled(joint) == by_mapping.settled(joint)
    assert linred.Target(secrets={column: 0.1}).settled(joint) == by_mapping.settled(joint)


def test_a_byte_order_mark_and_blank_lines_are_skipped(written):
    path = written(b"\xef\xbb\xbf,a,b\r\n\r\na,,1\r\nb,2,\r\n\r\n")
    assert matrix_of("d", MatrixFile(path), ("a", "b")).tolist() == [[0.0, 1.0], [2.0, 0.0]]


OK = ",a,b\na,0,1\nb,1,0\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", " is not a table: its first row holds names and its first column labels"),
        (",a,b\n", " is not a table: "),
        ("a\nb\n", " is not a table: "),
        (",a,b\na,0,1\nb,1\n", ": row 3 and the first row have 2 and 3 fields"),
        (",a,b\n\na,0,1,5\nb,1,0\n", ": row 3 and the first row have 4 and 3 fields"),  # the blank line counts
        (",a,b\na,0,1\nb,secret,0\n", ": row 3, column 2 is not a number"),
        (",a,b\na,0,nan\nb,1,0\n", ": row 2, column 3 is not a number"),
        (",a,b\na,0,1_0\nb,1,0\n", ": row 2, column 3 is not a number"),
        (",a,b\na,0, \nb,1,0\n", ": row 2, column 3 is not a number"),
        (",a,b\na,0,-1\nb,1,0\n", ": row 2, column 3 is negative"),
        (",a,b\na,0,-inf\nb,1,0\n", ": row 2, column 3 is negative"),
        (",a,a\na,0,1\nb,1,0\n", ": columns 2 and 3 have the same label: keep one of them"),
        (",a,b\nb,0,1\nb,1,0\n", ": rows 2 and 3 have the same label: keep one of them"),
        (',a,b\n"a"x,0,1\nb,1,0\n', " is not CSV: check its quotes"),
        (',a,b\n"a,0,1\nb,1,0\n', " is not CSV: check its quotes"),
        (b",\xff,b\n", " is not UTF-8 text"),
    ],
)
def test_a_file_that_is_no_matrix_is_refused_when_it_is_read(written, content, message):
    path = written(content)
    with pytest.raises(FileError, match=rf"^{re.escape(path + message)}"):
        MatrixFile(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (",a,b\na,2,1\nb,1,0\n", ": row 2, column 2 is not 0: a label and itself must have 0 or an empty cell"),
        (",b,a\na,1,0\nb,inf,1\n", ": row 3, column 2 is not 0: "),
        (",a,b\na,0,\nb,1,0\n", ": row 2, column 3 is empty: give a number for each pair of different labels"),
        (",a,b\n\na,0,1\nb,inf,0\n", ": row 4, column 2 is infinite: give a finite number"),
        (",a,B\na,0,1\nb,1,0\n", ": column 3 is for no label of the alphabet"),
        (",a,b\na,0,1\nb,1,0\nc,1,1\n", ": row 4 is for no label of the alphabet"),
        (",a\na,0\nb,1\n", " has no column for label 2 of 2: add it"),
        (",a,b\na,0,1\n", " has no row for label 2 of 2: add it"),
    ],
)
def test_a_matrix_that_does_not_fit_the_alphabet_is_refused_by_row_and_column(written, content, message):
    path = written(content)
    with pytest.raises(FileError, match=rf"^{re.escape(path + message)}"):
        distortion_of("distortion", MatrixFile(path), ("a", "b"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (",b,a\na,1,0\nb,0,0\n", ": row 2, column 2 is 1, but not the other way round: set both, or neither"),
        (",a,b\na,0,1\nb,,0\n", ": row 2, column 3 is 1, but not the other way round: set both, or neither"),
        (",a,b\na,0,2\nb,1,0\n", ": row 2, column 3 is neither 0 nor 1"),
    ],
)
def test_a_relation_is_0_and_1_and_symmetric(written, content, message):
    path = written(content)
    with pytest.raises(FileError, match=rf"^{re.escape(path + message)}"):
        relation_of("neighbors", MatrixFile(path), ("a", "b"))


@pytest.mark.parametrize(
    ("content", "labels", "message"),
    [
        (",1,1.0\n1,,\n1.0,,\n", (1.0, 2.0), ": rows 2 and 3 have the same label: keep one of them"),
        (",1\n1,\n", (1, "1"), ": labels 1 and 2 of the alphabet have the same text: give text labels"),
        (",a\na,\n", (("a", "b"),), ': row 2 is for no label of the alphabet, whose labels are lines of CSV such as "'),
        (',"""a"\n"""a",\n', (("a", "b"),), ": row 2 is for no label of the alphabet, whose labels are lines"),
        (',"a\nb"\n"a\nb",\n', (("a", "b"),), ": row 2 is for no label of the alphabet, whose labels are lines"),
    ],
)  # fmt: skip
def test_texts_that_name_no_label_or_two_are_refused(written, content, labels, message):
    path = written(content)
    with pytest.raises(FileError, match=rf"^{re.escape(path + message)}"):
        matrix_of("pairs", MatrixFile(path), labels, missing=math.inf, infinite=True)


def test_a_relation_holds_zeros_and_ones(written):
    path = written(",a,b\na,0,0.5\nb,1,0\n")
    with pytest.raises(FileError, match=rf"^{re.escape(path)}: row 2, column 3 is neither 0 nor 1$"):
        relation_of("neighbors", MatrixFile(path), ("a", "b"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("S,group\na,x\na,y\n", ": rows 2 and 3 have the same label: keep one of them"),
        ("S\na\n", " is not a table: "),
        ("S,group\na,x\nb\n", ": row 3 and the first row have 1 and 2 fields"),
        ("S,group\na,x\nc,y\n", ": row 3 is for no label of the alphabet"),
        ("a,x\nb,y\n", " has no row for label 1 of 2: add it"),  # without names in the first row
    ],
)
def test_a_group_file_that_does_not_fit_is_refused(written, content, message):
    path = written(content)
    with pytest.raises(FileError, match=rf"^{re.escape(path + message)}"):
        groups_of("secrets", read_groups(path)[0], ("a", "b"))


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    for path, reason in ((str(tmp_path / "none.csv"), "No such file or directory"), (str(tmp_path), "Is a directory")):
        for read in (MatrixFile, read_groups):
            with pytest.raises(FileError, match=rf"^{re.escape(path)}: cannot be read: {reason}$"):
                read(path)


def test_a_pipe_can_be_read():
    """As `--pairs <(command)` gives one."""
    read_end, write_end = os.pipe()
    os.write(write_end, OK.encode())
    os.close(write_end)
    path = f"/dev/fd/{read_end}"
    if not os.path.exists(path):
        pytest.skip("this system has no /dev/fd")
    assert matrix_of("d", MatrixFile(path), ("a", "b")).tolist() == [[0.0, 1.0], [1.0, 0.0]]
