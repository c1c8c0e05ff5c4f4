"""Ids that occur with different values are counted; equal records are not, and the memory is bounded."""

import re

import numpy as np
import pytest

import linred
from linred.columns import repeated_ids
from linred.columns.repeated_ids import RepeatedIds
from support.columns import KEY, MECHANISM, S, X
from support.commands import key_file


def n_differing(repeated):
    text = repeated.warning("id")
    return 0 if text is None else int(re.search(r"at least ([\d,]+) id", text)[1].replace(",", ""))


@pytest.mark.parametrize(
    "kind", [np.asarray, lambda ids: [f"id {i}" for i in ids], lambda ids: [(b"a", i) for i in ids]]
)
def test_ids_with_different_values_are_counted(kind):
    """Against a dict, in batches: 3000 ids, of which some come twice with other values."""
    rng = np.random.default_rng(1)
    ids = rng.integers(0, 3000, 4000)
    s, x = rng.integers(0, 2, 4000), rng.integers(0, 3, 4000)
    seen = {}
    for record in zip(ids.tolist(), s.tolist(), x.tolist(), strict=True):
        seen.setdefault(record[0], set()).add(record[1:])
    expected = sum(len(values) > 1 for values in seen.values())
    repeated = RepeatedIds()
    for part in np.split(np.arange(4000), [500, 500, 2100]):
        repeated.add(kind(ids[part]), x[part], s[part])
    assert 0.97 * expected <= n_differing(repeated) <= expected


def test_equal_records_under_one_id_are_one_record():
    repeated = RepeatedIds()
    for _ in range(2):
        repeated.add(np.arange(1000), np.arange(1000) % 3)
    assert repeated.warning("id") is None
    repeated.add(np.array([5]), np.array([0]))
    assert n_differing(repeated) == 1


def test_more_ids_than_slots_give_no_false_warning(monkeypatch):
    monkeypatch.setattr(repeated_ids, "SLOTS", 2**4)
    repeated, ids = RepeatedIds(), np.arange(1000)
    for _ in range(2):
        repeated.add(ids, ids % 7, ids % 2)
    assert repeated.warning("id") is None


WARNING = r"^id: at least 2 ids occur with different values of the sensitive or public columns"


@pytest.mark.filterwarnings("default")
def test_frames_and_files_warn(linred_command):
    ids = [0, 1, 0, 1, *range(4, 60)]
    s, x = S[:60], ["a", "a", "bb", "ccc", *X[4:60]]
    frame = {"s": s, "x": x, "id": ids}
    with pytest.warns(UserWarning, match=WARNING) as warned:
        linred.sanitize_frame(frame, MECHANISM, sensitive="s", public="x", id="id", key=KEY)
    assert warned[0].filename == __file__
    frame["id"] = [0, 1, "0", b"1", *range(4, 60)]  # an integer and its text are one id
    with pytest.warns(UserWarning, match=WARNING):
        linred.sanitize_frame(frame, MECHANISM, sensitive="s", public="x", id="id", key=KEY)
    linred.Sanitizer("s", "x", alpha=0.5, mechanism="non_markov").fit(frame).mechanism_.save("m.json")
    key_file(linred_command)
    with open("in.csv", "w") as file:
        file.writelines(["s,x,id\n", *(f"{','.join(map(str, row))}\n" for row in zip(s, x, ids, strict=True))])
    done = linred_command(
        "sanitize", "in.csv", "-m", "m.json", "-o", "out.csv", "--id", "id", "--key-file", "key", "--columns", ""
    )
    assert done.code == 0
    assert "linred: warning: --id: at least 2 ids occur with different values" in done.err
