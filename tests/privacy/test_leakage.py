"""`Leakage`: one record of the six figures for reports, certificates and audits."""

import math

import linred
from linred.assurance.audit import Audit
from linred.mechanism.provenance import Certified
from linred.privacy import metrics
from linred.privacy.leakage import FIGURES, Leakage, unit_of
from linred.sampling.exact_certificate import Certificate
from support.joints import example_1


def test_figures_are_the_measures_in_order():
    leakage = Leakage.of(example_1(), 2)
    assert list(leakage) == [getattr(metrics, name)(example_1(), 2) for name in FIGURES]
    assert leakage.as_dict() == dict(zip(FIGURES, leakage, strict=True))
    assert leakage.log_lift == max(leakage.max_lift, leakage.min_lift)


def test_whoever_states_them_says_how_they_are_rounded():
    assert [kind.rounding for kind in (Leakage, Certificate, Certified, Audit)] == ["nearest", "up", "up", "down"]
    certificate = linred.markov(example_1(), 0.5).sampler().certificate()
    assert isinstance(certificate, Leakage)
    assert certificate.figures == Leakage(*certificate)
    assert len(list(certificate)) == len(FIGURES)


def test_the_log_lift_is_the_larger_lift():
    assert Leakage.from_lifts(1.0, 0.2, 0.3, 0.1, 0.2) == Leakage(1.0, 0.3, 0.2, 0.3, 0.1, 0.2)
    assert Leakage.all_equal(0.5).changed_by(lambda figure: 2 * figure) == Leakage.all_equal(1.0)


def test_units():
    assert [unit_of(base) for base in (math.e, 2, 10, 3)] == ["nats", "bits", "bans", "log base 3"]
