"""Merging of symbols that a linear programme need not distinguish, which makes large alphabets small."""

import numpy as np

from linred.distribution.joint import Joint


class Merged:
    """P(x|s) over classes of s with equal P(.|s), unless `rows` is False, and, if `symbols` is True, over classes of x.

    Merging equal rows does not raise the optimal cost if the limits treat all s alike: the mean of two solutions for
    equal rows is a solution for both and costs no more. If every change costs the same, merging proportional symbols
    does not raise it either: nothing need change within a class, and what enters a class is distributed in proportion.
    Symbols that never occur are in no class.

    Attributes
    ----------
    p, p_s, p_x : P(x|s), P(s) and P(x) of the classes.
    s : the symbols of S that occur.
    s_class, x_class : the class of each symbol; 0 for symbols that never occur.
    share : P(x) / P(class of x); 0 if x never occurs.
    x : the first symbol of each class.
    """

    def __init__(self, joint, symbols, rows=True):
        self.joint = joint
        s_seen, x_seen = np.flatnonzero(joint.p_s > 0.0), np.flatnonzero(joint.p_x > 0.0)
        given_s = joint.p_x_given_s[np.ix_(s_seen, x_seen)]
        first, s_class = _classes(given_s) if rows else (np.arange(s_seen.size),) * 2
        self.s_class, self.x_class = np.zeros(joint.shape[0], np.intp), np.zeros(joint.shape[1], np.intp)
        self.s, self.s_class[s_seen] = s_seen, s_class
        p_s, p, p_x = np.bincount(s_class, joint.p_s[s_seen]), given_s[first], joint.p_x[x_seen]
        x_first, x_class = np.arange(x_seen.size), np.arange(x_seen.size)
        if symbols:
            x_first, x_class = _classes(_in_proportion(joint, s_seen[first], x_seen))
        self.x_class[x_seen] = x_class
        self.x = x_seen[x_first]
        self.p = np.zeros((first.size, x_first.size))
        np.add.at(self.p.T, x_class, p.T)
        self.p_x = np.bincount(x_class, p_x)
        self.p_s = p_s / p_s.sum()
        self.share = np.zeros(joint.shape[1])
        self.share[x_seen] = p_x / self.p_x[x_class]

    def released(self, q):
        """Return the Joint of S and Y for a Q(y|s) over the classes."""
        p_y = self.p_s @ q
        kept = np.abs(p_y - self.p_x) <= 1e-12 * self.p_x
        p_y = np.where(kept, self.p_x, p_y)[self.x_class] * self.share
        p_y_given_s = q[np.ix_(self.s_class, self.x_class)] * self.share
        joint = self.joint
        return Joint.from_parts(p_y_given_s, joint.p_s, p_y, joint.s_labels, joint.x_labels)

    def of_classes(self, p_y):
        return np.bincount(self.x_class, p_y, minlength=self.p_x.size)


def _classes(rows):
    """Return (the first row of each class of equal rows, the class of each row), classes ordered by first row."""
    _, first, of_row = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = first.argsort()
    return first[order], order.argsort()[of_row.ravel()]


def _in_proportion(joint, s, x):
    """Return a row for each x, equal for proportional symbols: integers from counts, else rounded to 44 bits."""
    if joint.counts is not None:
        columns = joint.counts[np.ix_(joint.p_s > 0.0, x)]
        return (columns // np.gcd.reduce(columns, axis=0)).T
    columns = joint.p_x_given_s[np.ix_(s, x)]
    mantissa, exponent = np.frexp(columns / columns.max(axis=0))
    return np.ldexp(np.round(mantissa * 2.0**44), exponent).T
