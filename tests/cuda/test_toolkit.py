"""Where headers of installed packages are found."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from softlab.cuda.toolkit import include_options


@pytest.mark.parametrize("package", ["nvidia/cuda_nvcc", "nvidia/curand", "cutlass_library/source"])
def test_headers_of_further_packages_are_found(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / package / "include"
    folder.mkdir(parents=True)
    include_options.cache_clear()
    before = include_options()
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    include_options.cache_clear()
    try:
        assert set(include_options()) - set(before) == {f"-I{folder}"}
    finally:
        monkeypatch.undo()
        include_options.cache_clear()
