"""Joints of UCI Adult (Becker & Kohavi, CC BY 4.0) for S of several columns and for ages, all with X = occupation."""

import csv
import gzip
from functools import cache
from pathlib import Path

import numpy as np

import linred
from support.joints import counts

COLUMNS = ("marital_status", "sex", "race")
AGE_BINS = np.arange(25, 70, 5)
"""The bins are: below 25, 25 to 29, ..., 60 to 64, 65 and above."""


@cache
def by_columns(*columns):
    """Return the counts of some of `COLUMNS`, as tuples or as plain labels for one of them, with occupation."""
    full = counts("adult_marital_status_sex_race_occupation")
    places = [COLUMNS.index(column) for column in columns]
    labels = [tuple(label.split("|")[place] for place in places) for label in full.s_labels]
    s_labels = sorted(set(labels))
    table = np.zeros((len(s_labels), full.shape[1]), np.int64)
    np.add.at(table, [s_labels.index(label) for label in labels], full.counts)
    plain = s_labels if len(columns) > 1 else [label for (label,) in s_labels]
    return linred.Joint.from_counts(table, plain, full.x_labels)


@cache
def by_age():
    """Return the counts of age in ten bins with occupation."""
    with gzip.open(Path(linred.__file__).parent / "data" / "adult.csv.gz", "rt", newline="") as file:
        records = [(int(row["age"]), row["occupation"]) for row in csv.DictReader(file)]
    ages, occupations = zip(*records, strict=True)
    x_labels, x = np.unique(occupations, return_inverse=True)
    table = np.zeros((AGE_BINS.size + 1, x_labels.size), np.int64)
    np.add.at(table, (np.digitize(ages, AGE_BINS), x), 1)
    return linred.Joint.from_counts(table, x_labels=x_labels.tolist())


def column_codes(joint, *places):
    """Return a group code for each s: the values of these columns of its label."""
    values = [tuple(label[place] for place in places) for label in joint.s_labels]
    return np.array([sorted(set(values)).index(value) for value in values])


def hamming_neighbors(joint):
    """Return whether two labels differ in exactly one column."""
    labels = joint.s_labels
    return np.array([[sum(a != b for a, b in zip(s, t, strict=True)) == 1 for t in labels] for s in labels])
