"""Headers of the user's folders: a program of the cache holds only while they have the same text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from softlab.cuda.found_headers import folders_of, found_headers
from softlab.kernel import Kernel

SOURCE = 'extern "C" __global__ void k(float* x) {{ x[threadIdx.x] *= {}; }}'


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def _times(source: str, *options: str) -> float:
    x = np.ones(1, np.float32)
    Kernel(source, "k", options=options).run(1, 1, [x], record=False)
    return float(x[0])


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "options",
    [["-I{}"], ["-I {}"], ["--include-path={}"], ["-I", "{}"], ["--include-path", "{}"]],
    ids=lambda options: " and ".join(options),
)
def test_a_changed_header_of_a_folder_is_compiled_anew(tmp_path: Path, options: list[str]) -> None:
    given = [option.format(tmp_path) for option in options]
    source = f"#include <outer/first.cuh>\n{SOURCE.format('TIMES')}"
    _written(tmp_path / "outer" / "first.cuh", '#include "second.cuh"\n#include <last.cuh>\n')
    second = _written(tmp_path / "outer" / "second.cuh", "")
    last = _written(tmp_path / "last.cuh", "#define TIMES 2\n")
    assert _times(source, *given) == 2
    last.write_text("#ifndef TIMES\n#define TIMES 3\n#endif\n")
    assert _times(source, *given) == 3
    second.write_text("#define TIMES 5\n")
    assert _times(source, *given) == 5


def test_a_changed_header_beside_the_source_is_compiled_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = f'# include "beside.cuh"\n{SOURCE.format("TIMES")}'
    for times in (2, 3):
        _written(tmp_path / "beside.cuh", f"#define TIMES {times}\n")
        assert _times(source) == times


@pytest.mark.parametrize(
    "options",
    [["-include={}"], ["--pre-include={}"], ["-include", "{}"], ["--pre-include", "{}"]],
    ids=lambda options: " and ".join(options),
)
def test_a_changed_header_that_an_option_includes_is_compiled_anew(tmp_path: Path, options: list[str]) -> None:
    for times in (2, 3):
        path = _written(tmp_path / "first.cuh", f"#define TIMES {times}\n")
        assert _times(SOURCE.format("TIMES"), *(option.format(path) for option in options)) == times


def test_nothing_is_cached_where_a_macro_names_the_header(tmp_path: Path) -> None:
    source = f"#define HEADER <named.cuh>\n#include HEADER\n{SOURCE.format('TIMES')}"
    for times in (2, 3):
        _written(tmp_path / "named.cuh", f"#define TIMES {times}\n")
        assert _times(source, f"-I{tmp_path}") == times


def test_an_unchanged_header_comes_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _written(tmp_path / "same.cuh", "#define TIMES 2\n")
    source = f"#include <same.cuh>\n{SOURCE.format('TIMES')}"
    assert _times(source, f"-I{tmp_path}") == 2

    def compiled(*_: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr("softlab.cuda.compile._compile", compiled)
    assert _times(source, f"-I{tmp_path}") == 2


def test_what_counts(tmp_path: Path) -> None:
    one = _written(tmp_path / "a" / "one.cuh", '#include "two.cuh"\n#include "one.cuh"\n')
    two = _written(tmp_path / "a" / "two.cuh", "// #include <three.cuh> in a comment\n")
    _written(tmp_path / "three.cuh", "")
    options = [f"-I{tmp_path / 'a'}", f"--include-path={tmp_path}", "-DX"]
    assert folders_of(options) == (tmp_path / "a", tmp_path)
    assert folders_of(["-DI", "-I", "a", "-include", "b", "--include-path", "c", "-I"]) == (
        Path("a"), Path("c"), Path(""),
    )  # fmt: skip

    def found(text: str, known: tuple[str, ...] = ()) -> list[str] | None:
        pairs = found_headers([text], "kernel.cu", options, known)
        return pairs and [pair.partition(": ")[0] for pair in pairs]

    assert found("int x;") == []
    assert found("#include <one.cuh>") == sorted([str(one), str(two)])
    assert found('#include "one.cuh"', ("one.cuh",)) == []  # the compiler gets this one by name
    assert found("#include <nowhere.cuh>") == []
    assert found("#  include NAME") is None
    assert found(f'#include "{two}"') == [str(two)]
