"""The opening of every report: the promise, what weakens it, and its price. Text reports and the page share it.

Nothing may stand above the promise. It names the unit (one record), what the attacker sees (Y alone) and knows, and
whether the figure is certified or a plug-in estimate.
"""

import math

import numpy as np

from linred.columns.schema import names
from linred.privacy import metrics
from linred.privacy.leakage import FIGURES
from linred.report import numbers

FEW, MOST_SPARSE = 20, 0.05
"""Combinations of s and x seen fewer than FEW times are sparse. If more than this share of the records is in them,
reports lead with that fact, because plug-in figures are then no evidence."""

FEWEST_VALUES, RECORDS_A_VALUE = 20, 2
"""A fit warns of a column with at least this many values and fewer than this many records a value on average."""

OPENING = {
    "certified": "Certified at {level} confidence: ",
    "plug-in": "Plug-in estimate, not a guarantee: if the population is distributed as the fitted data, ",
    "given": "If P(S, X) is exactly as given, ",
}
ATTACKER = "someone who knows the mechanism and P(S, X), and sees only {y} of one record, "
POWER = {
    "ldp": "can shift the odds between any two values of {s} by a factor of at most {factor} ({name} at most {bound} "
    "nats; without protection: {before}).",
    "log_lift": "can raise or lower the probability of any value of {s}, compared with P(S), by a factor of at most "
    "{factor} ({name} at most {bound} nats; without protection: {before}).",
    "nothing": "learns nothing about {s} ({name} is 0; without protection: {before}).",
    "everything": "may be able to rule out a value of {s} ({name} has no finite bound).",
}
PRICE = "Changed records (expected): {share}"
SPARSE = (
    "{share} of the fitted records are in (S, X) combinations seen fewer than {few} times: plug-in estimates are no "
    "evidence there, and {certified}. Use coarser bins or fewer columns{more}."
)
UNCERTIFIED = (
    "No figure is certified: the leakage in the population may be higher than estimated. Fit with a confidence level "
    "(--confidence) to certify a target."
)
GIVEN = "P(S, X) was given, not estimated from records: the figures hold for no other distribution."
KNOWS_X = "An attacker who already knows X may learn S from Y, because this mechanism uses S when it samples."
SEED = "The release was drawn with a seed: anyone who guesses the seed can undo the draws. Use a key instead."
RELEASES_S = "The release contains sensitive columns unchanged: {columns}. It does not protect them."
BESIDE_Y = "Columns published beside Y are not covered, alone or combined with Y: {columns}."
NO_RELEASE = "Columns published beside Y are not covered. This report describes no release, so it cannot name them."
TELLING = "Each of these columns reveals more about S than Y does: {columns}."


def promise(mechanism, figures, name=str, strong="{}", exponential="e^{}"):
    """Return the promise as one sentence.

    figures : the upper bounds that it states. name, strong, exponential : a function and formats for column names, the
        factor and powers of e; the page escapes and marks them.
    """
    measure = measure_of(mechanism)
    bound = getattr(figures, measure)
    certified, fitted, s, y = mechanism.certified, mechanism.fitted, "S", "Y"
    if fitted is not None:
        s, y = (" and ".join(map(name, names(side))) for side in (fitted.sensitive, fitted.public))
        s, y = f"{s} (S)", f"the published {y} (Y)"
    case = {0.0: "nothing", math.inf: "everything"}.get(bound, measure)
    before = getattr(metrics, measure)(mechanism.joint)
    said = OPENING[basis(mechanism)] + ATTACKER + POWER[case]
    return said.format(
        level="" if certified is None else numbers.level(certified.confidence),
        y=y,
        s=s,
        name=FIGURES[measure],
        bound=numbers.figure(bound, "up"),
        before="infinite" if before == math.inf else f"{numbers.figure(before)} nats",
        factor="" if bound == math.inf else strong.format(numbers.factor(bound, exponential)),
    )


def measure_of(mechanism):
    """Return the figure that the promise is about: the log-lift if it alone has a limit, LDP otherwise."""
    target = mechanism.target
    return "log_lift" if target and target.log_lift < target.ldp == math.inf else "ldp"


def basis(mechanism):
    """Return "certified", "plug-in" or "given": what the figures of the promise rest on."""
    if mechanism.certified is not None:
        return "certified"
    return "given" if mechanism.joint.n_records is None else "plug-in"


def bounds(mechanism):
    """Return the upper bounds for the promise: certified if there are any, otherwise exact for the sampling tables."""
    return mechanism.certified or mechanism.sampler().certificate()


def weaknesses(mechanism, published=None, seeded=False, name=str):
    """Yield what weakens the promise, a sentence or two each, the most important first.

    published : names of all columns of the release, or None if no release is known.
    """
    sensitive = () if mechanism.fitted is None else names(mechanism.fitted.sensitive)
    yield from _naming(RELEASES_S, [column for column in published or () if column in sensitive], name)
    if (sparse := sparse_share(mechanism)) > MOST_SPARSE:
        yield _sparse(mechanism, sparse)
    elif mechanism.certified is None:
        yield GIVEN if mechanism.joint.n_records is None else UNCERTIFIED
    yield from _other_columns(mechanism, published, name)
    if mechanism.sees_s:
        yield KNOWS_X
    if seeded:
        yield SEED


def sparse_share(mechanism):
    """Return the share of the fitted records in combinations (s, x) seen fewer than FEW times; 0 without counts."""
    counts = mechanism.joint.counts
    return 0.0 if counts is None else float(counts[counts < FEW].sum() / counts.sum())


def _sparse(mechanism, sparse):
    certified, measure = mechanism.certified, measure_of(mechanism)
    said, more = "no figure is certified", ", or fit with a confidence level (--confidence)"
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


def price(mechanism, strong="{}"):
    """Return the expected share of changed records, and their number if it is known."""
    dtv, n = mechanism.dtv(), n_records(mechanism)
    of_records = "" if n is None else f" ({dtv * n:,.0f} of {n:,})"
    return PRICE.format(share=strong.format(numbers.share(dtv)) + of_records)


def n_records(mechanism):
    """Return the number of records of the fit, held-out ones included; None if P(S, X) was given."""
    design = mechanism.design
    return mechanism.joint.n_records if design is None else design.n_fitted + design.n_held_out


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
