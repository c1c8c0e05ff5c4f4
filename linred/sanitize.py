"""Columns in, a column of the same kind out: what `mechanism.sanitize` does."""

from typing import NamedTuple

import numpy as np

from linred import _counting, decode, keystream, records


class Counts(NamedTuple):
    """What happened to the records of one call. It is about the input: do not publish it with the output."""

    n_records: int
    n_changed: int
    n_unseen_values: int  # a value outside the alphabets: drawn from P_Y or missing, as `unseen` says
    n_unseen_pairs: int  # drawn from P_Y: known values that the fit never saw together; without s, x that it never saw
    private: bool  # False where a seed was given: who guesses it can undo the draw


def sanitize(mechanism, s, x, unseen, *, key, seed, ids, **how):
    """(column, counts), where counts() is the `Counts`; see `Mechanism.sanitize`."""
    if not isinstance(unseen, str) or unseen not in ("error", "marginal", "null"):
        raise ValueError(f"unseen = {unseen!r} is not 'error', 'marginal' or 'null'")
    labels = mechanism.joint.x_labels
    s_codes, x_codes, unknown = _known_codes(mechanism, s, x, unseen)
    decoded = decode.decoder("x", x, (*labels, None) if unseen == "null" else labels)
    private = seed is None
    if key is None and seed is None and ids is None:
        key = keystream.secret()  # one for both draws below: each record uses one of them
    how |= {"key": key, "seed": seed, "ids": ids}
    y_codes = mechanism.sampler().sample(s_codes, x_codes, **how)
    if unknown is not None:
        drawn = mechanism._marginal_sampler.sample(None, x_codes, **how) if unseen == "marginal" else len(labels)
        y_codes = np.where(unknown, drawn, y_codes.astype(np.int64))

    def counts():
        n_unknown = 0 if unknown is None else int(unknown.sum())
        changed = y_codes != x_codes if unknown is None else (y_codes != x_codes) | unknown
        n_pairs = _n_unseen_pairs(mechanism, s_codes, x_codes, unknown)
        return Counts(x_codes.size, int(changed.sum()), n_unknown, n_pairs, private)

    return decoded(y_codes), counts


def _known_codes(mechanism, s, x, unseen):
    """(s_codes or None, x_codes, mask of the records with a value outside the alphabets or None); codes are 0 there."""
    joint = mechanism.joint
    if s is None and mechanism.sees_s:
        raise ValueError("s is None: this mechanism draws by s")
    x_codes, s_codes = records.places("x", x, joint.x_labels), None
    unknown = _unknown("x", x, x_codes, len(joint.x_labels), unseen)
    if mechanism.sees_s:
        s_codes = records.places("s", s, joint.s_labels)
        if s_codes.size != x_codes.size:
            raise ValueError(f"s has {s_codes.size} records and x has {x_codes.size}")
        unknown_s = _unknown("s", s, s_codes, len(joint.s_labels), unseen)
        unknown = unknown_s if unknown is None else unknown if unknown_s is None else unknown | unknown_s
    if unknown is not None:
        x_codes = np.where(unknown, 0, x_codes)
        s_codes = None if s_codes is None else np.where(unknown, 0, s_codes)
    return s_codes, x_codes, unknown


def _unknown(name, column, codes, n_labels, unseen):
    """The mask of codes that stand for no label; None where there are none."""
    mask = codes == n_labels
    if not mask.any():
        return None
    if unseen == "error":
        record = int(np.argmax(mask))
        value = records.value_at(name, column, record)
        raise ValueError(
            f"{name}[{record}] = {value!r} is not in the mechanism's alphabet: unseen= says what to do then"
        )
    return mask


def _n_unseen_pairs(mechanism, s_codes, x_codes, unknown):
    joint = mechanism.joint
    if s_codes is None:
        counts, never = np.bincount(x_codes, minlength=joint.shape[1]), joint.p_x == 0.0
    else:
        counts, never = _counting.count_pairs(s_codes, x_codes, *joint.shape), joint._unseen
    of_unknown = 0 if unknown is None else int(unknown.sum()) * int(never.flat[0])  # they stand as (0, 0)
    return int(counts[never].sum()) - of_unknown
