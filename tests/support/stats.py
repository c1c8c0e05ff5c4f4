"""Checks of samplers, exact ones and some with a stated error rate; each raises AssertionError for a wrong sampler."""

import hashlib
from fractions import Fraction
from functools import cache

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scipy import stats

from linred._kernels import numpy_twins

ERROR_RATE = 1e-9
"""The probability that a correct sampler fails one call of `check_frequencies`, by the chi-square distribution. It is a
close approximation because cells that expect fewer than five records are pooled."""


def channel(sampler):
    """Return P(y|s,x) as Fractions, |S| x |X| x |X| (|S| is 1 without S), read cell by cell."""
    (n_s, n_x), kernel = sampler.shape, sampler.kernel
    rows = kernel.rows.reshape(n_s if sampler.sees_s else 1, -1)[:, :n_x]
    dense = np.full((*rows.shape, n_x), Fraction(0), object)
    for s, x in np.ndindex(rows.shape):
        row = rows[s, x]
        first, log2_cells, limit = int(row["first_cell"]), int(row["log2_cells"]), 2**64
        cells = kernel.cells[first : first + 2**log2_cells]
        weights = numpy_twins.weights_of_cells(cells, log2_cells)
        if kernel.limits is not None:
            weights = numpy_twins.weights_of_whole_cells(cells)
            limit = int(kernel.limits.reshape(n_s, -1)[s, x])
        keep = Fraction(int(row["keep"]), limit)
        dense[s, x, x] += keep
        for y, weight in weights.items():
            dense[s, x, y] += (1 - keep) * Fraction(weight, sum(weights.values()))
    return dense


def stored_channel(sampler, mechanism):
    """Return the mechanism's own P(y|s,x); a product too small for a double becomes the smallest double, not 0."""
    seen = slice(None if sampler.sees_s else 1)
    dense = mechanism.p_y_given_sx[seen]
    drawn = mechanism.destinations.toarray()[mechanism.table_of[seen]] > 0.0
    return np.where(drawn & (mechanism.move[seen] > 0.0)[..., None], np.maximum(dense, 5e-324), dense)


def expected_channel(sampler, mechanism):
    """Return what `channel` must be to the last unit: the twins' integers for the mechanism's probabilities."""
    dense = stored_channel(sampler, mechanism)
    expected = np.full(dense.shape, Fraction(0), object)
    for s, x in np.ndindex(dense.shape[:2]):
        keep, move, stored = mechanism.keep[s, x], mechanism.move[s, x], dense[s, x]
        if mechanism.whole is not None:
            expected[s, x] = _in_whole_numbers(mechanism, s, x)
        elif move == 0.0:
            expected[s, x, x] = Fraction(1)
        elif sampler.first_stage == "cells":
            expected[s, x] = _quantised(stored)
        else:
            weight = Fraction(numpy_twins.keep_weight(keep, move), 2**64)
            indptr, y, probability = mechanism.tables
            table = np.zeros(stored.size)
            span = slice(*indptr[mechanism.table_of[s, x] :][:2])
            table[y[span]] = probability[span]
            expected[s, x] = _quantised(table) * (1 - weight)
            expected[s, x, x] += weight
    return expected


def _in_whole_numbers(mechanism, s, x):
    """Return P(y|s,x) of a mechanism that is stored in whole numbers."""
    (keep, total, weight), (indptr, y, _) = mechanism.whole, mechanism.tables
    keep = Fraction(int(keep[s, x]), int(total[s, x]))
    row = np.full(mechanism.joint.shape[1], Fraction(0), object)
    span = slice(*indptr[mechanism.table_of[s, x] :][:2])
    for to, one in zip(y[span].tolist(), weight[span].tolist(), strict=True):
        row[to] += (1 - keep) * Fraction(one, int(weight[span].sum()))
    row[x] += keep
    return row


def _quantised(p):
    some = np.flatnonzero(p)
    weights = [2**64] if some.size == 1 else numpy_twins.quantise(p[some].tolist())
    quantised = np.full(p.size, Fraction(0), object)
    quantised[some] = [Fraction(weight, 2**64) for weight in weights]
    return quantised


def check_channel(sampler, mechanism):
    """Check the integers against the mechanism's probabilities.

    They equal those of the twins exactly, and the probabilities up to rounding. Zeros, ones and sums are exact.
    """
    realised, dense = channel(sampler), stored_channel(sampler, mechanism)
    assert (realised == expected_channel(sampler, mechanism)).all()
    assert (realised.sum(axis=2) == 1).all()
    assert ((realised == 0) == (dense == 0.0)).all()
    off = np.abs(realised.astype(float) - dense)
    assert (off <= 4 * 2.0**-64 + 1e-14 * dense).all(), off.max()


def tally(sampler, s, x, y):
    """Count the records of each (s, x, y); s is 0 without S."""
    n_s, n_x = sampler.shape[0] if sampler.sees_s else 1, sampler.shape[1]
    cell = (s.astype(np.int64) * (n_s > 1) * n_x + x) * n_x + y
    return np.bincount(cell, minlength=n_s * n_x * n_x).reshape(n_s, n_x, n_x)


def check_frequencies(sampler, counts):
    """Check counts of (s, x, y) against the integers, given those of (s, x); zero probabilities must not occur."""
    p = channel(sampler).astype(float)
    assert not counts[p == 0.0].any(), "a transition of probability zero happened"
    statistic, degrees = 0.0, 0
    for observed, probability in zip(counts.reshape(-1, p.shape[2]), p.reshape(-1, p.shape[2]), strict=True):
        expected = observed.sum() * probability
        large = expected >= 5.0
        observed = np.append(observed[large], observed[~large].sum())
        expected = np.append(expected[large], expected[~large].sum())
        if expected[-1] < 5.0:  # the pool is too small: add it to the smallest of the large cells
            if expected.size == 1:
                continue
            smallest = int(np.argmin(expected[:-1]))
            observed[smallest] += observed[-1]
            expected[smallest] += expected[-1]
            observed, expected = observed[:-1], expected[:-1]
        statistic += float(((observed - expected) ** 2 / expected).sum())
        degrees += expected.size - 1
    assert degrees == 0 or stats.chi2.sf(statistic, degrees) > ERROR_RATE, (statistic, degrees)


MOST_TRIES = 80
"""Words of tables in whole numbers are rejected less than half the time, so a record never takes as many tries."""


def check_addresses(sampler, s, x, y, *, key, context=b"", start=0):
    """Check that y equals the twin's draw, record by record, with a keystream made here from its definition."""
    n, word_bytes = x.size, 2 if sampler.kernel.settled is None else 1
    words = b""
    for block in range(start * word_bytes // 16, (start + n) * word_bytes // 16 + 1):
        words += aes(subkey(key, context, b"linred first"), block.to_bytes(16, "big"))
    skipped = start * word_bytes % 16
    words = np.frombuffer(words, np.uint8)[skipped : skipped + n * word_bytes]
    expected = twin(sampler, s, x, words, blocks_of(sampler, range(start, start + n), key, context, b"linred second"))
    assert y.dtype == x.dtype
    assert y.tolist() == expected.tolist()


def blocks_of(sampler, numbers, key, context, purpose):
    """Return the blocks of the records with these numbers; of each try, for tables in whole numbers."""
    tries = []
    for attempt in range(1 if sampler.kernel.limits is None else MOST_TRIES):
        of_try = subkey(key, context, purpose + (attempt.to_bytes(2, "big") if attempt else b""))
        blocks = b"".join(aes(of_try, number.to_bytes(16, "big", signed=number < 0)) for number in numbers)
        tries.append(np.frombuffer(blocks, np.uint8))
    return tries[0] if sampler.kernel.limits is None else tries


def twin(sampler, s, x, words, blocks):
    shift = (sampler.shape[1] - 1).bit_length()
    return numpy_twins.sample(sampler.kernel, shift, s if sampler.sees_s else None, x, words, blocks)


def aes(key, block):
    return _cipher(key).update(block)


@cache
def _cipher(key):
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor()


def subkey(key, context, purpose):
    return hashlib.blake2b(context, key=key, digest_size=32, person=purpose).digest()


def dense_rows(rows):
    """Return P(y|x) of one s as a matrix, from `sampled_probabilities.Rows`."""
    matrix = rows.others[rows.group].copy()
    np.fill_diagonal(matrix, rows.own)
    return matrix
