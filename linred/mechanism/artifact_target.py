"""The target of a mechanism in an artifact, written and read."""

from __future__ import annotations

import math

import numpy as np

from linred._common import validation
from linred.errors import ArtifactError
from linred.privacy.target import NUMBERS, TARGETS, Secret, Target


def finite(figures):
    """Replace infinite figures by "inf", because JSON has no infinity."""
    return {name: "inf" if value == math.inf else value for name, value in figures.items()}


def number(name, value):
    """Return a figure or a limit that `finite` wrote."""
    return validation.number(name, math.inf if value == "inf" else value, 0.0, math.inf)


def target_content(target):
    """Return a settled `Target` as JSON values; matrices and groups are in the order of s_labels."""
    if target is None:
        return None
    content = finite({name: getattr(target, name) for name in NUMBERS})
    content["neighbors"] = None if target.neighbors is None else target.neighbors.tolist()
    content["pairs"] = None if target.pairs is None else _finite_rows(target.pairs)
    content["secrets"] = None if target.secrets is None else [_secret_content(secret) for secret in target.secrets]
    return {name: content[name] for name in TARGETS}


def _finite_rows(matrix):
    return [["inf" if value == math.inf else value for value in row] for row in matrix.tolist()]


def _secret_content(secret):
    columns = None if secret.columns is None else list(secret.columns)
    return {**finite({"limit": secret.limit}), "groups": secret.groups.tolist(), "columns": columns}


def loaded_target(content, joint):
    """Return the settled `Target` that `target_content` wrote, checked against the labels of the Joint."""
    if content is None:
        return None
    _check_names(content, TARGETS)
    limits = {name: number(name, content[name]) for name in NUMBERS}
    neighbors, pairs, secrets = (content[name] for name in ("neighbors", "pairs", "secrets"))
    if neighbors is not None:
        limits["neighbors"] = _square(neighbors, bool, joint)
    if pairs is not None:
        limits["pairs"] = _square([[number("pairs", value) for value in row] for row in pairs], float, joint)
    if secrets is not None:
        limits["secrets"] = tuple(_loaded_secret(secret, joint) for secret in secrets)
    return Target(**limits).settled(joint)


def _check_names(content, names):
    if content.keys() != set(names):
        raise ArtifactError("its target lacks a field or has an unknown one: restore the file, or fit it again")


def _square(rows, kind, joint):
    """Return rows of values of one kind as an array, whose entries `Target.settled` checks."""
    matrix = np.array(rows)
    if matrix.shape != joint.shape[:1] * 2 or matrix.dtype != kind:
        raise ArtifactError("a matrix of its target does not fit its s_labels: restore the file, or fit it again")
    return matrix


def _loaded_secret(content, joint):
    """Return a `Secret`; groups of columns are found again, and must be the stored ones."""
    _check_names(content, ("limit", "groups", "columns"))
    n_s, columns = joint.shape[0], content["columns"]
    groups = np.array([validation.whole_number("groups", code, 0, n_s - 1) for code in content["groups"]])
    secret = Secret(validation.frozen(groups), number("limit", content["limit"]))
    if columns is not None:
        (secret,) = Target(secrets={tuple(columns): secret.limit}).settled(joint).secrets
    if groups.shape != (n_s,) or not np.array_equal(groups, secret.groups):
        raise ArtifactError("groups of a secret of its target do not fit its s_labels: fit it again")
    return secret
