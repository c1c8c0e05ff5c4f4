"""Type checks of a user's file: the README's examples pass `mypy --strict`, and a wrong name is an error."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
API = """
import math
from collections.abc import Callable
from typing import Any

import linred

joint: linred.Joint = linred.Joint.from_records(["f", "m"], ["a", "b"])
makers: list[Callable[..., linred.Mechanism]] = [
    linred.optimal, linred.selective, linred.markov, linred.non_markov,
    linred.baselines.k_rr, linred.baselines.pram, linred.baselines.watchdog,
]
mechanism: linred.Mechanism = linred.optimal(joint, ldp=1.0)
measures: list[float] = [
    linred.ldp(joint), linred.dp(joint, "hamming"), linred.log_lift(joint), linred.max_lift(joint),
    linred.min_lift(joint, base=2), linred.mutual_information(joint), linred.maximal_leakage(joint),
    linred.alpha_leakage(joint, math.inf), linred.alpha_for(joint, ldp=1.0), mechanism.dtv(), mechanism.gap,
    mechanism.mutual_information(), mechanism.expected_distortion([[0.0, 1.0], [1.0, 0.0]]),
]
value, where = linred.ldp(joint, where=True)
places: tuple[int, int] = (where.x, where.s)
fitted: linred.Mechanism = linred.fit(["f", "m"], ["a", "b"], ldp=1.0)
y: Any = mechanism.sanitize(["f"], ["a"], key=bytes(32), start=0)
codes: Any = mechanism.sampler().sample([0], [0])
bound: float = mechanism.sampler().certificate().ldp
mechanism.save("mechanism.json", force=True)
again: linred.Mechanism = linred.load("mechanism.json")
certified: float = linred.certify(again, ["f"], ["a"]).ldp
audited: bool | None = linred.audit(["f"], ["a"], claim=1.0).refuted
monitor = linred.Monitor(again, confidence=0.99)
monitor.update(["f"], ["a"])
drifted: bool = monitor.drifted
frame: Any = linred.sanitize_frame({"s": ["f"], "x": ["a"]}, again, sensitive="s", public="x")
sanitizer = linred.Sanitizer("s", "x", ldp=1.0)
table: Any = sanitizer.fit(frame).transform(frame)
curves = linred.tradeoff(joint, ldp=[0.5, 1.0])
shares: Any = curves["optimal"]["dtv"]
report: str = str(mechanism.report())
lower: float = linred.local(joint).ldp.least
reduced: linred.Joint = linred.linear_reduction(joint, 0.5) + joint
target: linred.Target = linred.Target(ldp=1.0)
try:
    mechanism.sanitize(["x"], ["a"])
except linred.UnseenError as error:
    record: int = error.record
"""


def checked(code, folder, name):
    """What mypy --strict prints of a file, and its exit code."""
    from mypy import api

    path = folder / f"{name}.py"
    path.write_text(code)
    options = ["--strict", "--no-error-summary", f"--cache-dir={folder}", f"--config-file={ROOT / 'pyproject.toml'}"]
    out, _, code = api.run([*options, str(path)])
    return out, code


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("typing")


def test_the_readmes_examples_pass_a_strict_type_checker(folder):
    for i, code in enumerate(re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)):
        assert checked(code, folder, f"readme_{i}") == ("", 0)


def test_every_public_name_is_typed(folder):
    assert checked(API, folder, "api") == ("", 0)


@pytest.mark.parametrize("wrong", ["linred.nonsense", "linred.load(5)", "linred.Joint([[1.0]]).nonsense"])
def test_what_is_wrong_is_an_error(wrong, folder):
    out, code = checked(f"import linred\n{wrong}\n", folder, "wrong")
    assert code == 1
    assert "error:" in out
