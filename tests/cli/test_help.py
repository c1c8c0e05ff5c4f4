"""What `--help` prints: whole summaries, options under headings, and no option without a help text of its own."""

import re

import click
import pytest

import linred
from linred.cli import help_pages
from linred.cli.main import all_commands
from support.commands import process

COMMANDS = all_commands().commands


def page(*arguments, columns=80):
    done = process(*arguments, "--help", env={"COLUMNS": str(columns), "PATH": ""})
    assert (done.code, done.err) == (0, "")
    return done.out


@pytest.mark.parametrize("columns", [80, 120])
def test_summaries_of_the_commands_are_whole_phrases_on_one_line(columns):
    lines = page(columns=columns).partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    found = dict(line.split(maxsplit=1) for line in lines)
    assert found.keys() == COMMANDS.keys()
    for name, summary in found.items():
        assert summary == COMMANDS[name].help.partition("\n")[0].removesuffix("."), name
        assert summary[0].isupper()
        assert "..." not in summary


def test_the_page_says_what_the_exit_codes_mean():
    text = page()
    listed = text.partition("Exit codes:")[2].partition("Examples:")[0]
    assert re.findall(r"\b\d+\b", listed) == ["0", "1", "2", "3", "130", "141", "143"]


@pytest.mark.parametrize("name", ["fit", "sanitize", "run"])
def test_options_are_under_headings(name):
    text, command = page(name), COMMANDS[name]
    headings = [line for line in text.splitlines() if line.endswith(":") and line[0] != " "]
    design = ["Data:", "Targets:", "Utility:", "Mechanism:"]
    expected = {"fit": [*design, "Output:"], "sanitize": ["Data:", "Output:", "Randomness:"]}
    assert headings == [*expected.get(name, [*design, "Output:", "Randomness:"]), "Other:"]
    other = text.partition("\nOther:\n")[2]
    for option in command.params[1:]:
        assert text.count(f" {option.opts[-1]} ") + text.count(f" {option.opts[-1]}\n") >= 1, option.name
        assert (option.opts[-1] in other) == (option.name in ("threads", "quiet", "verbose"))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_text_stands_on_its_own(name):
    for parameter in COMMANDS[name].params:
        if isinstance(parameter, click.Option):
            assert parameter.help[0].isupper(), parameter.name
            assert not parameter.help.endswith("."), parameter.name
            assert len(parameter.help.split()) > 2, parameter.name


def test_headings_name_options_that_exist():
    known = {parameter.name for command in COMMANDS.values() for parameter in command.params}
    named = [name for names in help_pages.HEADINGS.values() for name in names]
    assert len(named) == len(set(named))
    assert set(named) <= known


def test_the_version_is_the_packages():
    assert process("--version").out == f"linred, version {linred.__version__}\n"
