"""Instructions that the emulator does not have: the error names them, says why, and what to do."""

from __future__ import annotations

import numpy as np
import pytest

import softlab

PTX = """.version 8.6
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 p) {{
  .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .pred %q; .reg .b16 %rs<9>;
  ld.param.u64 %rd1, [p];
  {instruction}
  ret;
}}
"""


@pytest.mark.parametrize(
    ("instruction", "why", "advice"),
    [
        ("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;", "sm_100", "mma.sync"),
        ("tcgen05.wait::ld.sync.aligned;", "tensor memory", "sm_90"),
        (
            "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3, %r4}, {%f1, %f2, %f3, %f4}, %r5, 0x0;",
            "sparse",
            "dense",
        ),
        (
            "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], "
            "[%rd1, {%r2, %r2, %r2}], [%r3], {%rs1};",
            ".tile",
            "boxes",
        ),
        (
            "tensormap.replace.tile.rank.global.b1024.b32 [%rd1], 1;",
            "cannot change them",
            "softlab.TensorMap",
        ),
    ],
)
def test_the_error_says_why_and_what_to_do(instruction: str, why: str, advice: str) -> None:
    kernel = softlab.Kernel.from_ptx(PTX.format(instruction=instruction), "k", arch="sm_90")
    with pytest.raises(softlab.UnsupportedInstruction) as raised:
        kernel.run(1, 32, (np.zeros(32, np.float32),))
    message = str(raised.value)
    assert instruction.split(" ")[0].rstrip(";") in message
    assert why in message
    assert advice in message
