"""The opening of every report: the promise, what weakens it, and its price. Text reports and the page share it.

Nothing may stand above the promise. It names the unit (one record), what the attacker sees (Y alone) and knows, and
whether the figure is certified or a plug-in estimate. Functions take the `Subject` of the report.
"""

import math
from typing import NamedTuple

import numpy as np

from linred.columns.schema import names
from linred.design import equal_rows
from linred.privacy import comparisons, metrics
from linred.privacy.leakage import FIGURES
from linred.report import limits, numbers

FEW, MOST_SPARSE = 20, 0.05
"""Combinations of s and x seen fewer than FEW times are sparse. If more than this share of the records is in them,
reports lead with that fact, because plug-in figures are then no evidence."""

FEWEST_VALUES, RECORDS_A_VALUE = 20, 2
"""A fit warns of a column with at least this many values and fewer than this many records a value on average."""

ALMOST_NOTHING = 1e-9
"""Share of records that makes no difference."""

MOST_SECRETS = 4
"""Largest number of secrets that a sentence names."""

OPENING = {
    "certified": "Certified at {level} confidence: ",
    "plug-in": "Plug-in estimate, not a guarantee: if the population is distributed as the fitted data, ",
    "given": "If P(S, X) is exactly as given, ",
}
ATTACKER = "someone who knows the mechanism and P(S, X), and sees only {y} of one record, "
POWER = {
    "finite": "can {does} by a factor of at most {factor} ({name} at most {bound} nats; without protection: {before}).",
    "nothing": "learns nothing about {of} ({name} is 0; without protection: {before}).",
    "everything": "may be able to rule out {a_value} ({name} has no finite bound).",
}


class Power(NamedTuple):
    """What a promise is about: the attacker does this by a factor, learns nothing of that, or may rule a value out."""

    does: str
    of: str = "{s}"
    a_value: str = "a value of {s}"
    gap: str = ""  # what the measure leaves open


POWERS = {
    "ldp": Power("shift the odds between any two values of {s}"),
    "log_lift": Power("raise or lower the probability of any value of {s}, compared with P(S),"),
    "max_lift": Power(
        "raise the probability of any value of {s}, compared with P(S),",
        gap=" The target sets no limit on how far the probability of a value of S can fall.",
    ),
    "min_lift": Power(
        "lower the probability of any value of {s}, compared with P(S),",
        gap=" The target sets no limit on how far the probability of a value of S can rise.",
    ),
    "dp": Power(
        "shift the odds between any two neighbouring values of {s}",
        "which of two neighbouring values of {s} it is",
        "one of two neighbouring values of {s}",
    ),
    "pairs": Power("raise the odds of one value of {s} against another, where this pair has the limit L,"),
    "secrets": Power("shift the odds between any two values of {secrets}", "{secrets}", "a value of {secrets}"),
}
"""The measures that a promise may be about, the strongest first: it is about the first that the target limits."""

NAMES = limits.WORDS | {"secrets": "LDP"}
BOUNDS_LDP = ("ldp", "log_lift")
NO_LIMIT = {
    "finite": " The target sets no limit on the LDP of S, which is at most {bound} nats.",
    "nothing": " The LDP of S is 0.",
    "everything": " The target sets no limit on the LDP of S, which is infinite: Y may rule out values of S.",
}
"""What the promise says of LDP if it is about a measure that is not in BOUNDS_LDP."""

ALSO_KNOWS_X = {
    "finite": " Someone who already knows X can shift the odds between any two values of S by a factor of at most "
    "{factor} ({name} at most {bound} nats).",
    "nothing": " Someone who already knows X learns nothing more about S from Y ({name} is 0).",
    "everything": " Someone who already knows X may rule out values of S ({name} is infinite).",
}
KNOWS_X = {
    "finite": "An attacker who already knows X can shift the odds between the values of S that the fit saw with this "
    "value of X by a factor of at most {factor} ({name} at most {bound} nats), because this mechanism uses S when it "
    "samples.",
    "everything": "An attacker who already knows X may rule out values of S from Y, because this mechanism uses S when "
    "it samples ({name} is infinite).",
}
"""What Y reveals to an attacker who knows X: part of the promise if the target limits it, otherwise a weakness."""

PRICE = "Changed records (expected): {share}"
DISTORTION = "; expected distortion: {cost}"
INDEPENDENT = {
    "certified": "Y is drawn independently of S and X: only then is LDP 0 for every P(S, X). For the fitted P(S, X) "
    "alone, without a confidence level, {share} of the records would change.",
    "possible": "Y is drawn independently of S and X. A mechanism that uses S and has no limit for someone who knows X "
    "can have an LDP of 0 and change {share} of the records.",
    "too large": "Y is drawn independently of S and X: a mechanism that changes fewer records and has an LDP of "
    "exactly 0 needs P(S, X) in whole numbers, such as counts, with products below 2^63.",
}
"""Why a mechanism with an LDP of 0 changes so many records."""
SPARSE = (
    "{share} of the fitted records are in (S, X) combinations seen fewer than {few} times: plug-in estimates are no "
    "evidence there, and {certified}. Use coarser bins or fewer columns{more}."
)
UNCERTIFIED = (
    "No figure is certified: the leakage in the population may be higher than estimated. Fit with a confidence level "
    "(--confidence) to certify a target."
)
NOT_CERTIFIABLE = (
    "No figure is certified: the leakage in the population may be higher than estimated. A confidence level "
    "(--confidence) can certify limits of LDP and of lifts only."
)
GIVEN = "P(S, X) was given, not estimated from records: the figures hold for no other distribution."
SECRETS = (
    "The limits of secrets assume that an attacker who is told the value of a secret knows no more about S than its "
    "distribution in the fit, P(S|secret)."
)
SEED = "The release was drawn with a seed: anyone who guesses the seed can undo the draws. Use a key instead."
RELEASES_S = "The release contains sensitive columns unchanged: {columns}. It does not protect them."
BESIDE_Y = "Columns published beside Y are not covered, alone or combined with Y: {columns}."
NO_RELEASE = "Columns published beside Y are not covered. This report describes no release, so it cannot name them."
TELLING = "Each of these columns reveals more about S than Y does: {columns}."


def promise(subject, name=str, strong="{}", exponential="e^{}"):
    """Return the promise: on the strongest limit, then on LDP and on someone who knows X, where the target needs it.

    name, strong, exponential : a function and formats for column names, the factor and powers of e; the page escapes
        and marks them.
    """
    measure, certified, fitted = measure_of(subject), subject.mechanism.certified, subject.mechanism.fitted
    s, y = "S", "Y"
    if fitted is not None:
        s, y = (" and ".join(map(name, names(side))) for side in (fitted.sensitive, fitted.public))
        s, y = f"{s} (S)", f"the published {y} (Y)"
    bound, before = bound_of(subject, measure), _unprotected(subject.mechanism, measure)
    factor = _of_a_pair if measure == "pairs" else numbers.factor
    power = {
        word: text.format(s=s, secrets=_secrets(subject, name)) for word, text in POWERS[measure]._asdict().items()
    }
    said = OPENING[basis(subject.mechanism, measure)] + ATTACKER + POWER[_case(bound, measure)]
    said = said.format(
        level="" if certified is None else numbers.level(certified.confidence),
        y=y,
        **power,
        name=NAMES[measure],
        bound=numbers.figure(bound, "up"),
        before="infinite" if before == math.inf else f"{numbers.figure(before)} nats",
        factor="" if bound == math.inf else strong.format(factor(bound, exponential)),
    )
    said += power["gap"] + ("" if measure in BOUNDS_LDP else _stated(NO_LIMIT, subject.bounds.ldp))
    return said + (_stated(ALSO_KNOWS_X, subject.ldp_given_x, exponential) if "given_x" in subject.limited else "")


def measure_of(subject):
    """Return the measure that the promise is about: the strongest with a limit, LDP if none has any."""
    both_sides = {"log_lift"} if {"max_lift", "min_lift"} <= subject.limited else set()
    return next((measure for measure in POWERS if measure in subject.limited | both_sides), "ldp")


def bound_of(subject, measure):
    """Return the upper bound that the promise states."""
    if measure in FIGURES:
        return getattr(subject.bounds, measure)
    return _largest(subject.reached, measure)


def basis(mechanism, measure="ldp"):
    """Return "certified", "plug-in" or "given": what the figures of the promise rest on."""
    if mechanism.certified is not None and measure in FIGURES:
        return "certified"
    return "given" if mechanism.joint.n_records is None else "plug-in"


def _case(bound, measure="ldp"):
    """Return which text applies; a pair without excess over its limit still has the limit."""
    if bound == 0.0 and measure != "pairs":
        return "nothing"
    return "everything" if bound == math.inf else "finite"


def _of_a_pair(excess, exponential):
    """Return the factor of a pair that is above its limit by an excess in nats."""
    return exponential.format(f"(L + {numbers.figure(excess, 'up')})" if excess else "L")


def _unprotected(mechanism, measure):
    """Return the measure of the joint distribution of S and X."""
    joint = mechanism.joint
    if measure in FIGURES:
        return getattr(metrics, measure)(joint)
    compared = comparisons.comparisons(mechanism.target, joint.p_s, joint.p_x_given_s, joint.p_x)
    return _largest(comparisons.reached(compared), measure)


def _largest(reached, measure):
    return max([0.0, *(one.figure for one in reached if one.name == measure)])


def _secrets(subject, name):
    """Return the names of all secrets of the target that have a limit, in one phrase."""
    places = [one.place for one in subject.reached if one.name == "secrets"]
    if len(places) > MOST_SECRETS:
        return f"each of the {len(places)} secrets"
    return " or ".join(subject.secret(place, name) for place in places)


def _stated(texts, bound, exponential="e^{}"):
    """Return the text for an upper bound."""
    factor = "" if bound == math.inf else numbers.factor(bound, exponential)
    return texts[_case(bound)].format(factor=factor, bound=numbers.figure(bound, "up"), name=NAMES["given_x"])


def weaknesses(subject, name=str, exponential="e^{}"):
    """Yield what weakens the promise, a sentence or two each, the most important first."""
    mechanism, published = subject.mechanism, subject.published
    sensitive = () if mechanism.fitted is None else names(mechanism.fitted.sensitive)
    yield from _naming(RELEASES_S, [column for column in published or () if column in sensitive], name)
    if (sparse := sparse_share(mechanism)) > MOST_SPARSE:
        yield _sparse(subject, sparse)
    elif mechanism.certified is None:
        uncertified = UNCERTIFIED if _is_certifiable(subject) else NOT_CERTIFIABLE
        yield GIVEN if mechanism.joint.n_records is None else uncertified
    if "secrets" in subject.limited:
        yield SECRETS
    yield from _other_columns(mechanism, published, name)
    if subject.ldp_given_x > 0.0 and "given_x" not in subject.limited:
        yield _stated(KNOWS_X, subject.ldp_given_x, exponential)
    if subject.seeded:
        yield SEED


def sparse_share(mechanism):
    """Return the share of the fitted records in combinations (s, x) seen fewer than FEW times; 0 without counts."""
    counts = mechanism.joint.counts
    return 0.0 if counts is None else float(counts[counts < FEW].sum() / counts.sum())


def _is_certifiable(subject):
    return subject.limited <= FIGURES.keys()


def _sparse(subject, sparse):
    certified = subject.mechanism.certified
    measure = measure_of(subject) if measure_of(subject) in FIGURES else "ldp"
    said = "no figure is certified"
    more = ", or fit with a confidence level (--confidence)" * _is_certifiable(subject)
    if certified is not None:
        bound, more = numbers.figure(getattr(certified, measure), "up"), ""
        said = f"only the certified figure counts ({FIGURES[measure]} at most {bound} nats)"
    return SPARSE.format(share=numbers.share(sparse), few=FEW, certified=said, more=more)


def _other_columns(mechanism, published, name):
    fitted = mechanism.fitted
    sensitive, public = ((), ()) if fitted is None else (names(fitted.sensitive), names(fitted.public))
    leaks = () if fitted is None else fitted.telling(metrics.mutual_information(mechanism.released))
    telling = [leak.column for leak in leaks]
    if published is None:
        yield " ".join([NO_RELEASE, *_naming(TELLING, telling, name)])
        return
    others = [column for column in published if column not in (*sensitive, *public)]
    beside = _naming(BESIDE_Y, others, name)
    if beside:
        yield " ".join([*beside, *_naming(TELLING, [column for column in telling if column in others], name)])


def _naming(text, columns, name):
    return [text.format(columns=", ".join(map(name, columns)))] if columns else []


def price(subject, strong="{}"):
    """Return the expected share of changed records, their number if it is known, and the distortion if there is one."""
    mechanism, n = subject.mechanism, subject.n_records
    dtv, d = mechanism.dtv(), mechanism.distortion
    of_records = "" if n is None else f" ({dtv * n:,.0f} of {n:,})"
    cost = "" if d is None else DISTORTION.format(cost=numbers.figure(mechanism.expected_distortion(d)))
    return PRICE.format(share=strong.format(numbers.share(dtv)) + of_records) + cost


def why_independent(subject):
    """Yield the reason if LDP is 0 because Y is drawn independently of S and X, at more than the price of LDP 0."""
    mechanism = subject.mechanism
    if mechanism.whole is not None or mechanism.target is None or subject.certificate.ldp > 0.0:
        return
    share, dtv = equal_rows.price_of_independence(mechanism.joint), mechanism.dtv()
    if share is not None and share >= dtv - ALMOST_NOTHING:
        return
    case = "certified" if mechanism.certified is not None else "possible"
    yield INDEPENDENT["too large" if share is None else case].format(share=numbers.share(share or 0.0))


def sides_with_few_records(mechanism):
    """Yield (columns, number of values, number of records) for S and X if they have almost as many values as records.

    The plug-in figures of such a fit are no evidence, whatever they are.
    """
    joint, fitted = mechanism.joint, mechanism.fitted
    if joint.counts is None or fitted is None:
        return
    for side, p in (("sensitive", joint.p_s), ("public", joint.p_x)):
        n_values = int(np.count_nonzero(p))
        if n_values >= FEWEST_VALUES and RECORDS_A_VALUE * n_values > joint.n_records:
            yield names(getattr(fitted, side)), n_values, joint.n_records
