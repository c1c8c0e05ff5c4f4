"""Writing an artifact: a mechanism as a JSON file for people and for `linred.load`. It contains data, never code.

The file contains P(S, X) and is confidential, for its owner only. Its SHA-256 covers the content, not the bytes. It
detects damage, not forgery: whoever can change the file can change the digest too.

Pairs (s, x) that are not among `moves` are kept if the fit saw them, and drawn from table 0 otherwise. Numbers are
written with the shortest digits that read back as the same double.
"""

import hashlib
import json
import math

import numpy as np

from linred._common.atomic_file import atomic_writer
from linred._version import __version__
from linred.columns import labels
from linred.mechanism.artifact_target import finite, target_content
from linred.mechanism.leakage_given_x import sampled_above

FORMAT, VERSION = "linred mechanism", 3
SCHEME_BY_NUMBER = 1
"""How draws are addressed by record number (`linred.sampling.keystream`). A faster scheme gets a new number, and a
mechanism keeps drawing by the one in its artifact. Draws by id have one scheme, which never changes under a key."""
CONFIDENTIAL = (
    "This file holds P(S, X), the joint distribution of the sensitive and the public column. Do not publish it."
)


def save(mechanism, path, force=False):
    """Write `path`, readable by its owner only. An existing file is kept unless `force`. See `Mechanism.save`."""
    content = _content(mechanism)
    text = _lines({**content, "sha256": digest(content)}) + "\n"
    with atomic_writer(path, force=force, private=True) as file:
        file.write(text.encode())


def digest(content):
    plain = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(plain.encode()).hexdigest()


def table_digest(mechanism):
    """Return the SHA-256 of the integers that are sampled from."""
    kernel = mechanism.sampler().kernel
    digest = hashlib.sha256(mechanism.sampler().first_stage.encode())
    for array in (kernel.rows, kernel.cells):
        for field in array.dtype.names:
            digest.update(array[field].astype("<u8").tobytes())
    if kernel.limits is not None:
        digest.update(kernel.limits.astype("<u8").tobytes())
    return digest.hexdigest()


def _lines(value, indent=""):
    """Return JSON with one entry on each line, except for objects and lists that fit on one line."""
    short = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(indent) + len(short) <= 110 or not isinstance(value, dict | list):
        return short
    deeper = indent + "  "
    if isinstance(value, dict):
        entries = (f"{json.dumps(key, ensure_ascii=False)}: {_lines(one, deeper)}" for key, one in value.items())
        opening, closing = "{}"
    else:
        entries = (_lines(one, deeper) for one in value)
        opening, closing = "[]"
    return opening + "\n" + ",\n".join(deeper + entry for entry in entries) + "\n" + indent + closing


def summary(mechanism):
    """Return the figures and the origin of a mechanism as JSON values, without P(S, X) and without its alphabets."""
    return {
        "made": {
            "name": mechanism.name,
            "sees_s": mechanism.sees_s,
            "alpha": mechanism.alpha,
            "target": target_content(mechanism.target),
            "gap": mechanism.gap,
        },
        "id": mechanism.id,
        "fitted": _fitted_content(mechanism.fitted),
        "n_records": mechanism.joint.n_records,
        "figures": _figures(mechanism),
        "certified": None if mechanism.certified is None else _certified_content(mechanism.certified),
        "design": None if mechanism.design is None else _design_content(mechanism.design, mechanism.joint),
    }


def _content(mechanism):
    joint, what = mechanism.joint, "probability" if mechanism.whole is None else "weight"
    return {
        "format": FORMAT,
        "version": VERSION,
        "confidential": CONFIDENTIAL,
        "written_by": f"linred {__version__}",
        **summary(mechanism),
        "s_labels": labels.to_json("s_labels", joint.s_labels),
        "x_labels": labels.to_json("x_labels", joint.x_labels),
        "joint": _joint_content(joint),
        "in_whole_numbers": mechanism.whole is not None,
        "moves": _moves(mechanism),
        "moves_are": f"[s, x, {what} of keeping x, of drawing anew, table drawn from]; s, x, y count from 0",
        "tables": _tables(mechanism),
        "tables_are": f"[y, {what}] pairs",
        "scheme_by_number": SCHEME_BY_NUMBER,
        "released": None if mechanism.releases_reduction else _joint_content(mechanism.released),
        "distortion": None if mechanism.distortion is None else mechanism.distortion.tolist(),
        "tables_sha256": table_digest(mechanism),
    }


def _figures(mechanism):
    """Return the figures for human readers. `linred.load` ignores them."""
    report, certificate = mechanism.report(), mechanism.sampler().certificate()
    return {
        "unit": "nats",
        "before": finite(report.before.as_dict()),
        "after": finite(report.after.as_dict()),
        "sampled_integers_at_most": finite(certificate.as_dict()),
        **finite({"ldp_given_x": sampled_above(mechanism)}),
        "reached": [finite(one._asdict()) for one in certificate.reached],
        "utility": report.utility._asdict(),
        **{f"changed_by_{by}": _changed(mechanism, by) for by in ("s", "x")},
    }


def _changed(mechanism, by):
    """Return the share of changed records of each label of S or of X, None if no record has it."""
    return [None if math.isnan(share) else share for share in mechanism.changed(by).tolist()]


def _certified_content(certified):
    """Return the certified figures. Plug-in figures are among `figures` and are computed again when loaded."""
    about = {name: getattr(certified, name) for name in ("confidence", "basis", "n_records", "together", "because")}
    return {**finite(certified.as_dict()), **about, "ceiling": finite(certified.ceiling.as_dict())}


def _design_content(design, joint):
    """Return the fields of a `Design`, with labels replaced by their positions."""
    places = {
        side: [labels.index(label) for label in getattr(design, side)]
        for side, labels in (("redrawn_s", joint.s_labels), ("redrawn_x", joint.x_labels))
    }
    return {**vars(design), **places}


def _fitted_content(fitted):
    if fitted is None:
        return None
    content = fitted._asdict()
    for side in ("sensitive", "public"):
        content[side] = [{**part._asdict(), "edges": list(part.edges)} for part in content[side]]
    return {**content, "leaks": [leak._asdict() for leak in fitted.leaks]}


def _joint_content(joint):
    """Return what the Joint was made from. Marginals are stored, because sums may round differently elsewhere."""
    given = {joint.given_as: getattr(joint, joint.given_as).tolist()}
    return given if joint.given_as == "counts" else {"p_s": joint.p_s.tolist(), "p_x": joint.p_x.tolist(), **given}


def _moves(mechanism):
    """Return [s, x, keep, move, table] of the pairs that differ from the default.

    s is None if the mechanism does not use S when sampling. In a mechanism in whole numbers, keep and move are too.
    """
    keep, move, table_of = mechanism.keep, mechanism.move, mechanism.table_of
    if mechanism.whole is not None:
        keep, move = mechanism.whole.keep, mechanism.whole.total - mechanism.whole.keep
    keep, move, table_of = (part if mechanism.sees_s else part[:1] for part in (keep, move, table_of))
    usual = [part if mechanism.sees_s else part[:1] for part in rows_by_default(mechanism.joint, mechanism.sees_s)]
    differs = (keep != usual[0]) | (move != usual[1]) | (table_of != usual[2])
    return [
        [s if mechanism.sees_s else None, x, keep[s, x].item(), move[s, x].item(), table_of[s, x].item()]
        for s, x in np.argwhere(differs).tolist()
    ]


def rows_by_default(joint, sees_s):
    """Return keep, move and table_of of a mechanism that keeps the pairs that the fit saw and resamples all others."""
    unseen = joint.unseen if sees_s else np.broadcast_to(joint.p_x == 0.0, joint.shape)
    return 1.0 - unseen, unseen.astype(np.float64), np.zeros(joint.shape, np.int32)


def _tables(mechanism):
    tables, whole = mechanism.tables, mechanism.whole
    weights = tables.probability if whole is None else whole.weight
    pairs = [list(pair) for pair in zip(tables.y.tolist(), weights.tolist(), strict=True)]
    return [pairs[begin:end] for begin, end in zip(tables.indptr[:-1], tables.indptr[1:], strict=True)]
