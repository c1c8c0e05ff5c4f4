"""The changed records of the tables of targets, to their printed digits: by independent programmes, and by `linred`.

Every entry is a `Case`: the limits as `support.target_programmes` takes them, the same as keywords of `linred.optimal`,
and the printed percentage.
"""

from typing import NamedTuple

import numpy as np
import pytest

import linred
from support import adult_tables
from support.joints import adult, counts
from support.target_programmes import INF, fewest_changes, figures


def sex():
    return counts("adult_sex_occupation")


def flights():
    return counts("flights_carrier_dest")


def marital_and_sex():
    return adult_tables.by_columns("marital_status", "sex")


def three_columns():
    return adult_tables.by_columns("marital_status", "sex", "race")


class Case(NamedTuple):
    joint: object
    printed: str
    oracle: object  # limits, or a function of the Joint that returns them
    library: object  # the same as keywords of `linred.optimal`
    marks: tuple = ()  # of the oracle alone

    def limits(self, of):
        limits = getattr(self, of)
        return limits(self.joint()) if callable(limits) else limits

    def param(self, of):
        marks = () if of == "library" else self.marks
        shown = self.library if isinstance(self.library, dict) else {}
        name = " ".join(f"{limit}={shown[limit]}" for limit in shown if np.isscalar(shown[limit]))
        return pytest.param(self, id=f"{self.joint.__name__} {self.printed} {name}", marks=marks)


def same(joint, printed, **limits):
    return Case(joint, printed, limits, limits)


def one_sided(joint, a, *printed):
    """Return the cases of limits on lifts: equal on both sides, twice as far below, and above alone."""
    lower = ({"min_lift": a}, {"min_lift": 2 * a}, {})
    return [same(joint, share, max_lift=a, **below) for share, below in zip(printed, lower, strict=True)]


def knows_x(joint, ldp, *printed):
    limits = (0.0, 0.5, 1.0, 2.0, 4.0, INF)
    return [same(joint, share, ldp=ldp, given_x=limit) for share, limit in zip(printed, limits, strict=True)]


def per_group(ldp, **printed):
    shares = {name: int(name.removeprefix("d")) / 100 for name in printed}
    return [same(adult, printed[name], ldp=ldp, max_changed_by_s=share) for name, share in shares.items()]


def secrets(*places):
    """Return a function of a Joint: each of these tuples of columns of S is a secret, at LDP 1."""
    return lambda joint: {"secrets": [(adult_tables.column_codes(joint, *of), 1.0) for of in places]}


def nobody_is_divorced_or_separated(joint):
    pairs = np.full((joint.shape[0],) * 2, INF)
    pairs[np.isin(list(joint.s_labels), ["Divorced", "Separated"])] = 1.0
    np.fill_diagonal(pairs, 0.0)
    return {"pairs": pairs}


def by_distance(joint):
    bins = np.arange(joint.shape[0])
    return {"pairs": 0.5 * np.abs(bins[:, None] - bins)}


def hamming(joint):
    pairs = np.where(adult_tables.hamming_neighbors(joint), 1.0, INF)
    np.fill_diagonal(pairs, 0.0)
    return {"pairs": pairs}


LONG = (pytest.mark.long,)
EACH, EACH_PAIR = ((0,), (1,), (2,)), ((0, 1), (0, 2), (1, 2))
CASES = [
    # Lifts, one or both sides (section 1).
    *one_sided(adult, 0.25, "5.9", "3.9", "3.9"),
    *one_sided(adult, 0.5, "1.75", ".53", ".53"),
    *one_sided(adult, 1.0, ".086", ".085", ".084"),
    *one_sided(sex, 0.5, "6.95", "3.30", "3.30"),
    *one_sided(sex, 0.7, "5.01", "1.11", ".37"),
    *one_sided(sex, 1.0, "2.75", ".041", ".041"),
    *one_sided(flights, 1.0, "28.4", "24.9", "24.1"),
    # Pairs and secrets (section 2).
    same(marital_and_sex, "5.76", ldp=1.0),
    Case(marital_and_sex, "3.96", hamming, {"dp": 1.0, "neighbors": "hamming"}),
    Case(marital_and_sex, "3.96", hamming, hamming),
    Case(marital_and_sex, "4.46", secrets((0,), (1,)), {"ldp": 1.0, "secrets": "each"}),
    Case(marital_and_sex, "4.46", secrets((0,), (1,)), {"secrets": {(0,): 1.0, (1,): 1.0}}),
    Case(three_columns, "6.81", {"ldp": 1.0}, {"ldp": 1.0}, marks=LONG),
    Case(three_columns, "4.46", secrets(*EACH), {"ldp": 1.0, "secrets": "each"}),
    Case(three_columns, "5.78", secrets(*EACH, *EACH_PAIR), {"ldp": 1.0, "secrets": [*EACH, *EACH_PAIR]}, marks=LONG),
    same(adult_tables.by_age, "5.39", ldp=0.5),
    Case(adult_tables.by_age, "1.62", by_distance, by_distance),
    Case(adult, ".32", nobody_is_divorced_or_separated, nobody_is_divorced_or_separated),
    same(adult, ".84", ldp=1.0),
    # Somebody who knows x (section 3).
    *knows_x(adult, 1.0, "5.79", "3.59", "2.46", "1.43", ".91", ".84"),
    *knows_x(adult, 0.5, "22.8", "13.7", "9.7", "6.6", "5.4", "5.2"),
    *knows_x(sex, 1.0, "6.87", "5.86", "5.30", "4.75", "4.50", "4.46"),
    same(adult, "5.79", ldp=1.0, sees_s=False),
    same(sex, "6.87", ldp=1.0, sees_s=False),
    # The price of P_Y = P_X (section 11).
    same(adult, ".762", ldp=1.0, keep_marginal=False),
    same(sex, "2.93", ldp=1.0, keep_marginal=False),
    # No group changes by more than a share (section 13).
    *per_group(1.0, d8=".84", d5="1.55", d3="2.29"),
    *per_group(0.5, d15="5.81", d10="8.59"),
]


def as_printed(share, printed):
    """Return a share as a percentage with the digits, and without the leading zero, of a printed one."""
    text = f"{100.0 * share:.{len(printed.partition('.')[2])}f}"
    return text.removeprefix("0") if printed.startswith(".") else text


@pytest.mark.parametrize("case", [case.param("oracle") for case in CASES])
def test_by_independent_programmes(case):
    joint, limits = case.joint(), case.limits("oracle")
    cost, k = fewest_changes(joint.p_sx, **limits)
    assert as_printed(cost, case.printed) == case.printed
    reached = figures(joint.p_sx, k, [codes for codes, _ in limits.get("secrets", ())])
    assert reached.changed == pytest.approx(cost, abs=1e-9)
    for name in ("ldp", "max_lift", "min_lift", "given_x"):
        assert getattr(reached, name) <= limits.get(name, INF) + 1e-6, name
    assert (reached.pairs <= limits.get("pairs", INF) + 1e-6).all()
    assert all(figure <= 1.0 + 1e-6 for figure in reached.secrets)
    assert reached.changed_by_s.max() <= limits.get("max_changed_by_s", 1.0) + 1e-7


@pytest.mark.parametrize("case", [case.param("library") for case in CASES])
def test_by_linred(case):
    mechanism = linred.optimal(case.joint(), **case.limits("library"))
    assert as_printed(mechanism.dtv(), case.printed) == case.printed
    assert mechanism.gap < 1e-7


@pytest.mark.parametrize(("ldp", "share"), [(1.0, 0.02), (0.5, 0.08)])
def test_groups_that_cannot_change_so_little(ldp, share):
    assert fewest_changes(adult().p_sx, ldp=ldp, max_changed_by_s=share)[0] == INF


@pytest.mark.parametrize(("ldp", "share"), [(1.0, 0.02), (0.5, 0.08)])
def test_linred_refuses_groups_that_cannot_change_so_little(ldp, share):
    with pytest.raises(linred.CannotMeetError, match="max_changed_by_s"):
        linred.optimal(adult(), ldp=ldp, max_changed_by_s=share)


def test_ldp_zero_costs_the_distance_from_independence():
    """Section 4: E TV(P_{X|S}, P_X), which is Proposition 1 at alpha = 1."""
    joint = adult()
    price = 0.5 * joint.p_s @ np.abs(joint.p_x_given_s - joint.p_x).sum(axis=1)
    assert as_printed(price, "13.4") == "13.4"
    assert fewest_changes(joint.p_sx, ldp=0.0)[0] == pytest.approx(price, abs=1e-9)
    assert linred.optimal(joint, ldp=1e-12).dtv() == pytest.approx(price, abs=1e-9)


def test_linred_pays_no_more_at_ldp_zero():
    mechanism = linred.optimal(adult(), ldp=0.0)
    assert as_printed(mechanism.dtv(), "13.4") == "13.4"
    assert mechanism.sampler().certificate().ldp == 0.0


BORNE = {"Divorced": ".1", "Never-married": ".3", "Married-civ-spouse": ".7", "Separated": "3.8", "Widowed": "7.5"}


@pytest.mark.parametrize("maker", ["oracle", "linred"])
def test_who_bears_the_changes(maker):
    """Section 13. The percentages follow from the optimum, which is unique in them."""
    joint = adult()
    mechanism = linred.optimal(joint, ldp=1.0)
    k = fewest_changes(joint.p_sx, ldp=1.0)[1] if maker == "oracle" else mechanism.p_y_given_sx
    by_s = dict(zip(joint.s_labels, figures(joint.p_sx, k).changed_by_s, strict=True))
    assert {name: as_printed(by_s[name], printed) for name, printed in BORNE.items()} == BORNE


def test_linred_says_who_bears_the_changes():
    joint = adult()
    by_s = dict(zip(joint.s_labels, linred.optimal(joint, ldp=1.0).changed(by="s"), strict=True))
    assert {name: as_printed(by_s[name], printed) for name, printed in BORNE.items()} == BORNE
