"""No message contains a value of S or of X: with a marker planted in both, every function is tried with every fault.

Messages are exceptions with their causes, also after pickling, warnings, logs, and both output streams of the command.
They may contain column names, record numbers and places of labels.
"""

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import linred
from support import columns
from support.frames import KINDS as FRAMES
from support.frames import collected
from support.secrets import MARKER, NUMBER, Odd, check_refused, marked, said_by

S, X = columns.S[:60], columns.X[:60]
MECHANISM = linred.non_markov(linred.Joint.from_records(S, X), 0.6)
COUNTED = linred.fit(S, X, alpha=0.6, mechanism="non_markov")
MARKED = linred.Joint.from_records([*S, MARKER], [*X, MARKER])
OF_NUMBERS = linred.non_markov(linred.Joint.from_records([1, 2] * 30, [3, 4, 5] * 20), 0.6)


def monitored(s, x):
    """A monitor only counts unseen values: its text is what must not show them."""
    monitor = linred.Monitor(MECHANISM)
    monitor.update(s, x)
    if monitor.n_unseen:
        raise ValueError(f"{monitor} {monitor!r}")


DOORS = {
    "from_records": linred.Joint.from_records,
    "from_records, declared": lambda s, x: linred.Joint.from_records(s, x, ["f", "m"], ["a", "bb", "ccc"]),
    "fit": lambda s, x: linred.fit(s, x, ldp=1.0, s_labels=["f", "m"], x_labels=["a", "bb", "ccc"]),
    "sanitize": MECHANISM.sanitize,
    "sanitize, numbers": OF_NUMBERS.sanitize,
    "sanitize, monitored": lambda s, x: MECHANISM.sanitize(s, x, monitor=linred.Monitor(MECHANISM)),
    "certify": lambda s, x: linred.certify(MECHANISM, s, x),
    "update": lambda s, x: monitored(s, x),
    "audit": lambda s, x: linred.audit(s, x, mechanism=MECHANISM),
    "audit, x": lambda s, x: linred.audit(s, S, x=x, mechanism=MECHANISM),
}
FAULTS = {
    "unseen": lambda values: [*values[:7], MARKER, *values[8:]],
    "unhashable": lambda values: [*values[:7], [MARKER], *values[8:]],
    "unsortable": lambda values: [*values[:7], MARKER, NUMBER, *values[9:]],
    "odd": lambda values: [*values[:7], Odd(), *values[8:]],
    "a number": lambda values: [*values[:7], NUMBER, *values[8:]],
    "too long": lambda values: [*values, MARKER],
    "all of them": lambda values: [MARKER] * len(values),
    "all numbers": lambda values: [NUMBER] * len(values),
    "a scalar": lambda values: MARKER,
    "a set": lambda values: {MARKER, *values},
    "two dimensions": lambda values: np.array([[MARKER, value] for value in values]),
    "a table": lambda values: {"one": [MARKER] * len(values), "two": values},
}

VALUES = ("unseen", "a number", "all of them", "all numbers", "two dimensions", "a table")
ACCEPTED = {"from_records": VALUES, "update": (*VALUES, "unsortable", "odd")}
"""What is no fault where the alphabet is that of the records, or where unknown values are counted."""


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("door", DOORS)
def test_no_door_says_what_is_in_a_column(door, fault):
    """Each side by itself, in every kind of column that can hold the fault."""
    n_refused = 0
    for kind in columns.KINDS.values():
        for side in (0, 1):
            values = [S, X]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    values[side] = FAULTS[fault](values[side])
                    values = [kind(one) if isinstance(one, list) else one for one in values]
                except Exception:  # this kind of column cannot hold it, and says so by itself
                    continue
            error, said = said_by(lambda values=values: DOORS[door](*values))
            n_refused += error is not None
            assert marked(said) == [], said
    assert n_refused or fault in ACCEPTED.get(door, ())


TABLES = {
    "not sensitive": {"sensitive": "sexe", "public": "job"},
    "not public": {"sensitive": "sex", "public": "jobb"},
    "neither": {"sensitive": "sexe", "public": "jobb"},
    "fine": {"sensitive": "sex", "public": "job"},
    "two": {"sensitive": ["sex", "year"], "public": "job"},
    "id": {"sensitive": "sex", "public": "job", "id": "id", "key": columns.KEY},
}


@pytest.mark.parametrize("named", TABLES)
@pytest.mark.parametrize("kind", FRAMES)
def test_no_frame_is_shown(kind, named):
    """A table whose names are its first record, one with an unseen value, one with ids that are of no use."""
    rows = {"sex": S, "job": X, "year": [NUMBER] * 60, "id": [1.5] * 60}
    for side in ("sex", "job"):
        unseen = {**rows, side: FAULTS["unseen"](rows[side])}
        headless = {f"{MARKER} {name}": values for name, values in rows.items()}
        for table in (unseen, headless):
            frame = FRAMES[kind](table)
            calls = {
                "sanitize_frame": lambda frame=frame: collected(
                    linred.sanitize_frame(frame, MECHANISM, **TABLES[named])
                ),
                "fit": lambda frame=frame: linred.Sanitizer(alpha=0.5, **TABLES[named]).fit(frame),
                "bins": lambda frame=frame: linred.Sanitizer("sex", "job", alpha=0.5, bins={"job": [1]}).fit(frame),
            }
            for name, call in calls.items():
                error, said = said_by(call)
                assert error is not None or (table is unseen and name == "fit"), name
                assert marked(said) == [], said


LABELS = {
    "twice": [MARKER, "b", MARKER],
    "unhashable": [[MARKER], "b", "c"],
    "too few": [MARKER, "b"],
    "a set": {MARKER, "b", "c"},
    "tuples of several lengths": [(MARKER,), ("b", "c"), ("d", "e")],
    "no tuples": [MARKER, "b", "c"],
    "odd": [Odd(), "b", "c"],
    "wrong": [("b", "c"), MARKER, ("d", "e")],
}


LABELS_OF_B = ("too few", "no tuples", "odd")
"""Those that are an alphabet for records of "b"."""


@pytest.mark.parametrize("wrong", LABELS)
def test_no_label_is_shown(wrong, tmp_path):
    p, labels = np.full((3, 3), 1 / 9), LABELS[wrong]

    def everything(**sides):
        joint = linred.Joint(p, **sides)
        linred.markov(joint, 0.5).save(tmp_path / "mechanism.json", force=True)
        linred.load(tmp_path / "mechanism.json").sanitize([[1, 2]], [[1, 2]])

    calls = {
        "s": lambda: everything(s_labels=labels),
        "x": lambda: everything(x_labels=labels),
        "neighbours": lambda: linred.dp(linred.Joint(p, s_labels=labels), "hamming"),
        "added": lambda: (
            linred.Joint.from_counts(np.ones((3, 3)), ["a", "b", "c"])
            + linred.Joint.from_counts(np.ones((3, 3)), labels)
        ),
        "records": lambda: linred.Joint.from_records(["b"], ["b"], labels, labels),
    }
    for name, call in calls.items():
        error, said = said_by(call)
        assert error is not None or (name == "records" and wrong in LABELS_OF_B), name
        assert marked(said) == [], said


NO_ROOM = {
    "numpy int8": np.zeros(3, np.int8),
    "numpy bool": np.zeros(3, bool),
    "pandas Int64": pd.Series([1, 2, 3], dtype="Int64"),
    "pandas ordered": pd.Series(["a", "a", "a"], dtype=pd.CategoricalDtype(["a"], ordered=True)),
    "polars Int8": pl.Series([1, 2, 3], dtype=pl.Int8),
    "polars Enum": pl.Series(["a", "a", "a"], dtype=pl.Enum(["a"])),
    "arrow int8": pa.array([1, 2, 3], pa.int8()),
    "arrow ordered": pa.array(["a", "a", "a"]).cast(pa.dictionary(pa.int8(), pa.string(), ordered=True)),
    "two columns": {"a": [1, 2, 3], "b": [1, 2, 3]},
}


@pytest.mark.parametrize("kind", NO_ROOM)
@pytest.mark.parametrize("label", [MARKER, NUMBER, (MARKER, 1)], ids=str)
def test_no_label_that_a_column_has_no_room_for_is_shown(kind, label):
    mechanism = linred.markov(linred.Joint(np.full((1, 3), 1 / 3), x_labels=["a", label, 1.5]), 0.5)
    check_refused(lambda: mechanism.sanitize(None, NO_ROOM[kind], unseen="marginal"))
    _, said = said_by(
        lambda: linred.sanitize_frame({"s": [0, 0, 0], "x": NO_ROOM[kind]}, mechanism, sensitive="s", public="x")
    )
    assert marked(said) == [], said


def test_a_target_that_cannot_be_met_names_a_symbol_by_its_place():
    tiny = linred.Joint([[0.5, 1e-18], [0.2, 0.3]], x_labels=["a", MARKER])
    error, said = said_by(lambda: linred.non_markov(tiny, ldp=1e-6))
    assert marked(said) == [], said
    assert error is None or "x_labels[" in str(error)


MISPLACED = {
    "certify, confidence": lambda values: linred.certify(MECHANISM, S, X, values),
    "audit, claim": lambda values: linred.audit(S, X, claim=values),
    "audit, a claim of figures": lambda values: linred.audit(S, X, claim={"ldp": values}),
    "audit, mechanism": lambda values: linred.audit(S, X, mechanism=values),
    "Monitor": lambda values: linred.Monitor(values),
    "Monitor, confidence": lambda values: linred.Monitor(MECHANISM, confidence=values),
    "Monitor, on_drift": lambda values: linred.Monitor(MECHANISM, on_drift=values),
    "optimal, target": lambda values: linred.optimal(MECHANISM.joint, target=values),
    "optimal, ldp": lambda values: linred.optimal(MECHANISM.joint, ldp=values),
    "markov, alpha": lambda values: linred.markov(MECHANISM.joint, values),
    "ldp": lambda values: linred.ldp(values),
    "ldp, base": lambda values: linred.ldp(MECHANISM.joint, values),
    "dp, neighbors": lambda values: linred.dp(MECHANISM.joint, values),
    "local, base": lambda values: linred.local(MECHANISM.joint, values),
    "report, base": lambda values: MECHANISM.report(values),
    "distortion": lambda values: MECHANISM.expected_distortion([values] * 3),
    "tradeoff, a mechanism": lambda values: linred.tradeoff(MECHANISM.joint, ldp=1.0, mechanisms=[values]),
    "tradeoff, a curve": lambda values: linred.tradeoff(MECHANISM.joint, alphas=0.5).plot(values),
    "fit, mechanism": lambda values: linred.fit(S, X, ldp=1.0, mechanism=values),
    "fit, target": lambda values: linred.fit(S, X, target=values),
    "fit, given x": lambda values: linred.fit(S, X, given_x=values),
    "fit, neighbours": lambda values: linred.fit(S, X, dp=1.0, neighbors=values),
    "fit, pairs": lambda values: linred.fit(S, X, pairs=values),
    "fit, secrets": lambda values: linred.fit(S, X, ldp=1.0, secrets=values),
    "fit, share of changed records": lambda values: linred.fit(S, X, max_changed=values),
    "fit, least": lambda values: linred.fit(S, X, max_changed=0.1, least=values),
    "fit, distortion": lambda values: linred.fit(S, X, ldp=1.0, distortion=values),
    "fit, certified": lambda values: linred.fit(S, X, ldp=1.0, distortion=values, confidence=0.9),
    "fit, distortion of Lemma 1": lambda values: linred.fit(S, X, ldp=1.0, distortion=values, mechanism="markov"),
    "fit, time limit": lambda values: linred.fit(S, X, ldp=1.0, time_limit=values),
    "non_markov, coupling": lambda values: linred.non_markov(MECHANISM.joint, 0.5, coupling=values),
    "non_markov, prefer": lambda values: linred.non_markov(MECHANISM.joint, 0.5, prefer=values),
    "save": lambda values: MECHANISM.save(values),
    "load": lambda values: linred.load(values),
    "monitor": lambda values: MECHANISM.sanitize(S, X, monitor=values),
    "threads": lambda values: MECHANISM.sanitize(S, X, threads=values),
    "unseen": lambda values: MECHANISM.sanitize(S, X, unseen=values),
}


@pytest.mark.parametrize("door", MISPLACED)
def test_no_column_in_the_place_of_another_argument_is_shown(door):
    for values in ([MARKER, "b"], np.array([MARKER, "b"]), {"ldp": MARKER}, [-NUMBER, 0.5], [NUMBER + 0.5, 1], Odd()):
        check_refused(lambda values=values: MISPLACED[door](values))


def raises(*labels):
    raise KeyError(MARKER, *labels)


BY_LABEL = {
    "pairs, unknown label": {"pairs": {("f", MARKER): 1.0}},
    "pairs, a value": {"pairs": {("f", "m"): MARKER}},
    "pairs, no pair": {"pairs": {MARKER: 1.0}},
    "pairs, negative": {"pairs": {("f", "m"): -NUMBER}},
    "pairs, a function": {"pairs": raises},
    "pairs, a function of text": {"pairs": lambda a, b: MARKER},
    "neighbours, unknown label": {"dp": 1.0, "neighbors": {("f", MARKER): True}},
    "neighbours, a function": {"dp": 1.0, "neighbors": raises},
    "neighbours, one way": {"dp": 1.0, "neighbors": {("f", "m"): True}},
    "secrets, unknown label": {"ldp": 1.0, "secrets": [{"f": 0, MARKER: 1}]},
    "secrets, unhashable groups": {"ldp": 1.0, "secrets": [{"f": [MARKER], "m": [MARKER]}]},
    "secrets, a function": {"ldp": 1.0, "secrets": [raises]},
    "secrets, a limit": {"secrets": {raises: MARKER}},
    "secrets, a column": {"secrets": {(NUMBER,): 1.0}},
    "distortion, unknown label": {"ldp": 1.0, "distortion": {("a", MARKER): 1.0}},
    "distortion, a value": {"ldp": 1.0, "distortion": {("a", "bb"): MARKER}},
    "distortion, a function": {"ldp": 1.0, "distortion": raises},
}


@pytest.mark.parametrize("fault", BY_LABEL)
def test_no_limit_by_label_is_shown(fault):
    """By `fit` and by `Sanitizer`, whose own text shows them neither, and with a target that they are part of."""
    asked = BY_LABEL[fault]
    sanitizer = linred.Sanitizer("sex", "job", **asked)
    calls = [lambda: linred.fit(S, X, **asked), lambda: sanitizer.fit({"sex": S, "job": X})]
    if "distortion" not in asked and "a limit" not in fault:
        calls.append(lambda: linred.fit(S, X, target=linred.Target(**asked)))
        assert marked(repr(linred.Target(**asked))) == []
    for call in calls:
        error, said = said_by(call)
        assert isinstance(error, ValueError), said
        assert marked(said + repr(sanitizer)) == [], said


@pytest.mark.parametrize("role", ["sensitive", "public", "columns", "id"])
@pytest.mark.parametrize("kind", [pd.Series, pl.Series, pa.array, lambda values: pa.chunked_array([values])])
def test_no_column_in_the_place_of_its_name_is_shown(role, kind):
    frame, named = {"sex": S, "job": X}, {"sensitive": "sex", "public": "job"}
    for values in ([MARKER, "b"], [MARKER, MARKER], [NUMBER, 1]):
        asked = named | {role: kind(values)}
        calls = [lambda asked=asked: linred.sanitize_frame(frame, MECHANISM, **asked, key=columns.KEY, start=0)]
        calls.append(lambda asked=asked: linred.Sanitizer(**asked, alpha=0.5, key=columns.KEY).fit(frame))
        for call in calls:
            check_refused(call)


def test_the_value_is_on_the_exception_for_who_asks_and_is_not_pickled():
    with pytest.raises(linred.UnseenError) as caught:
        MECHANISM.sanitize(["f", MARKER], ["a", "a"])
    assert (caught.value.name, caught.value.record, caught.value.value) == ("s", 1, MARKER)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.name, again.record, again.value, str(again)) == ("s", 1, None, str(caught.value))
    with pytest.raises(linred.UnseenError, match=r"^column 'sex'\[0\] is not") as caught:
        linred.sanitize_frame({"sex": [MARKER], "job": ["a"]}, MECHANISM, sensitive="sex", public="job")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.value) == (str(caught.value), None)
    assert marked(str(vars(again)) + repr(again)) == []


def test_the_column_that_a_frame_names_is_in_the_pickled_message_too():
    with pytest.raises(linred.UnseenError, match=r"^column 'sex'\[1\] is not in") as caught:
        linred.sanitize_frame({"sex": ["f", MARKER], "job": ["a", "a"]}, MECHANISM, sensitive="sex", public="job")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


IDS = {
    "missing": [MARKER, None],
    "a tuple": [1, (MARKER,)],
    "an odd one": [NUMBER, Odd()],
    "numbers": [1.5, float(NUMBER)],
    "an array of numbers": np.array([1.5, float(NUMBER)]),
    "lists": [[MARKER], [1]],
    "too many": [MARKER, NUMBER, MARKER],
    "a scalar": MARKER,
    "a set": {MARKER, NUMBER},
    "several columns": {"a": [MARKER, NUMBER], "b": [MARKER, float(NUMBER)]},
    "several lengths": {"a": [MARKER, NUMBER], "b": [MARKER]},
}


@pytest.mark.parametrize("wrong", IDS)
def test_no_id_is_shown(wrong):
    ids, s, x = IDS[wrong], ["f", "m"], ["a", "a"]
    calls = [
        lambda: MECHANISM.sanitize(s, x, key=columns.KEY, ids=ids),
        lambda: MECHANISM.sampler().sample([0, 1], [0, 0], key=columns.KEY, ids=ids),
    ]
    if isinstance(ids, list) and len(ids) == 2:
        frame = {"s": s, "x": x, "id": ids}
        calls.append(
            lambda: linred.sanitize_frame(frame, MECHANISM, sensitive="s", public="x", id="id", key=columns.KEY)
        )
    for call in calls:
        check_refused(call)


@pytest.mark.parametrize("seed", [-NUMBER, NUMBER + 0.5, str(NUMBER), [NUMBER], np.array([NUMBER]), MARKER], ids=repr)
def test_no_seed_is_shown(seed):
    for call in (
        lambda: MECHANISM.sanitize(S, X, seed=seed),
        lambda: MECHANISM.sampler().sample([0], [0], seed=seed),
        lambda: linred.sanitize_frame({"sex": S, "job": X}, MECHANISM, sensitive="sex", public="job", seed=seed),
        lambda: linred.Sanitizer("sex", "job", alpha=0.5, seed=seed).fit({"sex": S, "job": X}),
    ):
        check_refused(call)


KEYS = [b"\x36\xbb", bytearray(b"Zq7Marker"), "Zq7Marker" * 3, NUMBER]


@pytest.mark.parametrize("key", KEYS, ids=["bytes", "bytearray", "text", "number"])
def test_no_key_is_shown(key):
    sanitizer = linred.Sanitizer("sex", "job", alpha=0.5, key=key)
    calls = [
        lambda: MECHANISM.sanitize(S, X, key=key),
        lambda: MECHANISM.sanitize(S, X, seed=key if isinstance(key, bytes | bytearray) else str(key)),
        lambda: linred.sanitize_frame({"sex": S, "job": X}, MECHANISM, sensitive="sex", public="job", key=key),
        lambda: sanitizer.fit({"sex": S, "job": X}),
    ]
    for call in calls:
        error, said = said_by(call)
        assert error is not None
        assert marked(said + repr(sanitizer)) == [], said


ROWS = {"id": [str(i) for i in range(60)], "sex": S, "job": X, "age": [str(20 + i) for i in range(60)]}
ALL = ("f", "m", "a", "bb", "ccc")
ENDINGS = ("csv", "parquet", "arrow", "arrows")


def write(path, table):
    """A table of text as a file of the format that its name says."""
    table = pa.table({name: pa.array(values, pa.string()) for name, values in table.items()})
    if path.suffix == ".csv":
        lines = [",".join(table.schema.names), *(",".join(row.values()) for row in table.to_pylist())]
        path.write_text("\n".join(lines) + "\n")
    elif path.suffix == ".parquet":
        parquet.write_table(table, path)
    else:
        with (pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream)(str(path), table.schema) as file:
            file.write_table(table)


ASKED = ("--sensitive", "sex", "--public", "job", "--alpha", "0.5")
SHEETS = {
    "labels that the data lack": f",f,{MARKER}\nf,,1\n{MARKER},1,\n",
    "a row twice": f",f,m\n{MARKER},,1\n{MARKER},1,\n",
    "a column twice": f",{MARKER},{MARKER}\nf,,1\nm,1,\n",
    "a cell of text": f",f,m\nf,,{MARKER}\nm,1,\n",
    "a cell on the diagonal": f",f,m,a,bb,ccc\nf,{NUMBER},1,1,1,1\n" + "".join(f"{one},1,1,1,1,1\n" for one in "mabc"),
    "a negative cell": f",f,m\nf,,-{NUMBER}\nm,1,\n",
    "a field too many": f",f,m\nf,,1,{MARKER}\nm,1,\n",
    "quoted wrongly": f',f,m\n"{MARKER}"x,,1\nm,1,\n',
    "of no text": f",f,m\n{MARKER}\udcff,,1\nm,1,\n",
    "of one column": f"{MARKER}\n{MARKER}\n",
}
GROUPS = [name for name in SHEETS if "cell" not in name and name != "a column twice"]
COMMANDS = {
    "unseen s": ("sanitize", "{s}", "-m", "{m}", "-o", "out.csv"),
    "unseen x": ("sanitize", "{x}", "-m", "{m}", "-o", "out.csv"),
    "certify s": ("certify", "{m}", "{s}"),
    "certify x": ("certify", "{m}", "{x}"),
    "audit s": ("audit", "{s}", "-m", "{m}"),
    "audit x": ("audit", "{fine}", "-m", "{m}", "--public", "age", "--released", "job"),
    "no such column": ("fit", "{headless}", *ASKED),
    "no such column to sanitise": ("sanitize", "{headless}", "-m", "{m}", "-o", "out.csv"),
    "no such column to audit": ("audit", "{headless}", "--sensitive", "sex", "--released", "job"),
    "no such column to keep": ("sanitize", "{headless}", "-m", "{m}", "-o", "out.csv", "--columns", "age"),
    "bins": ("fit", "{x}", *ASKED, "--bins", "job=1,2"),
    "domain": ("fit", "{x}", *ASKED, "--domain", "{domain}"),
    "domain, s": ("fit", "{s}", *ASKED, "--domain", "{domain}"),
    "a domain that has it twice": ("fit", "{x}", *ASKED, "--domain", "{twice}"),
    "a domain of lists": ("fit", "{x}", *ASKED, "--domain", "{lists}"),
    "renamed": ("sanitize", "{s}", "-m", "{m}", "-o", "out.csv", "--sensitive", "job", "--public", "sex"),
    "an artifact of two columns": ("sanitize", "{s}", "-m", "{pairs}", "-o", "out.csv", "--sensitive", "sex"),
    "no artifact": ("report", "{s}"),
    **{f"pairs, {fault}": ("fit", "{fine}", *ASKED[:4], "--pairs", f"{{{fault}}}") for fault in SHEETS},
    **{
        f"a distance, {fault}": ("fit", "{fine}", *ASKED[:4], "--ldp", "1", "--distance", f"{{{fault}}}")
        for fault in SHEETS
    },
    **{f"groups, {fault}": ("fit", "{fine}", *ASKED[:4], "--secrets", f"{{{fault}}}=1") for fault in GROUPS},
    "pairs for a marked s": ("fit", "{s}", *ASKED[:4], "--pairs", "{of the rest}"),
    "a distance for a marked x": ("fit", "{x}", *ASKED[:4], "--ldp", "1", "--distance", "{of the rest}"),
    "a distance of text": ("fit", "{x}", *ASKED[:4], "--ldp", "1", "--distance", "absolute"),
    "a distance that is a marked file": ("fit", "{fine}", *ASKED[:4], "--ldp", "1", "--distance", "{s}"),
    "secrets that are a marked file": ("fit", "{fine}", *ASKED[:4], "--secrets", "{x}=1"),
}
"""Calls that fail. Each fault of a file with labels is tried in each option that takes such a file."""


@pytest.fixture(scope="module", params=ENDINGS)
def files(request, tmp_path_factory):
    """Files of one format that have the marker somewhere, and artifacts for them."""
    folder, ending = tmp_path_factory.mktemp("secrets"), request.param
    tables = {
        "fine": ROWS,
        "s": {**ROWS, "sex": FAULTS["unseen"](S)},
        "x": {**ROWS, "job": FAULTS["unseen"](X)},
        "headless": {f"{MARKER} {i}": values for i, values in enumerate(ROWS.values())},
    }
    paths = {name: folder / f"{name}.{ending}" for name in tables}
    for name, table in tables.items():
        write(paths[name], table)
    declared = {"sex": ["f", "m"], "job": ["a", "bb", "ccc"]}
    domains = {"domain": declared, "twice": {**declared, "job": [MARKER, MARKER]}, "lists": {"job": [{MARKER: 1}]}}
    for name, domain in domains.items():
        paths[name] = folder / f"{name}.json"
        paths[name].write_text(json.dumps(domain))
    for name, sheet in {**SHEETS, "of the rest": ",f,m,a,bb,ccc\n" + "".join(f"{s},,,,,\n" for s in ALL)}.items():
        paths[name] = folder / f"{name}.csv"
        paths[name].write_bytes(sheet.encode(errors="surrogateescape"))
    paths["m"], paths["pairs"] = folder / "m.json", folder / "pairs.json"
    frame = {name: ROWS[name] for name in ("sex", "job")}
    linred.Sanitizer("sex", "job", alpha=0.5, mechanism="non_markov").fit(frame).mechanism_.save(paths["m"])
    pairs = linred.Joint.from_counts(np.ones((2, 2)), [(MARKER, 1), ("b", 2)], ["a", "b"])
    linred.non_markov(pairs, 0.5).save(paths["pairs"])
    return paths


@pytest.mark.parametrize("what", COMMANDS)
def test_no_command_says_what_is_in_a_file(what, files, linred_command):
    done = linred_command(*(part.format(**files) for part in COMMANDS[what]))
    assert done.code == 2, done
    assert marked(done.out + done.err) == [], done.err


BROKEN = {
    "a field too many": "f,a\nm,Zq7Marker,b\n",
    "a field too few": "f,a\nZq7Marker\n",
    "text after a quote": 'f,a\n"Zq7Marker"x,a\n',
    "a quote that is not closed": 'f,a\n"Zq7Marker,a\n',
    "no UTF-8": b"f,a\nZq7Marker\xff,a\n",
    "two names alike": None,
    "no name": None,
}


@pytest.mark.parametrize("what", BROKEN)
def test_no_broken_csv_is_shown(what, linred_command, tmp_path):
    body = BROKEN[what]
    if body is None:
        text = b"sex,Zq7Marker,Zq7Marker\n" if what == "two names alike" else b"Zq7Marker,,sex\n"
    else:
        text = b"sex,job\n" + (body if isinstance(body, bytes) else body.encode())
    (tmp_path / "broken.csv").write_bytes(text)
    done = linred_command("fit", "broken.csv", *ASKED)
    assert done.code == 2, done
    assert marked(done.out + done.err) == [], done.err
