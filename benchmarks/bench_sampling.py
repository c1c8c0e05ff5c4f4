"""Sampling records, randomness included, against several ways in NumPy and against other packages."""

import os
from functools import partial

import numpy as np

import linred
from benchmarks import rivals
from benchmarks.common import compare, not_installed, seconds
from benchmarks.data import adult
from linred._kernels import sampling, simd
from linred.datasets import example_1
from linred.sampling import keystream

MILLION = 1_000_000


def random_joint(n_s, n_x):
    rng = np.random.default_rng(1)
    return linred.Joint.from_conditional(rng.dirichlet(np.ones(n_x), n_s), rng.dirichlet(np.ones(n_s)))


def records(joint, n_records, dtype):
    rng = np.random.default_rng(2)
    cells = rng.choice(joint.p_sx.size, n_records, p=joint.p_sx.ravel() / joint.p_sx.sum())
    return (cells // joint.shape[1]).astype(dtype), (cells % joint.shape[1]).astype(dtype)


def sparse_rows(mechanism):
    """Return P(y|s,x) as sparse rows and a function from (s, x) to row numbers; without s, each x has one row."""
    from scipy.sparse import csr_array, diags_array

    n_s, n_x = mechanism.joint.shape
    seen = slice(None) if mechanism.sees_s else slice(1)
    keep, move, table_of = (part[seen].ravel() for part in (mechanism.keep, mechanism.move, mechanism.table_of))
    place = np.arange(keep.size)
    stays = csr_array((keep, (place, place % n_x)), shape=(keep.size, n_x))
    rows = csr_array(stays + diags_array(move) @ mechanism.destinations[table_of])
    rows.eliminate_zeros()
    rows.sort_indices()
    return rows, rivals.by_pair(n_s * n_x, n_x) if mechanism.sees_s else rivals.by_x


def fastest(ways, s, x):
    """Return (name, way) of the fastest way, measured on up to a million records."""
    few = min(x.size, MILLION)
    return min(ways.items(), key=lambda way: sorted(seconds(lambda: way[1](s[:few], x[:few])) for _ in range(5))[2])


def floor(sampler, s, x):
    """Return a call that does what every such sampler must: make the first keystream, read and write the columns."""
    word_bytes = 1 if sampler.first_stage == "cells" else 2
    key, block = bytes(32), 2**20
    zeros, buffer = bytes(word_bytes * block), np.empty(word_bytes * block + 15, np.uint8)

    def call():
        y = np.empty_like(x)
        for start in range(0, x.size, block):
            n = min(block, x.size - start)
            keystream.words_into(key, start * word_bytes, memoryview(zeros)[: n * word_bytes], buffer)
            np.bitwise_or(s[start : start + n], x[start : start + n], out=y[start : start + n])
        return y

    return call


def in_plain_c(ours):
    def call():
        sampling.use_variant("serial")
        ours()
        sampling.use_variant(simd.chosen)

    return call


def rows_of(what, mechanism, n_records, dtype, goal):
    """Compare with NumPy on about as many records as it draws in a second, with plain C, and two threads with one."""
    sampler, tables = mechanism.sampler(), sparse_rows(mechanism)
    s, x = records(mechanism.joint, n_records, dtype)
    size = f"{what}, {n_records // MILLION} M records, {np.dtype(dtype)}"

    def ours():
        return sampler.sample(s, x, threads=1)

    for ways, bound in ((rivals.numpy_ways, goal), (rivals.numpy_ways_by_our_tables, "")):
        name, way = fastest(ways(*tables), s, x)
        yield compare(size, ours, f"NumPy: {name}", lambda way=way: way(s, x), bound, rounds=7)
    yield compare(size, ours, "floor: keystream and columns alone", floor(sampler, s, x), rounds=7)
    yield compare(size, ours, "linred in plain C", in_plain_c(ours), rounds=7)
    if (os.cpu_count() or 1) > 1:
        many_s, many_x = np.resize(s, 50 * MILLION), np.resize(x, 50 * MILLION)

        def by_threads(threads):
            return sampler.sample(many_s, many_x, threads=threads)

        one_thread = partial(by_threads, 1)
        yield compare(
            f"{what}, 50 M records, two threads", partial(by_threads, 2), "linred on one thread", one_thread, "1.7"
        )


def rows_of_packages(mechanism, n_records):
    """Compare with packages that are slower by orders of magnitude, on fewer records."""
    sampler, n_x, tables = mechanism.sampler(), mechanism.joint.shape[1], sparse_rows(mechanism)
    for name, package, make, n in (
        ("SciPy's `DiscreteAliasUrn` by group", "scipy", partial(rivals.scipy_urn, *tables), n_records),
        ("a Numba alias loop", "numba", partial(rivals.numba_alias, *tables), n_records),
        ("OpenDP's randomised response", "opendp", partial(rivals.opendp_response, n_x), n_records // 1000),
        ("pure-ldp's direct encoding", "pure_ldp", partial(rivals.pure_ldp_response, n_x), n_records // 100),
    ):
        s, x = records(mechanism.joint, n, np.uint8)
        what, ours = f"Adult, Proposition 1, {n} records", partial(sampler.sample, s, x, threads=1)
        try:
            way = make()
        except ImportError:
            yield not_installed(what, ours, name, package)
            continue
        yield compare(what, ours, name, partial(way, s, x), rounds=7)


def one_record_calls():
    sampler, rng, one = linred.non_markov(example_1(), 0.5).sampler(), np.random.default_rng(1), np.zeros(1, np.uint8)

    def ours():
        for _ in range(1000):
            sampler.sample(one, one)

    def choices():
        for _ in range(1000):
            rng.choice(4, 1, p=[0.25, 0.25, 0.25, 0.25])

    return compare("a thousand calls with one record (goal: under 50 ms)", ours, "`Generator.choice`", choices)


def rows():
    paper, of_adult, ten, hundred = example_1(), adult(), random_joint(10, 50), random_joint(100, 1000)
    both = (("Proposition 1", linred.non_markov), ("Lemma 1", linred.markov))
    for name, build in both:
        yield from rows_of(f"Example 1, {name}, alpha = .5", build(paper, 0.5), 50 * MILLION, np.uint8, "5")
    yield from rows_of("Adult, fewest changes, LDP 1", linred.optimal(of_adult, ldp=1.0), 20 * MILLION, np.uint8, "10")
    for name, build in both:
        yield from rows_of(f"Adult, {name}, LDP 1", build(of_adult, ldp=1.0), 20 * MILLION, np.uint8, "")
    for name, build in both:
        yield from rows_of(f"10 x 50, {name}, alpha = .5", build(ten, 0.5), 10 * MILLION, np.uint8, "15")
    for name, build in both:
        yield from rows_of(f"100 x 1000, {name}, alpha = .3", build(hundred, 0.3), 5 * MILLION, np.uint16, "20")
    yield from rows_of_packages(linred.non_markov(of_adult, ldp=1.0), MILLION)
    yield one_record_calls()
