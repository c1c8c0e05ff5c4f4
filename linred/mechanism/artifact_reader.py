"""Reading an artifact: `linred.load`. Nothing in the file is trusted or executed; errors do not show its content."""

from __future__ import annotations

import json
import math
import os
import re

import numpy as np

from linred._common import validation
from linred.columns import labels
from linred.columns.label_matrix import matrix_of
from linred.columns.schema import ColumnSpec, FitSchema, Leak, check_edges
from linred.distribution.joint import Joint
from linred.distribution.linear_reduction import linear_reduction
from linred.errors import ArtifactError
from linred.mechanism.artifact_target import loaded_target, number, target_content
from linred.mechanism.artifact_writer import FORMAT, SCHEME_BY_NUMBER, VERSION, digest, rows_by_default, table_digest
from linred.mechanism.mechanism import Mechanism, released_by
from linred.mechanism.provenance import FITTED, HELD_OUT, Certified, Design
from linred.mechanism.tables import Tables, Whole
from linred.privacy.leakage import FIGURES, Leakage
from linred.privacy.target import Target
from linred.sampling.sampled_probabilities import Realised

MOST_GAP, MOST_NATS = 1e300, 1000.0
"""Upper limits of the gap and of information figures, which no mechanism exceeds."""

RELEASED_SLACK, FORGED_SLACK = 1e-9, 1e-6
"""Accepted relative differences: between P(y|s) by the moves and the stored one, and between certified figures and
larger figures that they must cover."""
UNREADABLE = {
    FileNotFoundError: "no such file",
    IsADirectoryError: "is a directory, not a file",
    PermissionError: "no permission to read it",
}


def load(path: str | os.PathLike[str]) -> Mechanism:
    """Return the mechanism that `mechanism.save(path)` stored.

    Its tables hold the same integers, so the same key gives the same output. Nothing in the file is executed. Raises an
    `ArtifactError` if the file is not an artifact, is damaged, or was written by a later version of linred, and an
    OSError if it cannot be read.
    """
    try:
        with open(os.fspath(path), "rb") as file:
            raw = file.read()
    except tuple(UNREADABLE) as error:
        raise type(error)(f"{path}: {UNREADABLE[type(error)]}") from None
    try:
        content = _parsed(raw)
        mechanism = _mechanism(content)
        if table_digest(mechanism) != content["tables_sha256"]:
            raise ArtifactError("its tables give other integers than those that were stored: fit it again")
    except ArtifactError as error:
        raise ArtifactError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, RecursionError):
        # Their messages may contain labels or entries of P(S, X).
        raise ArtifactError(f"{path}: a field of it is missing or wrong: restore the file, or fit it again") from None
    return mechanism


def _parsed(raw):
    try:
        content = json.loads(raw.decode(), object_pairs_hook=_without_repeats, parse_constant=_refused)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise ArtifactError("it is not JSON, or was cut off: restore the file, or fit again") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ArtifactError("it is JSON, but not a linred mechanism: give a file that save() or linred fit wrote")
    version = content.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        later = type(version) is int and version > VERSION
        what = "a later linred wrote it: upgrade linred" if later else "fit the mechanism again"
        shown = validation.shortened(version)
        raise ArtifactError(f"its version is {shown} and this linred reads versions 1 to {VERSION}: {what}")
    if content.pop("sha256", None) != digest(content):
        raise ArtifactError("its content has changed since it was stored (SHA-256 differs): restore it, or fit again")
    for migrate in MIGRATIONS[version - 1 :]:
        content = migrate(content)
    return content


def _from_version_1(content):
    """Add the id and the scheme of draws, new in version 2, and replace the sentence for `basis` by its word.

    Version 1 named the mechanism of a fit with confidence "optimal", which it is not.
    """
    made = content["made"]
    if content["design"] is not None and made["name"] == "optimal":
        made = {**made, "name": "certified"}
    if content["certified"] is not None:
        basis = {"records that were not used for fitting": HELD_OUT, "the counts that it was fitted on": FITTED}
        content["certified"]["basis"] = basis.get(content["certified"]["basis"])
    return {**content, "made": made, "id": None, "scheme_by_number": 1}


def _from_version_2(content):
    """Add the limits that targets have since version 3; no mechanism was in whole numbers."""
    target = content["made"]["target"]
    if target is not None:
        target = target_content(Target()) | {name: target[name] for name in ("ldp", "log_lift")}
    return {**content, "made": {**content["made"], "target": target}, "in_whole_numbers": False}


MIGRATIONS = _from_version_1, _from_version_2
"""The function at position i converts content of version i + 1 to version i + 2."""


def _without_repeats(pairs):
    together = dict(pairs)
    if len(together) < len(pairs):
        raise ArtifactError("it contains the same name twice: restore the file, or fit again")
    return together


def _refused(constant):
    raise ArtifactError(f"it contains the number {constant}, which JSON does not allow")


def _mechanism(content):
    s_labels, x_labels = (labels.from_json(name, content[name]) for name in ("s_labels", "x_labels"))
    joint = _joint("joint", content["joint"], s_labels, x_labels)
    made, released = content["made"], content["released"]
    sees_s = validation.flag("sees_s", made["sees_s"])
    load_parts = _loaded_whole if validation.flag("in_whole_numbers", content["in_whole_numbers"]) else _loaded_parts
    scheme = content["scheme_by_number"]
    if type(scheme) is not int or scheme != SCHEME_BY_NUMBER:
        raise ArtifactError("it draws by a scheme that this linred does not know: upgrade linred")
    if released is None and made["alpha"] is None:
        raise ArtifactError("it has neither alpha nor the released distribution: restore the file, or fit again")
    mechanism = Mechanism(
        joint,
        name=_text("name", made["name"]),
        sees_s=sees_s,
        **load_parts(content, joint, sees_s),
        alpha=None if made["alpha"] is None else validation.alpha(made["alpha"]),
        released=None if released is None else _joint("released", released, s_labels, x_labels),
        distortion=None
        if content["distortion"] is None
        else matrix_of("distortion", content["distortion"], joint.x_labels),
        gap=validation.number("gap", made["gap"], 0.0, MOST_GAP),
        target=loaded_target(made["target"], joint),
        fitted=_loaded_fitted(content["fitted"], s_labels, x_labels),
        design=_loaded_design(content["design"], joint),
        id=_loaded_id(content["id"]),
    )
    _check_released(mechanism)
    if mechanism.target is None and content["certified"] is None:
        return mechanism
    certificate = mechanism.sampler().certificate()
    if not certificate.met:
        raise ArtifactError("its tables do not meet its target: fit it again")
    if content["certified"] is None:
        return mechanism
    certified = _loaded_certified(content["certified"], certificate.figures)
    _check_certified(certified, mechanism)
    return mechanism.replace(certified=certified)


def check_parts(side, parts, labels):
    """Check that each label has one part for each of the columns of its side, "sensitive" or "public"."""
    for place, label in enumerate(labels):
        n_parts = len(label) if isinstance(label, tuple) else 1
        if n_parts != len(parts) and not (len(parts) == 1 and isinstance(label, tuple)):
            name = "s_labels" if side == "sensitive" else "x_labels"
            raise ArtifactError(f"{name}[{place}] does not have one part for each of {len(parts)} {side} columns")


def _check_released(mechanism):
    """Check that moves and tables give the P(y|s) from which the figures are computed, and alpha the same P(y|s)."""
    joint, alpha = mechanism.joint, mechanism.alpha
    by_moves = released_by(joint, mechanism.keep, mechanism.move, mechanism.table_of, mechanism.tables)
    released = mechanism.p_y_given_s
    off = abs(by_moves - released) > RELEASED_SLACK * np.maximum(by_moves, released)
    if off[joint.p_s > 0.0].any():
        s, y = np.argwhere(off & (joint.p_s > 0.0)[:, None])[0].tolist()
        raise ArtifactError(f"its moves contradict its figures at s_labels[{s}], x_labels[{y}]: fit it again")
    if alpha is not None:
        reduced = linear_reduction(joint, alpha).p_x_given_s
        if (abs(reduced - released) > RELEASED_SLACK)[joint.p_s > 0.0].any():
            raise ArtifactError("its alpha contradicts its figures: fit it again")


def _joint(name, content, s_labels, x_labels):
    (given,) = content.keys() & {"counts", "p_sx", "p_x_given_s"}
    if given == "counts":
        return Joint.from_counts(content["counts"], s_labels, x_labels)
    matrix = validation.nonnegative(f"{name}.{given}", content[given], 2)
    p_s, p_x = (validation.nonnegative(f"{name}.{part}", content[part], 1) for part in ("p_s", "p_x"))
    p_sx = matrix if given == "p_sx" else p_s[:, None] * matrix
    for part, axis in ((p_s, 1), (p_x, 0)):
        if part.shape != p_sx.sum(axis=axis).shape or abs(part - p_sx.sum(axis=axis)).max() > validation.SUM_SLACK:
            raise ArtifactError(f"the marginals of its {name} are not those of its {given}: fit it again")
    validation.distribution(name, p_sx)
    return Joint.from_marginals(p_s, p_x, s_labels, x_labels, **{given: matrix})


def _loaded_parts(content, joint, sees_s):
    """Return the arguments of `Mechanism` of its rows and tables, in probabilities."""
    tables = Tables(*_loaded_tables(content, joint, validation.nonnegative))
    keep, move, table_of = _loaded_moves(content, joint, sees_s, tables.indptr, validation.nonnegative)
    n_tables = tables.indptr.size - 1
    sums = np.bincount(np.repeat(np.arange(n_tables), np.diff(tables.indptr)), tables.probability, n_tables)
    off = np.where(move > 0.0, abs(sums[table_of] - 1.0), 0.0)
    if max(abs(keep + move - 1.0).max(), off.max()) > validation.SUM_SLACK:
        raise ArtifactError("probabilities in its moves or tables do not sum to one: fit it again")
    rows = (part if sees_s else np.broadcast_to(part, joint.shape) for part in (keep, move, table_of))
    return {**dict(zip(("keep", "move", "table_of"), rows, strict=True)), "tables": tables}


def _loaded_whole(content, joint, sees_s):
    """Return the same in whole numbers, whose sums must be above 0 and below 2^63."""
    indptr, y, weight = _loaded_tables(content, joint, _weights)
    keep, move, table_of = _loaded_moves(content, joint, sees_s, indptr, _weights)
    sums = np.add.reduceat(weight.astype(object), indptr[:-1]) if np.diff(indptr).all() else np.zeros(1, object)
    totals = keep.astype(object) + move.astype(object)
    if not sees_s or (weight == 0).any() or min(totals.min(), sums.min()) < 1 or max(totals.max(), sums.max()) >= 2**63:
        raise ArtifactError("whole numbers in its moves or tables are too small or too large: fit it again")
    return Whole(keep, keep + move, weight).parts(table_of, indptr, y)


def _weights(name, values, n_dimensions):
    """Return a column of whole numbers below 2^63; `validation.nonnegative` in whole numbers."""
    return _whole(name, values, 2**63).astype(np.int64)


def _loaded_tables(content, joint, numbers):
    """Return (indptr, y, numbers) of the tables; `numbers` checks and converts a column of them."""
    tables = content["tables"]
    y, weight = zip(*(pair for table in tables for pair in table), strict=True)
    indptr = np.concatenate([[0], np.cumsum([len(table) for table in tables])])
    return indptr, _whole("y", y, joint.shape[1]).astype(np.int32), numbers("tables", weight, 1)


def _loaded_moves(content, joint, sees_s, indptr, numbers):
    """Return keep, move and table_of: the defaults with the moves filled in; one row if S is not used when sampling."""
    *usual, table_of = (np.array(part if sees_s else part[:1]) for part in rows_by_default(joint, sees_s))
    keep, move = (numbers("moves", part.astype(np.int64), 2).reshape(part.shape) for part in usual)
    if content["moves"]:
        s, x, kept, moved, table = zip(*content["moves"], strict=True)
        if sees_s == (None in s):
            raise ArtifactError("its moves contradict its sees_s: fit it again")
        s = _whole("s", s, joint.shape[0]) if sees_s else 0
        place = s, _whole("x", x, joint.shape[1])
        keep[place], move[place] = (numbers("moves", part, 1) for part in (kept, moved))
        table_of[place] = _whole("table", table, indptr.size - 1)
    return (np.ascontiguousarray(part) for part in (keep, move, table_of))


def _whole(name, values, below):
    """Return a column of indices in [0, below)."""
    array = np.array(values)
    if array.dtype.kind not in "iu" or array.min(initial=0) < 0 or array.max(initial=0) >= below:
        raise ArtifactError(f"{name} in its moves or tables is not a whole number below {below}")
    return array


def _loaded_certified(content, plug_in):
    return Certified(
        *_loaded_figures(content),
        validation.check_confidence(content["confidence"]),
        _one_of("basis", content["basis"], (HELD_OUT, FITTED)),
        validation.whole_number("n_records", content["n_records"], 0, None),
        validation.flag("together", content["together"]),
        _text("because", content["because"]),
        plug_in,
        Leakage(*_loaded_figures(content["ceiling"])),
    )


def _check_certified(certified, mechanism):
    """Check that these tables do not contradict the certified figures.

    Worst-case bounds must cover what the tables can reveal for any P(S, X). If one s is almost certain, each lift of
    another s approaches the LDP, so the worst LDP bounds both lifts too. Worst-case bounds must also cover the plug-in
    figures, and so must certified figures that hold simultaneously: those from the counts of the fit, and a target that
    the plug-in figures had to meet. Certified figures from other records may be below the plug-in figures.
    """
    ldp = _worst_ldp(mechanism)
    worst = Leakage(ldp, ldp, ldp, ldp, 0.0, 0.0)
    bounds = [(certified.ceiling, worst), (certified.ceiling, certified.plug_in), (certified.ceiling, certified)]
    if certified.together:
        bounds.append((certified, certified.plug_in))
    for above, below in bounds:
        if any(high + FORGED_SLACK * (1.0 + high) < low for high, low in zip(above, below, strict=True)):
            raise ArtifactError("its certificate is below what its own tables show: certify the mechanism again")


def _worst_ldp(mechanism):
    """Return the largest log P(y|s)/P(y|s') over s != s' and over all P(x|s)."""
    realised, n_s = Realised(mechanism.sampler()), mechanism.joint.shape[0]
    if n_s == 1:
        return 0.0
    low, high = map(np.array, zip(*(realised.of(s).range() for s in range(n_s)), strict=True))
    least, second = np.sort(low, axis=0)[:2]
    low_of_others = np.where(low.argmin(axis=0) == np.arange(n_s)[:, None], second, least)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.log(np.where(high > 0.0, high / low_of_others, 1.0)).max(initial=0.0))


def _loaded_id(text):
    if text is not None and not re.fullmatch("[0-9a-f]{32}", text):
        raise ArtifactError("its id is not 32 hexadecimal digits")
    return text


def _loaded_figures(content):
    return [number("certified", content[name]) for name in FIGURES]


def _loaded_design(content, joint):
    if content is None:
        return None
    shares = ("redrawn", "dtv", "dtv_plug_in", "dtv_ceiling")
    whole = ("n_fitted", "n_held_out", "n_passed", "n_steps")
    return Design(
        **content
        | {name: validation.number(name, content[name], 0.0, 1.0) for name in shares}
        | {name: validation.whole_number(name, content[name], 0, None) for name in whole}
        | {"redrawn_s": _labels_at("redrawn_s", content, joint.s_labels)}
        | {"redrawn_x": _labels_at("redrawn_x", content, joint.x_labels)}
    )


def _labels_at(name, content, labels):
    places = content[name]
    return tuple(labels[validation.whole_number(name, place, 0, len(labels) - 1)] for place in places)


def _loaded_fitted(content, s_labels, x_labels):
    if content is None:
        return None
    sensitive, public = (tuple(map(_loaded_part, content[side])) for side in ("sensitive", "public"))
    check_parts("sensitive", sensitive, s_labels)
    check_parts("public", public, x_labels)
    return FitSchema(
        **{**content, "sensitive": sensitive, "public": public, "leaks": tuple(map(_loaded_leak, content["leaks"]))}
        | {name: validation.flag(name, content[name]) for name in ("declared", "scanned")}
        | {"missing": _one_of("missing", content["missing"], ("category", "skip", "error"))}
    )


def _loaded_part(part):
    part = {name: _text(name, value) if name != "edges" else value for name, value in part.items()}
    return ColumnSpec(**{**part, "edges": check_edges(part["name"], part["edges"])})


def _loaded_leak(leak):
    most = {"information": MOST_NATS, "by_chance": math.inf, "guessed": 1.0}
    return Leak(
        **leak
        | {name: validation.number(name, leak[name], 0.0, limit) for name, limit in most.items()}
        | {"column": _text("column", leak["column"]), "at_least": validation.flag("at_least", leak["at_least"])}
        | {"n_values": validation.whole_number("n_values", leak["n_values"], 0, None)}
    )


def _one_of(name, value, known):
    if value not in known:
        raise ArtifactError(f"its {name} is none of {', '.join(known)}")
    return value


def _text(name, value):
    if not isinstance(value, str) or any("\ud800" <= character <= "\udfff" for character in value):
        raise ArtifactError(f"its {name} is not text")
    return value
