"""Fixtures that several packages of tests use, and the profiles of hypothesis."""

import hypothesis
import pytest

from linred._kernels import simd
from linred.solvers import lp
from support.commands import ADULT, ASKED, Done, process
from support.kernels import WITH_VARIANTS

# Examples are derandomised, so that a failure repeats. `make test-all` generates more of them.
hypothesis.settings.register_profile("linred", derandomize=True, deadline=None, max_examples=150)
hypothesis.settings.register_profile("long", derandomize=True, deadline=None, max_examples=1500)
hypothesis.settings.load_profile("linred")


@pytest.fixture(params=simd.available())
def variant(request):
    """Each level that this machine runs; each family uses its variant for the level."""
    for family in WITH_VARIANTS:
        family.use_variant(request.param)
    yield request.param
    for family in WITH_VARIANTS:
        family.use_variant(simd.chosen)


@pytest.fixture(params=["pot", "highs"])
def solver(request, monkeypatch):
    """Each solver of transport problems, by POT and by HiGHS."""
    monkeypatch.setattr(lp, "_has_pot", lambda: request.param == "pot")
    return request.param


@pytest.fixture
def linred_command(capfd, tmp_path, monkeypatch):
    """Run the command in this process, in an empty directory: linred_command(*arguments) is `Done`."""
    from linred.cli.main import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("signal.signal", lambda *_: None)

    def run(*arguments):
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        return Done(left.value.code, *capfd.readouterr())

    return run


@pytest.fixture(scope="session")
def artifact_path(tmp_path_factory):
    """The path of a mechanism for marital_status and occupation, fitted on the small Adult file."""
    path = tmp_path_factory.mktemp("artifact") / "mechanism.json"
    assert process("fit", ADULT, *ASKED, "-o", path, "-q").code == 0
    return path
