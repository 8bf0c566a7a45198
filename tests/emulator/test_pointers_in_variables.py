"""Variables that begin as addresses of others, with a distance, and loads through them."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.kernel import Kernel


@pytest.mark.parametrize("addend", [0, 4, 8, 12])
def test_a_variable_points_into_another_one(addend: int) -> None:
    ptx = f""".version 8.8
.target sm_90
.address_size 64
.global .align 4 .u32 numbers[4] = {{11, 22, 33, 44}};
.global .align 8 .u64 place = generic(numbers)+{addend};
.visible .entry k(.param .u64 y)
{{ .reg .b32 %r<3>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [y]; ld.global.u64 %d2, [place]; ld.u32 %r1, [%d2]; st.global.u32 [%d1], %r1; ret; }}
"""
    y = np.zeros(1, np.uint32)
    Kernel.from_ptx(ptx, "k").run(1, 1, (y,), record=False)
    assert y[0] == (11, 22, 33, 44)[addend // 4]
