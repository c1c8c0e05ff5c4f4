"""The sampler's promises: addressed and secure randomness, and refused arguments.

Statistical checks fail a correct sampler with probability `stats.ERROR_RATE` each; keys are fixed, so results repeat.
"""

import hashlib
import multiprocessing
import pickle
import subprocess
import sys

import numpy as np
import pytest

import linred
from linred.sampling import threads as sampling_threads
from support import stats
from support.faults import faulty, swap_an_alias
from support.joints import example_1, random_joint
from support.samplers import MECHANISMS, NAMES, SMALL, WHOLE, WIDE, mechanisms

KEY = bytes(range(32))


def codes(mechanism, n, dtype=np.uint8, seed=1):
    """Records of all pairs, those that the fit never saw too."""
    rng, (n_s, n_x) = np.random.default_rng(seed), mechanism.joint.shape
    return rng.integers(0, n_s, n).astype(dtype), rng.integers(0, n_x, n).astype(dtype)


def sample(mechanism, s, x, **how):
    return mechanism.sampler().sample(s, x, **how)


@pytest.mark.parametrize("shape", [(105, 4044), (1000, 1000), (2, 70_000)])
def test_large_sparse_alphabets(shape):
    """The size of flights' dest x tailnum, most of whose cells are zero; and codes of 32 bits."""
    joint = linred.Joint.from_counts(np.random.default_rng(9).poisson(0.1, shape))
    for mechanism in (linred.non_markov(joint, 0.5), linred.markov(joint, 0.5)):
        s, x = codes(mechanism, 500, np.uint32)
        y = sample(mechanism, s, x, key=KEY, start=7)
        stats.check_addresses(mechanism.sampler(), s, x, y, key=KEY, start=7)


# ---- what is drawn


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_frequencies_are_those_of_the_tables(mechanism, dtype, variant):
    s, x = codes(mechanism, 400_000, dtype)
    y = sample(mechanism, s, x, key=KEY, start=0)
    assert y.dtype == dtype
    stats.check_frequencies(mechanism.sampler(), stats.tally(mechanism.sampler(), s, x, y))


def draws(mechanism, n, first=0):
    """Counts of (s, x, y) over n records of all pairs in turn."""
    n_s, n_x = mechanism.joint.shape
    pair = np.arange(n) % (n_s * n_x)
    s, x = (pair // n_x).astype(np.uint8), (pair % n_x).astype(np.uint8)
    y = sample(mechanism, s, x, key=KEY, start=first)
    return stats.tally(mechanism.sampler(), s, x, y)


@pytest.mark.parametrize("name", NAMES)
def test_ten_million_draws_and_none_of_probability_zero(name):
    stats.check_frequencies(SMALL[name].sampler(), draws(SMALL[name], 10_000_000))


@pytest.mark.parametrize("name", WHOLE)
def test_ten_million_draws_of_tables_in_whole_numbers(name):
    stats.check_frequencies(WHOLE[name].sampler(), draws(WHOLE[name], 10_000_000))


@pytest.mark.long
@pytest.mark.parametrize("mechanism", [SMALL["northwest"], WIDE["northwest"]])
def test_a_thousand_million_draws_and_none_of_probability_zero(mechanism):
    counts = sum(draws(mechanism, 50_000_000, first) for first in range(0, 10**9, 50_000_000))
    assert counts.sum() == 10**9
    stats.check_frequencies(mechanism.sampler(), counts)


def test_pairs_that_the_fit_never_saw_are_drawn_from_p_y():
    mechanism = WIDE["northwest"]
    s, x = np.full(200_000, 4, np.uint8), np.zeros(200_000, np.uint8)
    y = sample(mechanism, s, x, key=KEY, start=0)
    expected = mechanism.p_y * y.size
    counts = np.bincount(y, minlength=expected.size)
    assert not counts[expected == 0.0].any()
    some = expected > 0.0
    statistic = ((counts - expected)[some] ** 2 / expected[some]).sum()
    assert stats.stats.chi2.sf(statistic, some.sum() - 1) > stats.ERROR_RATE


def test_neighbouring_records_are_independent():
    """Pairs (y_i, y_{i+1}) of one (s, x): the chi-square of their table, at stats.ERROR_RATE."""
    mechanism = SMALL["markov"]
    s, x = np.zeros(1_000_000, np.uint8), np.zeros(1_000_000, np.uint8)
    y = sample(mechanism, s, x, key=KEY, start=0).astype(int)
    for lag in (1, 2, 16, 256, 2048):
        pairs = np.bincount(4 * y[:-lag] + y[lag:], minlength=16).reshape(4, 4)
        assert stats.stats.chi2_contingency(pairs).pvalue > stats.ERROR_RATE


# ---- addresses


@pytest.mark.parametrize("start", [0, 1, 7, 8, 16, 2**32 - 5, 2**63 + 3, 2**64 - 300])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_record_is_the_twins(mechanism, start, variant):
    s, x = codes(mechanism, 300)
    y = sample(mechanism, s, x, key=KEY, context=b"file", start=start)
    stats.check_addresses(mechanism.sampler(), s, x, y, key=KEY, context=b"file", start=start)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_any_threads_chunks_and_starts_give_the_same(mechanism, monkeypatch, variant):
    s, x = codes(mechanism, 50_000)
    whole = sample(mechanism, s, x, key=KEY, start=5)
    monkeypatch.setattr(sampling_threads, "FEWEST_RECORDS_A_THREAD", 1000)
    for block, threads in ((50_000, 1), (7_777, 2), (1_000, 3), (4_096, 2), (13_001, 3)):
        monkeypatch.setattr(mechanism.sampler(), "_block_records", block)
        np.testing.assert_array_equal(sample(mechanism, s, x, key=KEY, start=5, threads=threads), whole)
    for cuts in ([25_000], [1, 2, 3], [17, 4_000, 49_999], [16, 32, 48]):
        parts = zip(np.split(s, cuts), np.split(x, cuts), [0, *cuts], strict=True)
        drawn = [sample(mechanism, s_part, x_part, key=KEY, start=5 + at) for s_part, x_part, at in parts]
        np.testing.assert_array_equal(np.concatenate(drawn), whole)


def test_several_threads_on_many_records():
    s, x = codes(SMALL["northwest"], 3_000_001)
    one, two, three = (sample(SMALL["northwest"], s, x, key=KEY, start=0, threads=threads) for threads in (1, 2, 3))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, three)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 2047, 2048, 2049, 4097])
def test_any_length_is_the_beginning_of_a_longer_one(n, variant):
    for mechanism in (SMALL["northwest"], WIDE["markov"]):
        s, x = codes(mechanism, 5000)
        whole = sample(mechanism, s, x, key=KEY, start=0)
        np.testing.assert_array_equal(sample(mechanism, s[:n], x[:n], key=KEY, start=0), whole[:n])


def test_codes_of_any_integer_type_strided_and_read_only():
    mechanism = WIDE["northwest"]
    s, x = codes(mechanism, 3000)
    expected = sample(mechanism, s, x, key=KEY, start=0)
    for dtype in (np.int8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
        drawn = sample(mechanism, s.astype(dtype), x.astype(dtype), key=KEY, start=0)
        assert drawn.dtype == dtype
        np.testing.assert_array_equal(drawn, expected)
    table = np.stack([s, x], axis=1)
    table.setflags(write=False)
    np.testing.assert_array_equal(sample(mechanism, table[:, 0], table[:, 1], key=KEY, start=0), expected)
    np.testing.assert_array_equal(
        sample(mechanism, s[::-1], x[::-1], key=KEY, start=0),
        sample(mechanism, s[::-1].copy(), x[::-1].copy(), key=KEY, start=0),
    )
    np.testing.assert_array_equal(sample(mechanism, s.tolist(), x.tolist(), key=KEY, start=0), expected)


def test_s_is_not_needed_where_it_is_not_seen():
    s, x = codes(SMALL["markov"], 1000)
    np.testing.assert_array_equal(
        sample(SMALL["markov"], None, x, key=KEY, start=0), sample(SMALL["markov"], s, x, key=KEY, start=0)
    )
    with pytest.raises(ValueError, match="s_codes is None: this mechanism uses S when sampling"):
        sample(SMALL["northwest"], None, x)


# ---- keys


def differ(a, b):
    return (a != b).mean() > 0.01


def test_calls_keys_seeds_and_contexts_differ():
    s, x = codes(SMALL["markov"], 10_000)

    def drawn(**how):
        return sample(SMALL["markov"], s, x, **how)

    assert differ(drawn(), drawn())
    assert differ(drawn(key=KEY, start=0), drawn(key=KEY[::-1], start=0))
    assert differ(drawn(seed=1), drawn(seed=2))
    assert differ(drawn(key=KEY, start=0), drawn(key=KEY, context=b"a"))
    assert differ(drawn(key=KEY, context=b"a"), drawn(key=KEY, context=b"b"))
    np.testing.assert_array_equal(drawn(seed=1), drawn(seed=1))
    np.testing.assert_array_equal(drawn(key=KEY, context="a"), drawn(key=KEY, context=b"a"))


def test_ids_answer_alike_wherever_they_stand():
    mechanism = SMALL["markov"]
    _, x = codes(mechanism, 1000)
    ids = np.random.default_rng(2).permutation(10**6)[:1000]
    drawn = sample(mechanism, None, x, key=KEY, ids=ids)
    order = np.random.default_rng(3).permutation(1000)
    np.testing.assert_array_equal(sample(mechanism, None, x[order], key=KEY, ids=ids[order]), drawn[order])
    np.testing.assert_array_equal(sample(mechanism, None, x, key=KEY, ids=ids.tolist()), drawn)
    np.testing.assert_array_equal(sample(mechanism, None, x, key=KEY, ids=ids.astype(np.uint32), threads=2), drawn)
    np.testing.assert_array_equal(sample(mechanism, None, x, key=KEY, ids=[str(one) for one in ids]), drawn)
    text = sample(mechanism, None, x, key=KEY, ids=[f"id {one}" for one in ids])
    assert differ(text, drawn)
    np.testing.assert_array_equal(
        sample(mechanism, None, x[order], key=KEY, ids=[f"id {one}" for one in ids[order]]), text[order]
    )
    assert differ(sample(mechanism, None, x, key=KEY, context=b"b", ids=ids), drawn)
    same = sample(mechanism, None, np.full(1000, 2, np.uint8), key=KEY, ids=np.full(1000, 77))
    assert len(set(same.tolist())) == 1


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_ids_are_one_block_each_for_each_try(mechanism):
    s, x = codes(mechanism, 200)
    ids = np.arange(200) * 12345 - 700_000
    blocks = stats.blocks_of(mechanism.sampler(), ids.tolist(), KEY, b"c", b"linred ids")
    expected = stats.twin(mechanism.sampler(), s, x, None, blocks)
    drawn = sample(mechanism, s, x, key=KEY, context=b"c", ids=ids)
    np.testing.assert_array_equal(drawn, expected)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_frequencies_by_ids_are_those_of_the_tables(mechanism):
    s, x = codes(mechanism, 200_000)
    y = sample(mechanism, s, x, key=KEY, ids=np.arange(s.size))
    stats.check_frequencies(mechanism.sampler(), stats.tally(mechanism.sampler(), s, x, y))


PINNED = {  # by record numbers and integer ids, by ids of text
    "3 x 5, markov": ("f8ae773df4a8890d", "be7a41bab390eafd"),
    "3 x 5, northwest": ("c1b9132cb2728de3", "5903c5c6aae4efa6"),
    "3 x 5, proportional": ("1a3089c3422f3af4", "a35938d033530c30"),
    "3 x 5, distortion": ("ba9fca7d2d5b01fe", "104b7ea7cca4545e"),
    "9 x 300, markov": ("663579ae2e89b1bf", "024af4d34b5b1ea6"),
    "9 x 300, northwest": ("a390a00ac4bc0367", "36e61d7faecaf125"),
    "9 x 300, proportional": ("abdaa94d5f218439", "4d7c1b9a904b84a0"),
    "9 x 300, distortion": ("b2d8edea17daf477", "24de71e9f671975d"),
    "3 x 5, whole": ("6b414ede8884ced4", "fe44c0a3e81d1362"),
    "9 x 300, whole": ("7071cb170f3f7e7a", "2a3fd1f47d02a20a"),
}


def digest(*columns):
    return hashlib.sha256(b"".join(one.astype("<u2").tobytes() for one in columns)).hexdigest()[:16]


def test_what_a_key_yields_is_pinned():
    """A change here changes what every key in use has drawn: artifacts of before need their old tables."""
    yields = {}
    for n_s, n_x in ((3, 5), (9, 300)):
        s, x = np.arange(20_000) % n_s, (np.arange(20_000) ** 2 % n_x).astype(np.uint16)
        counts = np.add.outer(np.arange(n_s) * 7, np.arange(n_x) ** 2 * 3) % 11
        joint = linred.Joint.from_counts(counts)
        for name, mechanism in (mechanisms(joint) | {"whole": linred.non_markov(joint, 1.0)}).items():
            by_number = [
                sample(mechanism, s, x, key=KEY, start=0),
                sample(mechanism, s, x, seed=7, context=b"c", start=10**12),
                sample(mechanism, s, x, key=KEY, ids=np.arange(20_000)),
            ]
            by_text = sample(mechanism, s[:500], x[:500], key=KEY, ids=[f"id {i}" for i in range(500)])
            yields[f"{n_s} x {n_x}, {name}"] = digest(*by_number), digest(by_text)
    assert yields == PINNED


CHILDREN = """
import multiprocessing, numpy as np, linred
from linred.datasets import example_1
s, x = np.zeros(2000, np.uint8), np.arange(2000, dtype=np.uint8) % 4
sampler = linred.markov(example_1(), 0.5).sampler()
def child(queue):
    queue.put(sampler.sample(s, x).tobytes())
if __name__ == "__main__":
    sampler.sample(s, x)
    context = multiprocessing.get_context("{method}")
    queue = context.Queue()
    children = [context.Process(target=child, args=(queue,)) for _ in range(3)]
    for one in children:
        one.start()
    drawn = {{queue.get() for _ in children}} | {{sampler.sample(s, x).tobytes()}}
    for one in children:
        one.join()
    print(len(drawn))
"""


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_children_draw_anew(method, tmp_path):
    script = tmp_path / "children.py"
    script.write_text(CHILDREN.format(method=method))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.stdout.strip() == "4", done.stderr


def test_pickled_samplers_and_mechanisms_agree():
    for mechanism in (SMALL["northwest"], WIDE["proportional"], SMALL["markov"], WHOLE["rejected"]):
        s, x = codes(mechanism, 1000)
        expected = sample(mechanism, s, x, key=KEY, start=0)
        again = pickle.loads(pickle.dumps(mechanism.sampler()))
        np.testing.assert_array_equal(again.sample(s, x, key=KEY, start=0), expected)
        np.testing.assert_array_equal(sample(pickle.loads(pickle.dumps(mechanism)), s, x, key=KEY, start=0), expected)
        assert again.certificate().ldp == mechanism.sampler().certificate().ldp


# ---- out


def test_out_is_written_and_may_be_x_itself():
    for mechanism in (SMALL["northwest"], WIDE["northwest"]):
        s, x = codes(mechanism, 5000)
        expected, out = sample(mechanism, s, x, key=KEY, start=0), np.empty_like(x)
        assert sample(mechanism, s, x, key=KEY, start=0, out=out) is out
        np.testing.assert_array_equal(out, expected)
        in_place = x.copy()
        assert sample(mechanism, s, in_place, key=KEY, start=0, out=in_place) is in_place
        np.testing.assert_array_equal(in_place, expected)


@pytest.mark.parametrize("place", [0, 1, 2047, 2048, 4999])
@pytest.mark.parametrize("column", ["s_codes", "x_codes"])
def test_a_code_out_of_range_is_named_and_nothing_is_written(place, column, monkeypatch, variant):
    for mechanism in (SMALL["northwest"], WIDE["northwest"]):
        for block, threads in ((2**20, 1), (1000, 1), (1000, 3)):
            monkeypatch.setattr(sampling_threads, "FEWEST_RECORDS_A_THREAD", 1000)
            monkeypatch.setattr(mechanism.sampler(), "_block_records", block)
            s, x = codes(mechanism, 5000)
            n_symbols = mechanism.joint.shape[column == "x_codes"]
            (s if column == "s_codes" else x)[place] = n_symbols
            out = np.full_like(x, 9)
            message = rf"^{column}\[{place}\] is not a code below {n_symbols}"
            with pytest.raises(ValueError, match=message):
                sample(mechanism, s, x, out=out, threads=threads)
            assert (out == 9).all()
            with pytest.raises(ValueError, match=message):
                sample(mechanism, s, x, threads=threads)
            with pytest.raises(ValueError, match=message):
                sample(mechanism, s, x, threads=threads, key=KEY, ids=np.arange(5000))
            before = x.copy()
            with pytest.raises(ValueError, match=message):
                sample(mechanism, s, x, out=x)
            np.testing.assert_array_equal(x, before)


CODES = np.zeros(4, np.uint8)
BAD = [
    ({"x_codes": CODES.astype(float)}, "x_codes has shape .* dtype float64, not a column of integer codes"),
    ({"s_codes": CODES.reshape(2, 2)}, r"s_codes has shape \(2, 2\)"),
    ({"s_codes": CODES[:3]}, "s_codes has 3 records and x_codes 4"),
    ({"s_codes": np.array([0, -1, 0, 0])}, r"^s_codes\[1\] is not a code below 20"),
    ({"x_codes": np.array([0, 0, -7, 0], np.int8)}, r"^x_codes\[2\] is not a code below 70"),
    ({"out": CODES[:2].copy()}, r"out has shape \(2,\) and dtype uint8, but must be an array of shape \(4,\)"),
    ({"out": CODES.astype(np.uint16)}, "out has shape .* dtype uint16, but must be .* uint8"),
    ({"out": [0, 0, 0, 0]}, "out is a list, but must be an array"),
    ({"out": np.zeros(8, np.uint8)[::2]}, "out is not contiguous, aligned and writeable"),
    ({"x_codes": np.ma.array(CODES, mask=[0, 0, 1, 0])}, "x_codes has shape .* not a column of integer codes"),
    ({"seed": KEY}, "seed is a bytes, not a whole number"),
    ({"key": KEY}, "key is given alone"),
    ({"key": KEY, "context": ""}, "key is given alone"),
    ({"key": memoryview(np.zeros(32, np.uint16))}, "key has 64 bytes, not 32"),
    ({"start": -1}, "start = -1 is outside"),
    ({"start": 2**64 - 3}, "start = .* is outside"),
    ({"start": 0.0}, "start = 0.0 is not a whole number"),
    ({"threads": 0}, "threads = 0 is outside"),
    ({"threads": 1.5}, "threads = 1.5 is not a whole number"),
    ({"context": 7}, "context is a int, not bytes"),
    ({"ids": [1, 2, 3, 4]}, "ids needs key"),
    ({"ids": [1, 2, 3, 4], "seed": 1}, "ids needs key"),
    ({"ids": [1, 2, 3, 4], "key": KEY, "start": 1}, "start = 1 and ids are both given"),
    ({"ids": [1, 2, 3], "key": KEY}, "ids has 3 records and x 4"),
    ({"ids": ["a", "b", None, "c"], "key": KEY}, r"^ids\[2\] is missing: each record needs an integer or a text"),
    ({"ids": [1.0, 2.0, 3.0, 4.0], "key": KEY}, r"^ids\[0\] is a float: each record needs"),
    ({"ids": "abcd", "key": KEY}, "ids is a str, not a column"),
    ({"ids": np.array(1), "key": KEY}, r"ids is a numpy\.ndarray, not a column"),
    ({"x_codes": np.array(1)}, r"x_codes has shape \(\) and dtype int64, not a column"),
    ({"x_codes": CODES.astype(">i4")}, "x_codes has shape .* dtype >i4, not a column of integer codes"),
]


@pytest.mark.parametrize(("wrong", "message"), BAD)
def test_bad_arguments_are_named(wrong, message):
    arguments = {"s_codes": CODES, "x_codes": CODES, **wrong}
    with pytest.raises(ValueError, match=message) as caught:
        WIDE["northwest"].sampler().sample(**arguments)
    assert "\n" not in str(caught.value)


def test_only_a_mechanism_has_a_sampler():
    with pytest.raises(TypeError, match=r"^mechanism is a linred\.Joint, not a linred\.Mechanism"):
        linred.Sampler(example_1())


def test_an_output_that_overlaps_an_input_is_refused():
    memory = np.zeros(100, np.uint8)
    with pytest.raises(ValueError, match="out shares memory with x_codes"):
        WIDE["markov"].sampler().sample(None, memory[:50], out=memory[1:51])
    with pytest.raises(ValueError, match="out shares memory with s_codes"):
        WIDE["northwest"].sampler().sample(memory[:50], memory[50:], out=memory[:50])


def test_codes_too_narrow_for_the_alphabet_are_refused():
    for dtype, n_x in ((np.uint8, 300), (np.int8, 300), (np.int8, 129)):
        joint = random_joint(np.random.default_rng(1), 2, n_x)
        with pytest.raises(
            ValueError, match=rf"x_codes has dtype {np.dtype(dtype)}, which cannot hold the codes of {n_x} symbols"
        ):
            linred.markov(joint, 0.5).sampler().sample(None, CODES.astype(dtype))
    joint = random_joint(np.random.default_rng(1), 2, 128)
    assert linred.markov(joint, 0.5).sampler().sample(None, CODES.astype(np.int8)).dtype == np.int8


def test_columns_that_are_not_aligned():
    for mechanism in (SMALL["northwest"], WIDE["northwest"]):
        s, x = codes(mechanism, 3000, np.uint32)
        expected = sample(mechanism, s, x, key=KEY, start=0)
        s_odd, x_odd = (np.frombuffer(b"-" + column.tobytes(), np.uint32, offset=1) for column in (s, x))
        assert not x_odd.flags.aligned
        np.testing.assert_array_equal(sample(mechanism, s_odd, x_odd, key=KEY, start=0), expected)


# ---- planted faults: every check above can fail


def test_a_last_symbol_left_alone_is_caught():
    mechanism = SMALL["markov"]
    s, x = codes(mechanism, 100_000)
    y = sample(mechanism, s, x, key=KEY, start=0)
    y[x == 3] = 3
    with pytest.raises(AssertionError):
        stats.check_frequencies(mechanism.sampler(), stats.tally(mechanism.sampler(), s, x, y))


def test_a_swapped_alias_and_an_off_by_one_first_stage_are_caught_in_the_draws():
    mechanism = SMALL["northwest"]
    s, x = codes(mechanism, 8_000_000)

    def off_by_one(rows, cells, settled, keep_top):
        table = settled.reshape(-1, 256)
        table[:, 1:] = table[:, :-1].copy()

    for fault in (off_by_one, swap_an_alias):
        wrong = faulty(mechanism, fault)
        y = wrong.sample(s, x, key=KEY, start=0)
        with pytest.raises(AssertionError):
            stats.check_frequencies(mechanism.sampler(), stats.tally(mechanism.sampler(), s, x, y))
        with pytest.raises(AssertionError):
            stats.check_addresses(mechanism.sampler(), s[:9000], x[:9000], y[:9000], key=KEY, start=0)


def test_an_off_by_one_top_of_keep_is_caught():
    mechanism = WIDE["northwest"]
    s, x = codes(mechanism, 100_000)

    def off_by_one(rows, cells, settled, keep_top):
        keep_top[keep_top < 2**16 - 1] += np.uint16(1)

    y = faulty(mechanism, off_by_one).sample(s, x, key=KEY, start=0)
    with pytest.raises(AssertionError):
        stats.check_addresses(mechanism.sampler(), s[:60_000], x[:60_000], y[:60_000], key=KEY, start=0)


def test_a_reused_key_is_caught(monkeypatch):
    from linred.sampling import keystream

    monkeypatch.setattr(keystream.os, "urandom", lambda n: bytes(n))
    with pytest.raises(AssertionError):
        test_calls_keys_seeds_and_contexts_differ()


def test_a_subkey_without_its_context_is_caught(monkeypatch):
    from linred.sampling import keystream

    subkey = keystream.subkey
    monkeypatch.setattr(keystream, "subkey", lambda secret, context, purpose: subkey(secret, b"", purpose))
    with pytest.raises(AssertionError):
        test_calls_keys_seeds_and_contexts_differ()
