"""Atomic file writes: complete or absent files, their modes, and targets that are refused."""

import os
import stat

import pytest

from linred._common import atomic_file
from support.commands import files_in


@pytest.fixture(autouse=True)
def usual_umask():
    old = os.umask(0o022)
    yield
    os.umask(old)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_that_appears_meanwhile_is_kept(tmp_path):
    target = tmp_path / "out"
    writing = atomic_file.atomic_writer(target)
    writing.__enter__().write(b"new")
    target.write_text("other")
    with pytest.raises(FileExistsError):
        writing.__exit__(None, None, None)
    assert target.read_text() == "other"
    assert files_in(tmp_path) == ["out"]


def test_a_file_that_appears_in_the_last_moment_is_kept(tmp_path, monkeypatch):
    """The file appears after the last check of the target, before the temporary file gets its name."""
    target, look = tmp_path / "out", atomic_file.check_target

    def look_and_lose(path, *more):
        found = look(path, *more)
        if writing:
            target.write_text("other")
        return found

    writing = []
    monkeypatch.setattr(atomic_file, "check_target", look_and_lose)
    with (
        pytest.raises(FileExistsError, match="exists: force=True replaces it"),
        atomic_file.atomic_writer(target) as file,
    ):
        writing.append(file.write(b"new"))
    assert target.read_text() == "other"
    assert files_in(tmp_path) == ["out"]


def test_a_file_system_without_links(tmp_path, monkeypatch):
    def link(*_):
        raise PermissionError("not here")

    monkeypatch.setattr(os, "link", link)
    with atomic_file.atomic_writer(tmp_path / "out") as file:
        file.write(b"new")
    assert (tmp_path / "out").read_bytes() == b"new"
    assert files_in(tmp_path) == ["out"]


def test_what_is_public_and_what_is_private(tmp_path):
    for private, expected in ((False, 0o644), (True, 0o600)):
        path = tmp_path / f"{private}"
        with atomic_file.atomic_writer(path, private=private) as file:
            assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == expected
        assert mode(path) == expected


@pytest.mark.parametrize("before", [0o600, 0o640, 0o666, 0o4755])
def test_a_file_that_is_replaced_passes_on_its_mode(tmp_path, before):
    path = tmp_path / "out"
    path.touch()
    path.chmod(before)
    with atomic_file.atomic_writer(path, force=True) as file:
        file.write(b"new")
    assert mode(path) == before & 0o777
    with atomic_file.atomic_writer(path, force=True, private=True) as file:
        file.write(b"secret")
    assert mode(path) == 0o600


def test_names_as_long_as_they_may_be(tmp_path):
    path = tmp_path / ("n" * 255)
    with atomic_file.atomic_writer(path) as file:
        (held,) = files_in(tmp_path)
        file.write(b"whole")
    assert files_in(tmp_path) == [path.name]
    (tmp_path / held).touch()  # as if killed
    assert [one.name for one in atomic_file.stale(path)] == [held]


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/stderr", "/dev/fd/0", "/proc/self/fd/2", "/proc/1/fd/1"])
def test_names_of_open_descriptors_are_refused(name, tmp_path):
    link = tmp_path / "link"
    os.symlink(name, link)
    for path in (name, link):
        with pytest.raises(ValueError, match="is an open file descriptor, not a file: name a file"):
            atomic_file.check_target(path, force=True)
    assert atomic_file.is_standard_output(link) == (name == "/dev/stdout")


def test_links_that_lead_nowhere_or_in_a_circle_are_no_descriptors(tmp_path):
    os.symlink("circle", tmp_path / "circle")
    os.symlink("nothing", tmp_path / "nowhere")
    for name in ("circle", "nowhere", "missing", "missing/missing"):
        assert not atomic_file.is_standard_output(tmp_path / name)
    assert not atomic_file.is_standard_output("-")
