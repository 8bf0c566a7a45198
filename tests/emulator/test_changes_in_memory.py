"""Lanes that wait look again when memory has changed: every instruction that changes it says so, and no other one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from softlab import Surface
from softlab.emulator.machine import machine
from softlab.kernel import Kernel

HEAD = """.version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 s)
{ .shared .align 128 .b8 own[1024]; .local .align 16 .b8 stack[64];
  .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b128 %q<9>; .reg .pred %p<9>; .reg .f32 %f<9>;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [s]; mov.u32 %r1, own; mov.u64 %d3, own; mov.u64 %d4, 7;
  mov.u64 %d6, stack; mov.u32 %r2, 5; cvta.shared.u64 %d5, %d3; mov.b128 %q1, {%d4, %d4};
"""
INIT = "mbarrier.init.shared.b64 [%r1], 1; "
CHANGES = {
    "a global store": "st.global.u32 [%d1], 1;",
    "a generic store": "st.u32 [%d1], 1;",
    "a store to shared memory": "st.shared.u32 [%r1], 1;",
    "a generic store to shared memory": "st.u32 [%d5], 1;",
    "a store to the stack": "st.local.u32 [%d6], 1;",
    "an atomic": "atom.global.add.u32 %r3, [%d1], 1;",
    "a reduction": "red.shared.or.b32 [%r1], 1;",
    "an exchange": "atom.global.exch.b32 %r3, [%d1], 9;",
    "an exchange of 128 bits": "atom.global.exch.b128 %q2, [%d1], %q1;",
    "a packed sum": "atom.global.add.noftz.f16x2 %r3, [%d1], 0x3c003c00;",
    "a vector of sums": "atom.global.add.v2.f32 {%f1, %f2}, [%d1], {0f3F800000, 0f3F800000};",
    "a copy by a thread": "cp.async.ca.shared.global [%r1], [%d1], 4; cp.async.wait_all;",
    "a copy into global memory": "cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 16;"
    " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
    "a store to a surface": "sust.b.1d.b32.zero [%d2, {0}], {%r2};",
    "a new mbarrier": INIT,
    "a matrix": "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};",
}
SAME = {
    "nothing": "",
    "loads": "ld.global.u32 %r3, [%d1]; ld.shared.u32 %r3, [%r1]; ld.local.u32 %r3, [%d6]; ld.u32 %r3, [%d5];",
    "a sum with 0": "atom.global.add.u32 %r3, [%d1], 0;",
    "a swap of something else": "atom.global.cas.b32 %r3, [%d1], 8, 9;",
    "an exchange of the same": "atom.global.exch.b32 %r3, [%d1], 0;",
    "a load from a surface": "suld.b.1d.b32.zero {%r3}, [%d2, {0}];",
    "matrices that are read": "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r1];",
    "numbers": "add.u32 %r3, %r2, 1; shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1; membar.gl; bar.warp.sync -1;",
}


@pytest.fixture
def units(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The units of each batch that runs."""
    found: list[Any] = []
    make = machine.make_units

    def noted(*given: Any) -> Any:
        found.append(make(*given))
        return found[-1]

    monkeypatch.setattr(machine, "make_units", noted)
    return found


def changes(units: list[Any], body: str) -> int:
    """How far the number grows in a run of this body by one warp."""
    surface = Surface(np.zeros(64, np.uint32))
    before = len(units)
    for text in ("", body):
        run = Kernel.from_ptx(f"{HEAD}{text} ret; }}\n", "k").run
        run(1, 32, (np.zeros(64, np.uint32), surface), check=False, record=False)
    plain, given = units[before:]
    return int(given.writes() - plain.writes())


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_memory(name: str, units: list[Any]) -> None:
    assert changes(units, CHANGES[name]) > 0


@pytest.mark.parametrize("name", SAME)
def test_what_leaves_it_as_it_is(name: str, units: list[Any]) -> None:
    assert changes(units, SAME[name]) == 0


@pytest.mark.parametrize("rest", ["mbarrier.arrive.shared.b64 _, [%r1];", "mbarrier.inval.shared.b64 [%r1];",
                                  "mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], 16;"])  # fmt: skip
def test_what_happens_to_an_mbarrier(rest: str, units: list[Any]) -> None:
    """By one lane of the warp."""
    one = "mov.u32 %r4, %tid.x; setp.ne.u32 %p1, %r4, 0; @%p1 bra END; {} END: "
    assert changes(units, one.format(INIT + rest)) > changes(units, one.format(INIT)) > 0


def test_the_heap(units: list[Any]) -> None:
    source = """extern "C" __global__ void k(int* y, int count) {
      void* p[3];
      for (int i = 0; i < count; ++i) p[i % 3] = malloc(16);
      y[0] = p[0] != nullptr; }"""
    found = []
    for count in (1, 2, 3):
        Kernel(source, "k").run(1, 1, (np.zeros(1, np.int32), count), record=False)
        found.append(units[-1].heap.changes)
    assert found[0] > 0
    assert found == sorted(set(found))


def test_grids_that_device_code_launches(units: list[Any], tmp_path: Path) -> None:
    """A buffer for the parameters and the launch itself are a change each, and the error code of both is stored."""
    source = """__global__ void child(int* y) { y[1] = 6; }
      extern "C" __global__ void k(int* y, int count) {
        for (int i = 0; i < count; ++i) child<<<1, 1>>>(y);
        y[0] = 1; }"""
    file, found = tmp_path / "launches.cu", []
    file.write_text(source)
    for count in (0, 1, 3):
        y = np.zeros(2, np.int32)
        first = len(units)
        Kernel.from_file(file, "k").run(1, 1, (y, count), record=False)
        assert y.tolist() == [1, 6 * (count > 0)]
        found.append(units[first].children.changes)
    assert found == [0, 2, 6]
