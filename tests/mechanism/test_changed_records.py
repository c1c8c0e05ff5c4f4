"""The share of changed records by s and by x, against the definition and against the figures of Adult."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linred
from linred import Joint
from support.joints import adult, alphas, count_tables, example_1
from support.mechanisms import CLOSED_FORMS


@given(count_tables, st.sampled_from(sorted(CLOSED_FORMS)), alphas)
def test_shares_are_their_definition(counts, name, alpha):
    mechanism = CLOSED_FORMS[name](Joint.from_counts(counts), alpha)
    stays = np.diagonal(mechanism.p_y_given_sx, axis1=1, axis2=2)
    changed = (counts * (1.0 - stays)).tolist()
    for by, rows, cells in (("s", counts, changed), ("x", counts.T, [*zip(*changed, strict=True)])):
        expected = [
            sum(cell) / sum(row) if sum(row) else np.nan for row, cell in zip(rows.tolist(), cells, strict=True)
        ]
        assert mechanism.changed(by) == pytest.approx(expected, rel=1e-12, abs=1e-14, nan_ok=True)
    assert mechanism.changed() == mechanism.changed(None) == mechanism.dtv()


@given(count_tables, st.sampled_from(sorted(CLOSED_FORMS)), alphas)
def test_the_means_are_the_share_of_all_records(counts, name, alpha):
    mechanism = CLOSED_FORMS[name](Joint.from_counts(counts), alpha)
    for by, p in (("s", mechanism.joint.p_s), ("x", mechanism.joint.p_x)):
        assert np.nansum(p * mechanism.changed(by=by)) == pytest.approx(mechanism.dtv(), rel=1e-12, abs=1e-14)


def test_small_groups_pay():
    """Figures of an independent linear programme, in per cent."""
    mechanism = linred.optimal(adult(), ldp=1.0)
    shares = dict(zip(adult().s_labels, (100 * mechanism.changed(by="s")).round(1), strict=True))
    expected = {"Divorced": 0.1, "Never-married": 0.3, "Married-civ-spouse": 0.7, "Separated": 3.8, "Widowed": 7.5}
    assert {name: shares[name] for name in expected} == expected


def test_other_groups_are_refused():
    with pytest.raises(ValueError, match=r"^by = 'y' is not 's', 'x' or None$"):
        linred.markov(example_1(), 0.5).changed(by="y")
