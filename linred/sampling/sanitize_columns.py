"""Sanitises columns of any kind: the work of `mechanism.sanitize`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linred._common import validation
from linred._kernels import counting
from linred.columns.adapters.base import ColumnAdapter
from linred.columns.adapters.kinds import adapter_of
from linred.errors import UnseenError
from linred.sampling import keystream


class Counts(NamedTuple):
    """Counts of what happened to the records of one call. They describe the input: do not publish them."""

    n_records: int
    n_changed: int  # records whose y differs from x, or is missing though x was not
    n_unseen_values: int  # records with a value outside the alphabets: drawn from P_Y or missing, by `unseen`
    n_unseen_pairs: int  # records with known values that the fit never saw together (without s: an x that it never saw)
    private: bool  # False if a seed was given, because anyone who guesses the seed can undo the draw

    def __add__(self, other: Counts) -> Counts:  # type: ignore[override]
        """Return the counts of two calls together."""
        sums = (a + b for a, b in zip(self[:-1], other[:-1], strict=True))
        return Counts._make([*sums, self.private and other.private])


class Drawn:
    """The sampled records as codes. With unseen="null", the code |X| is a missing value."""

    def __init__(self, mechanism, known, unseen, *, key, seed, ids, **how):
        self._joint, self._known, self._private = mechanism.joint, known, seed is None
        if key is None and seed is None and ids is None:
            key = keystream.secret()  # shared by the two draws below, because each record uses only one of them
            how["start"] = 0 if how.get("start") is None else how["start"]
        how |= {"key": key, "seed": seed, "ids": ids}
        self.y_codes = mechanism.sampler().sample(known.s_codes, known.x_codes, **how)
        if known.unknown is not None:
            missing = self._joint.shape[1]
            others = mechanism.marginal_sampler.sample(None, known.x_codes, **how) if unseen == "marginal" else missing
            self.y_codes = np.where(known.unknown, others, self.y_codes.astype(np.int64))

    def counts(self):
        """Return the `Counts` of the call."""
        _, s_codes, x_codes, unknown, x_as_given = self._known
        y_codes, labels = self.y_codes, self._joint.x_labels
        if unknown is not None and None in labels:  # give missing values one code
            y_codes = np.where(y_codes == len(labels), labels.index(None), y_codes)
        changed = y_codes != x_as_given
        n_unknown = 0 if unknown is None else int(unknown.sum())
        n_pairs = _n_unseen_pairs(self._joint, s_codes, x_codes, n_unknown)
        return Counts(changed.size, int(np.count_nonzero(changed)), n_unknown, n_pairs, self._private)


def sanitize(mechanism, s, x, unseen, **how):
    """Return (column, function that returns the `Counts`); see `Mechanism.sanitize`."""
    known, labels = _known_codes(mechanism, s, x, unseen), mechanism.joint.x_labels
    decode = known.x.decoder((*labels, None) if unseen == "null" else labels)
    drawn = Drawn(mechanism, known, unseen, **how)
    return decode(drawn.y_codes), drawn.counts


def draw(mechanism, s, x, unseen, **how):
    """Return `Drawn` for columns of records: as `sanitize`, but codes instead of a column."""
    return Drawn(mechanism, _known_codes(mechanism, s, x, unseen), unseen, **how)


def check_policy(unseen):
    """Check the argument `unseen` of `Mechanism.sanitize`."""
    if not isinstance(unseen, str) or unseen not in ("error", "marginal", "null"):
        raise ValueError(f"unseen = {validation.shortened(unseen)} is not 'error', 'marginal' or 'null'")


class _Known(NamedTuple):
    """Records as codes. `unknown` masks records with a value outside the alphabets (None if there are none); their
    codes are 0, except in `x_as_given`.
    """

    x: ColumnAdapter
    s_codes: np.ndarray | None
    x_codes: np.ndarray
    unknown: np.ndarray | None
    x_as_given: np.ndarray


def _known_codes(mechanism, s, x, unseen):
    check_policy(unseen)
    if s is None and mechanism.sees_s:
        raise ValueError("s is None: this mechanism uses S when sampling, so it needs the sensitive column")
    joint, x = mechanism.joint, adapter_of("x", x)
    x_codes, s_codes = joint.x_encoder.codes("x", x), None
    unknown = _unknown("x", x, joint.x_encoder, x_codes, unseen)
    if mechanism.sees_s:
        s = adapter_of("s", s)
        s_codes = joint.s_encoder.codes("s", s)
        if s_codes.size != x_codes.size:
            raise ValueError(f"s has {s_codes.size} records and x has {x_codes.size}")
        unknown_s = _unknown("s", s, joint.s_encoder, s_codes, unseen)
        unknown = unknown_s if unknown is None else unknown if unknown_s is None else unknown | unknown_s
    if unknown is None:
        return _Known(x, s_codes, x_codes, None, x_codes)
    s_codes = None if s_codes is None else np.where(unknown, 0, s_codes)
    return _Known(x, s_codes, np.where(unknown, 0, x_codes), unknown, _as_given(x, x_codes, joint.x_encoder))


def _as_given(x, x_codes, encoder):
    """Return the codes of x, with |X| for a missing value that is not a label and |X| + 1 for any other unknown."""
    n_labels = len(encoder.labels)
    if None not in encoder.labels:
        return encoder.with_missing.codes("x", x)
    return np.where(x_codes == n_labels, n_labels + 1, x_codes.astype(np.int64))


def _unknown(name, column, encoder, codes, unseen):
    """Return the mask of records whose value is not a label, or None if there are none; unseen="error" raises."""
    record = encoder.first_unknown(codes)
    if record is None:
        return None
    if unseen == "error":
        raise UnseenError(name, record, column.value_at(record))
    return codes == len(encoder.labels)


def _n_unseen_pairs(joint, s_codes, x_codes, n_unknown):
    never = joint.p_x == 0.0 if s_codes is None else joint.unseen
    if not never.any():
        return 0
    if s_codes is None:
        counts = np.bincount(x_codes, minlength=joint.shape[1])
    else:
        counts = counting.count_pairs(s_codes, x_codes, *joint.shape)
    return int(counts[never].sum()) - n_unknown * int(never.flat[0])  # unknown records have the codes (0, 0)
