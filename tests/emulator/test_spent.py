"""The seconds that processes tell each other: they add up, and whatever happens to their file is harmless."""

from __future__ import annotations

import subprocess
import sys

import pytest

from softlab.emulator.machine import spent
from softlab.emulator.machine.native import loops_folder
from softlab.emulator.machine.spent import Spent, name_of

_NAME = name_of(("a1", "b2"), "loop")


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def _file():
    return loops_folder() / spent._FILE


def _told(taken: float, repeated: float | None = None, name: str = _NAME) -> float:
    """What a process knows that has taken these seconds."""
    return Spent().of_all(taken, taken if repeated is None else repeated, lambda: name)


def test_the_seconds_of_processes_add_up():
    assert _told(0.5, 0.375) == 0.5  # its own first execution counts for itself alone
    assert _told(0.25) == pytest.approx(0.625)
    assert _told(0.0) == pytest.approx(0.625)
    assert _told(1.0, name=name_of(("a1", "b2"), "another loop")) == 1.0


def test_a_process_tells_again_when_it_has_taken_twice_as_long():
    one, asked = Spent(), []

    def name() -> str:
        asked.append(0)
        return _NAME

    for taken in range(1, 101):
        assert one.of_all(taken, taken, name) == pytest.approx(taken)
    assert len(asked) == 7  # 1, 2, 4, ... 64
    assert _told(0.0) == pytest.approx(64)


def test_nothing_is_written_for_less_than_counts():
    _told(0.5, 0.0)
    assert _file().read_bytes() == b""


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-3],
        lambda data: bytes(255 - byte for byte in data),
        lambda data: data[:-4] + b"\xff\xff\xff\xff",  # not a number
        lambda data: data[:-4] + b"\x00\x00\x80\x7f",  # infinity
        lambda data: data[:-4] + b"\x00\x00\x80\xbf",  # -1
    ],
)
def test_a_damaged_file_says_nothing(damage):
    _told(0.5)
    _file().write_bytes(damage(_file().read_bytes()))
    assert _told(0.25) == 0.25
    assert _told(0.25) == 0.5


def test_a_file_that_cannot_be_written_is_harmless(tmp_path, monkeypatch):
    _file().mkdir(parents=True)  # no file at all
    assert _told(0.5) == _told(0.5) == 0.5
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))  # a folder that cannot be made
    assert _told(0.5) == _told(0.5) == 0.5


def test_the_seconds_of_a_file_that_can_only_be_read_stay(monkeypatch):
    _told(0.5)
    before, opened = _file().read_bytes(), spent.os.open

    def refused(path, flags, mode=0o777):
        if flags & (spent.os.O_RDWR | spent.os.O_WRONLY):
            raise PermissionError(path)
        return opened(path, flags, mode)

    monkeypatch.setattr(spent.os, "open", refused)  # chmod does not stop an administrator
    assert _told(0.25) == 0.25
    assert _file().read_bytes() == before


def test_the_file_does_not_grow_beyond_its_places(monkeypatch):
    monkeypatch.setattr(spent, "_PLACES", 64)
    names = [name_of((str(k),), "") for k in range(1000)]
    for name in names:
        _told(0.5, name=name)
    assert _file().stat().st_size == 64 * spent._PLACE.size
    assert _told(0.25, name=names[-1]) == 0.75  # the last one of a place has it
    assert sum(_told(0.0, name=name) > 0 for name in names) <= 64


def test_processes_that_write_at_once_do_not_disturb_each_other():
    code = """if True:
        import sys
        from softlab.emulator.machine.spent import Spent, name_of
        for turn in range(100):
            for k in range(10):
                Spent().of_all(0.25, 0.25, lambda: name_of((sys.argv[1], str(k)), ""))"""
    running = [subprocess.Popen([sys.executable, "-c", code, str(k)]) for k in range(3)]
    assert [one.wait() for one in running] == [0, 0, 0]
    found = [_told(0.0, name=name_of((str(process), str(k)), "")) for process in range(3) for k in range(10)]
    assert found == [25.0] * 30
