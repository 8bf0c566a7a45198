"""Instructions without a mask are for whole warps: lanes that come to them on different ways wait for each other."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.kernel import Kernel

#: What a warp does together, and how many threads do.
TOGETHER = {
    "ldmatrix": ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%v}, [%at];", 32),
    "movmatrix": ("movmatrix.sync.aligned.m8n8.trans.b16 %v, %v;", 32),
    "mma": ("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%v, %w}, {%v}, {%w}, {%v, %w};", 32),
    "wgmma.fence": ("wgmma.fence.sync.aligned;", 128),
    "wgmma.commit_group": ("wgmma.commit_group.sync.aligned;", 128),
    "wgmma.wait_group": ("wgmma.wait_group.sync.aligned 0;", 128),
}
#: Even lanes go round at once, and odd ones take a loop of their own before, which stands behind.
PTX = """.version 8.8
.target sm_90a
.address_size 64
.shared .align 128 .b8 tile[2048];
.visible .entry k(.param .u64 out, .param .u32 turns) {
  .reg .b64 %rd<4>; .reg .b32 %r<9>, %v, %w, %at, %t, %n; .reg .pred %p, %even, %more;
  ld.param.u64 %rd0, [out]; ld.param.u32 %n, [turns];
  mov.u32 %t, %tid.x; mov.u32 %v, %t; mul.lo.u32 %w, %t, 3; mov.u32 %at, tile;
  shl.b32 %r0, %t, 4; add.u32 %at, %at, %r0;
  st.shared.u32 [%at], %t; st.shared.u32 [%at+4], %n; st.shared.u32 [%at+8], %w; st.shared.u32 [%at+12], %t;
  bar.sync 0;
  and.b32 %r1, %t, 1; setp.eq.u32 %even, %r1, SPLIT; mov.u32 %r2, 0;
TURN:
  TOGETHER
  add.u32 %r2, %r2, 1; add.u32 %w, %w, %r2;
  setp.ge.u32 %p, %r2, %n;
  @%p bra END;
  @%even bra TURN;
  mov.u32 %r3, 0;
OWN:
  add.u32 %r3, %r3, 1; setp.lt.u32 %more, %r3, 5;
  @%more bra OWN;
  bra TURN;
END:
  ld.shared.u32 %r4, [%at];
  shl.b32 %r5, %t, 3; cvt.u64.u32 %rd1, %r5; add.u64 %rd1, %rd0, %rd1;
  add.u32 %v, %v, %w; st.global.u32 [%rd1], %v; st.global.u32 [%rd1+4], %r4;
  ret;
}
"""


@pytest.mark.parametrize("name", TOGETHER)
def test_lanes_of_different_ways_come_to_it_together(name: str) -> None:
    assembly, block = TOGETHER[name]
    results = []
    for even in (0, 7):  # no number modulo 2 is 7: all lanes take the same way
        kernel = Kernel.from_ptx(PTX.replace("TOGETHER", assembly).replace("SPLIT", str(even)), "k")
        out = np.zeros((block, 2), np.uint32)
        kernel.run(1, block, (out, np.uint32(3)), record=False)
        results.append(out)
    np.testing.assert_array_equal(*results)
