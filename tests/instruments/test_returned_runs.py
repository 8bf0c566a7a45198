"""Each function of the emulator and of the instruments returns what was recorded while kernels run."""

from __future__ import annotations

import pytest

from softlab.cuda.compile import nvrtc_version
from softlab.emulator.machine.native import compiled_blocks
from tests.instruments.returned_runs import COMPILER, RECORDED


@pytest.mark.skipif(not nvrtc_version().startswith(COMPILER), reason="another NVRTC makes other PTX")
@pytest.mark.parametrize("name", RECORDED.work)
def test_no_function_returns_something_else(name: str) -> None:
    if compiled_blocks() != "hot":
        pytest.skip("recorded with hot blocks compiled")
    assert not (said := RECORDED.changed(name)), said
