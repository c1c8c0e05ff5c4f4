"""The linear reduction against equation (3) in Fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import given

import linred
from linred import Joint
from support.joints import alphas, count_tables


@given(count_tables, alphas)
def test_it_is_equation_3(counts, alpha):
    joint = Joint.from_counts(counts)
    released, weight = linred.linear_reduction(joint, alpha), Fraction(alpha)
    p_x = [Fraction(int(n), int(counts.sum())) for n in counts.sum(axis=0)]
    for s in np.flatnonzero(counts.sum(axis=1)):
        row = [Fraction(int(n), int(counts[s].sum())) for n in counts[s]]
        exact = [float((1 - weight) * p + weight * q) for p, q in zip(row, p_x, strict=True)]
        np.testing.assert_allclose(released.p_x_given_s[s], exact, rtol=1e-14, atol=1e-300)
    np.testing.assert_array_equal(released.p_x, joint.p_x)
    np.testing.assert_array_equal(released.p_s, joint.p_s)


@given(count_tables)
def test_its_ends_are_exact(counts):
    joint = Joint.from_counts(counts)
    np.testing.assert_array_equal(linred.linear_reduction(joint, 0.0).p_x_given_s, joint.p_x_given_s)
    np.testing.assert_array_equal(
        linred.linear_reduction(joint, 1.0).p_x_given_s, np.broadcast_to(joint.p_x, counts.shape)
    )
