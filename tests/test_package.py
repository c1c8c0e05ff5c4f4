"""The package as a whole: its import, the examples in the documentation, the choice of kernels."""

import ast
import doctest
import importlib.util
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import linred
from linred._kernels import extremes, sampling, simd

ROOT = Path(__file__).parent.parent


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env={**os.environ, **environment}
    )


def test_import_loads_no_optimiser_no_plots_no_frames():
    heavy = ("scipy", "pandas", "polars", "pyarrow", "matplotlib", "ot", "cryptography")
    done = run(f"import sys, linred; print([name for name in {heavy} if name in sys.modules])")
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_the_stub_names_what_the_package_serves():
    stub = ast.parse((ROOT / "linred" / "__init__.pyi").read_text())
    stated = {name.name: node.module for node in stub.body if isinstance(node, ast.ImportFrom) for name in node.names}
    assert stated == {name: f"linred.{home}" for name, home in linred._HOME.items()}


def test_completion_finds_every_public_name():
    assert dir(linred) == sorted(linred.__all__)
    with pytest.raises(AttributeError, match=r"^module 'linred' has no attribute 'nothing'$"):
        linred.nothing  # noqa: B018


def test_every_public_name_is_documented():
    for name in linred.__all__:
        assert getattr(linred, name).__doc__, name


MODULES = [module.name for module in pkgutil.walk_packages(linred.__path__, "linred.") if not module.ispkg]


def has_examples(name):
    source = importlib.util.find_spec(name).origin
    return source.endswith(".py") and ">>> " in Path(source).read_text()


@pytest.mark.parametrize("name", [name for name in MODULES if has_examples(name)])
def test_examples_in_docstrings(name):
    failed, attempted = doctest.testmod(importlib.import_module(name))
    assert failed == 0
    assert attempted > 0


RAISED = {name for name in linred.__all__ if name.endswith(("Error", "Warning"))}
WITHOUT_EXAMPLE = {*RAISED, "Mechanism", "Sampler", "baselines", "load"}
"""What is raised, what other functions return, a module, and what needs a file."""


def test_every_public_name_has_an_example():
    shown = {name for name in linred.__all__ if ">>> " in getattr(linred, name).__doc__}
    assert set(linred.__all__) - shown == WITHOUT_EXAMPLE


def test_a_package_holds_a_docstring_alone():
    """So that `import linred` stays free of what the packages need, and no function is hidden by a module."""
    for package in pkgutil.walk_packages(linred.__path__, "linred."):
        if package.ispkg:
            tree = ast.parse(Path(importlib.util.find_spec(package.name).origin).read_text())
            assert len(tree.body) == 1, package.name
            assert ast.get_docstring(tree), package.name


def test_no_module_imports_the_private_names_of_another():
    """`ruff` sees module._name; an import of the name itself is looked for here."""
    found = []
    for path in (ROOT / "linred").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("linred."):
                found += [f"{path}: {name.name}" for name in node.names if name.name.startswith("_")]
    assert [one for one in found if not one.endswith(("__version__",))] == []


def test_the_readmes_example_prints_what_it_says():
    readme = (ROOT / "README.md").read_text()
    code, output = re.search(r"```python\n(.*?)```\n+```text\n(.*?)```", readme, re.DOTALL).groups()
    done = run(code)
    assert done.stdout == output, done.stderr


def test_the_readmes_table_is_what_is_computed():
    readme = (ROOT / "README.md").read_text()
    table = re.search(r"<!-- table -->\n(.*?)<!-- /table -->", readme, re.DOTALL).group(1)
    done = run("import sys; sys.path.append('docs'); import make_table; print(make_table.table())")
    assert done.stdout == table, done.stderr


def test_the_demo_does_the_whole_job_and_the_readme_shows_it(tmp_path):
    done = run(f"from linred.cli.main import main; main(['demo', {str(tmp_path)!r}])")
    readme = (ROOT / "README.md").read_text()
    command, shown = re.search(r"```sh\n(linred run .*?)\n```\n+```text\n(.*?)```", readme, re.DOTALL).groups()
    assert f"$ {command}\n" in done.stdout
    assert shown in done.stdout
    assert re.search(r"LDP +infinite +1\.000\n", done.stdout), done.stderr
    assert re.search(r"\(total variation distance, DTV\) +0\.008365\n", done.stdout)
    assert re.search(r"relationship +no +6 +0\.7254 +80\.19 % +more than Y\n", done.stdout)
    assert re.search(r"\n +1 +68\.27 % +5\.79 % +10\.11 % +0\.84 %\n", done.stdout)
    assert "CC BY 4.0" in done.stdout
    sanitised = (tmp_path / "sanitised.csv").read_text().splitlines()
    assert sanitised[0] == "education,occupation"
    assert len(sanitised) == 48_842 + 1
    for name, first in (("report.html", "<!doctype html>"), ("tradeoff.svg", "<?xml"), ("mechanism.json", "{")):
        assert (tmp_path / name).read_text().startswith(first)


def test_the_readme_shows_what_confidence_costs(linred_command):
    readme = (ROOT / "README.md").read_text()
    pattern = r"```sh\nlinred (fit \S+ .*?--confidence .*?) -o \S+\n```\n+```text\n(.*?)```"
    asked, shown = re.search(pattern, readme, re.DOTALL).groups()
    command, _, *options = asked.split()
    done = linred_command(command, ROOT / "linred" / "data" / "adult.csv.gz", *options)
    assert shown in done.out, done


@pytest.mark.parametrize("variant", simd.available())
def test_the_environment_forces_a_variant(variant):
    code = (
        "from linred._kernels import extremes, sampling, simd; print(simd.chosen, extremes.variant, sampling.variant)"
    )
    in_use = [simd.highest(family.VARIANTS, variant) for family in (extremes, sampling)]
    assert run(code, LINRED_SIMD=variant).stdout.split() == [variant, *in_use]


def test_an_empty_variable_is_no_choice():
    assert (
        run("from linred._kernels import simd; print(simd.chosen)", LINRED_SIMD="").stdout.strip()
        == simd.available()[-1]
    )


def test_an_unknown_variant_is_refused_at_import():
    done = run("import linred", LINRED_SIMD="sse9")
    assert done.returncode == 1
    assert "LINRED_SIMD = 'sse9' is not one of those that run here: auto, serial" in done.stderr
