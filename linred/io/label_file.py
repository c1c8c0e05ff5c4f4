"""CSV files with a number for each pair of labels, or with groups of labels, for targets and distortions.

A file is UTF-8 text with commas. A matrix file has labels in its first row and in its first column, each label once in
both, in any order; the field in the corner is ignored. An empty cell has no number, and "inf" is infinite. A group file
has names in its first row, labels in its first column, and the groups of one function of the labels in each other
column.

Labels are written as linred writes them to CSV, and the missing value as an empty field. A whole number that a column
holds as 5.0 may be written as 5; truth values are in small letters, and times in the ISO form. A composite label is one
field, with the texts of its parts in the form of a line of CSV: "Divorced,Female" in quotes.

Faults are named by the file, the row and the column, counted from 1 as a spreadsheet does. Messages show neither a
label nor a value.
"""

import csv
import datetime
import io
import itertools
import math

import numpy as np

from linred.errors import FileError
from linred.io.pipes import fault


class _Axis:
    """The labels of the rows, or of the columns after the first, as texts; numbers : of these rows or columns."""

    def __init__(self, path, what, texts, numbers):
        self.path, self.what, self.texts, self.numbers = path, what, texts, numbers
        self._places(texts)  # equal texts are an error, whatever the alphabet is

    def order(self, labels):
        """Return the place along the axis of each label."""
        label_of, is_composite = _index(self.path, labels), any(isinstance(label, tuple) for label in labels)
        found = [label_of.get(_parts(text) if is_composite else text) for text in self.texts]
        if None in found:
            form = ', whose labels are lines of CSV such as "a,b"' if is_composite else ""
            number = self.numbers[found.index(None)]
            raise FileError(f"{self.path}: {self.what} {number} is for no label of the alphabet{form}")
        place_of = self._places(found)
        for label in range(len(labels)):
            if label not in place_of:
                raise FileError(f"{self.path} has no {self.what} for label {label + 1} of {len(labels)}: add it")
        return np.array([place_of[label] for label in range(len(labels))])

    def _places(self, keys):
        """Return {key: its place}; two places with one key are an error."""
        place_of = {}
        for place, key in enumerate(keys):
            if place_of.setdefault(key, place) != place:
                both = f"{self.numbers[place_of[key]]} and {self.numbers[place]}"
                raise FileError(f"{self.path}: {self.what}s {both} have the same label: keep one of them")
        return place_of


class _Sheet:
    """The fields of a file, checked to be a table of at least two rows and two columns."""

    def __init__(self, path):
        self.path = path
        numbered = [(number, row) for number, row in enumerate(_read(path), 1) if row]  # blank lines count, as rows do
        if len(numbered) < 2 or len(numbered[0][1]) < 2:
            raise FileError(f"{path} is not a table: its first row holds names and its first column labels")
        (_, self.header), *numbered = numbered
        self.numbers, self.rows = zip(*numbered, strict=True)
        for number, row in numbered:
            if len(row) != len(self.header):
                raise FileError(f"{path}: row {number} and the first row have {len(row)} and {len(self.header)} fields")
        self.row_axis = _Axis(path, "row", [row[0] for row in self.rows], self.numbers)


class MatrixFile:
    """A matrix file, read when it is made and put in the order of an alphabet by `matrix_for`.

    `linred.columns.label_matrix` accepts it wherever it accepts a matrix.
    """

    def __init__(self, path):
        self.path, self._sheet = path, _Sheet(path)
        sheet = self._sheet
        self._column_axis = _Axis(path, "column", sheet.header[1:], range(2, len(sheet.header) + 1))
        self._cells = np.empty((len(sheet.rows), len(sheet.header) - 1))
        for i, row in enumerate(sheet.rows):
            for j, text in enumerate(row[1:]):
                self._cells[i, j] = cell = _number(text)
                if text and not cell >= 0.0:
                    self._fail(i, j, "negative" if cell < 0.0 else "not a number")

    def _fail(self, row, column, what):
        sheet = self._sheet
        raise FileError(f"{sheet.path}: row {sheet.numbers[row]}, column {column + 2} is {what}")

    def matrix_for(self, labels, missing=None, infinite=False, is_relation=False):
        """Return the matrix in the order of `labels`.

        missing : the number in place of an empty cell, which is otherwise an error, except on the diagonal, where it is
            0. infinite : whether "inf" is allowed. is_relation : whether all numbers must be 0 or 1.
        """
        rows, columns = self._sheet.row_axis.order(labels), self._column_axis.order(labels)
        matrix, own = self._cells[np.ix_(rows, columns)], np.eye(len(labels), dtype=bool)
        matrix[own & np.isnan(matrix)] = 0.0
        empty = np.isnan(matrix)
        faults = (
            (own & (matrix != 0.0), "not 0: a label and itself must have 0 or an empty cell"),
            (empty & (missing is None), "empty: give a number for each pair of different labels"),
            (np.isinf(matrix) & (not infinite), "infinite: give a finite number"),
            (~empty & (matrix != 0.0) & (matrix != 1.0) & is_relation, "neither 0 nor 1"),
            ((matrix == 1.0) & (matrix.T != 1.0) & is_relation, "1, but not the other way round: set both, or neither"),
        )
        for wrong, what in faults:
            for i, j in np.argwhere(wrong)[:1]:
                self._fail(rows[i], columns[j], what)
        return np.where(empty, missing, matrix) if empty.any() else matrix


class GroupColumn:
    """One column of groups of a group file; `linred.columns.label_matrix.groups_of` accepts it as groups."""

    def __init__(self, sheet, column):
        self.path, self._sheet, self._column = sheet.path, sheet, column

    def groups_for(self, labels):
        """Return the group of each label: the text in the file. All empty cells are one group."""
        return [self._sheet.rows[place][self._column] for place in self._sheet.row_axis.order(labels)]


def read_groups(path):
    """Return the `GroupColumn`s of a group file."""
    sheet = _Sheet(path)
    return [GroupColumn(sheet, column) for column in range(1, len(sheet.header))]


def _read(path):
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return list(csv.reader(file, strict=True))
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {fault(error)}") from None
    except UnicodeDecodeError:
        raise FileError(f"{path} is not UTF-8 text") from None
    except csv.Error:
        raise FileError(f"{path} is not CSV: check its quotes") from None


def _number(text):
    """Return a cell as a number, NaN if it is none."""
    try:
        return math.nan if "_" in text else float(text)  # Python reads "1_0" as 10
    except ValueError:
        return math.nan


def _index(path, labels):
    """Return {text, or tuple of texts: place of the label}."""
    index = {}
    for place, label in enumerate(labels):
        for text in _texts(label):
            if index.setdefault(text, place) != place:
                both = f"{index[text] + 1} and {place + 1}"
                raise FileError(f"{path}: labels {both} of the alphabet have the same text: give text labels")
    return index


def _texts(label):
    """Return the texts that may stand for a label; tuples of texts for a composite one."""
    if isinstance(label, tuple):
        return itertools.product(*map(_texts, label))
    text = "" if label is None else str(label)
    if isinstance(label, bool):
        return text, text.lower()
    if isinstance(label, float):
        return dict.fromkeys((text, text.removesuffix(".0")))
    return (text, label.isoformat()) if isinstance(label, datetime.datetime) else (text,)


def _parts(text):
    """Return the parts of a composite label, or None if the text is no line of CSV."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return None
    return tuple(rows[0]) if len(rows) == 1 else None
