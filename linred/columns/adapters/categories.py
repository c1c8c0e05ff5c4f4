"""The categories of a column that is drawn: they are published with it."""

import numpy as np


def without_unseen(categories, codes, labels):
    """The categories but for those of records that are no label: never drawn, they are not to be published either."""
    occurs = np.bincount(np.asarray(codes, np.int64) + 1, minlength=len(categories) + 1)[1:] > 0
    known = set(labels)
    return [one for one, some in zip(categories, occurs, strict=True) if one in known or not some]


def with_new(categories, labels, ordered):
    """(categories and after them the labels that are not there, the place of each label among them or -1)."""
    place = {label: code for code, label in enumerate(categories)}
    for label in labels:
        if label is not None and label not in place:
            if ordered:
                raise ValueError(f"{label!r} is not among its ordered categories")
            place[label] = len(place)
    return list(place), np.array([-1 if label is None else place[label] for label in labels])
