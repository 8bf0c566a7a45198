"""What asynchronous and warp-wide instructions, fences and copies say of themselves, form by form (PTX ISA)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.machine import compiler  # noqa: F401 - it knows all opcodes
from softlab.emulator.machine.lowering import lowered
from softlab.emulator.opcodes.effects import Effect, _parameter
from softlab.emulator.ptx.linker import link
from softlab.emulator.ptx.parser import parse
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import Site
from softlab.errors import Error

HEAD = ".version 8.8\n.target sm_90a\n.address_size 64\n"
DECLARED = ".reg .b16 %s<9>; .reg .b32 %r<9>; .reg .u32 %u<9>; .reg .s32 %i<9>; .reg .b64 %d<9>; .reg .pred %p<9>;"


def effect(text: str) -> Any:
    image = link(parse(f"{HEAD}.visible .entry k()\n{{\n{DECLARED}\n.reg .f32 %f<9>;\nret;\n{text}\n}}\n"), "k")
    found = lowered(image.instructions[1], 1, image)
    assert isinstance(found, Effect)
    return found


def seen(site: Site | None) -> tuple | None:
    """What a site says: its space, bytes, whether it writes, its offset and operation."""
    return None if site is None else (site.space, site.width, site.store, site.offset, site.operation)


def signature(found: Any) -> str:
    kinds = " ".join(kind for _, kind in found.sources)
    return f"{kinds} -> {' '.join(found.results)}".strip()


@pytest.mark.parametrize(
    ("operands", "sized"),
    [
        ("", ""), (", %r2", "size"), (", %u2", "size"), (", %i2", "size"), (", 6", "size"), (", %p2", "ignore"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("width", [4, 8, 16])
def test_copies_by_threads(width: int, operands: str, sized: str) -> None:
    """A number says how many bytes are copied, and a predicate whether zeros come instead of them."""
    found = effect(f"cp.async.ca.shared.global [%r1+16], [%d1+32], {width}{operands};")
    assert seen(found.site.into) == ("shared", width, True, 16, "")
    assert seen(found.site.out_of) == ("global", width, False, 32, "")
    assert found.site.sized == sized
    assert signature(found) == f"address address{ {'': '', 'size': ' u32', 'ignore': ' pred'}[sized] } ->"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mbarrier.init.SPACE.b64 [ADDRESS], %r2;", "address u32 ->"),
        ("mbarrier.inval.SPACE.b64 [ADDRESS];", "address ->"),
        ("mbarrier.expect_tx.relaxed.cta.SPACE.b64 [ADDRESS], %r2;", "address u32 ->"),
        ("mbarrier.complete_tx.relaxed.cta.SPACE.b64 [ADDRESS], %r2;", "address u32 ->"),
        ("mbarrier.arrive.SPACE.b64 %d1, [ADDRESS];", "address u32 u32 -> u64"),
        ("mbarrier.arrive_drop.SPACE.b64 %d1, [ADDRESS], 3;", "address u32 u32 -> u64"),
        ("mbarrier.arrive.expect_tx.SPACE.b64 %d1, [ADDRESS], %r2;", "address u32 u32 -> u64"),
        ("mbarrier.test_wait.SPACE.b64 %p1, [ADDRESS], %d2;", "address u64 -> pred"),
        ("mbarrier.test_wait.parity.SPACE.b64 %p1, [ADDRESS], %r2;", "address u32 -> pred"),
        ("mbarrier.try_wait.SPACE.b64 %p1, [ADDRESS], %d2;", "address u64 -> pred"),
        ("mbarrier.try_wait.parity.SPACE.b64 %p1, [ADDRESS], %r2, %r3;", "address u32 -> pred"),
        ("cp.async.mbarrier.arrive.SPACE.b64 [ADDRESS];", "address ->"),
        ("cp.async.mbarrier.arrive.noinc.SPACE.b64 [ADDRESS];", "address ->"),
    ],
)
def test_mbarriers(text: str, expected: str) -> None:
    """All of them change the object, whose offset is the operand's. Those that wait say whether the event occurred."""
    for space in ("shared", "shared::cta"):
        found = effect(text.replace("SPACE", space).replace("ADDRESS", "%r1+24"))
        assert seen(found.site)[:3] == ("shared", 8, True)  # type: ignore[index]
        assert found.site.operation == "mbarrier"
        assert signature(found) == expected
        assert (found.occurred is not None) == ("wait" in text)


@pytest.mark.parametrize(("numbers", "count", "nbytes"), [("", 1, 0), (", 5", 5, 0)])
def test_what_an_arrival_counts_for(numbers: str, count: int, nbytes: int) -> None:
    """One arrival without a number; with expect_tx the number is one of bytes."""
    for name in ("arrive", "arrive_drop"):
        _, (counted, _), (expected, _) = effect(f"mbarrier.{name}.shared.b64 %d1, [%r1]{numbers};").sources
        assert (counted.value, expected.value) == (count, nbytes)
        _, (counted, _), (expected, _) = effect(f"mbarrier.{name}.expect_tx.shared.b64 _, [%r1], 64;").sources
        assert (counted.value, expected.value) == (1, 64)


OBJECT = ("cluster", 8, True, 0, "mbarrier")
FROM_GLOBAL, INTO_GLOBAL = ("global", 1, False, 0, ""), ("global", 1, True, 0, "")
FROM_SHARED, INTO_SHARED = ("cluster", 1, False, 0, ""), ("cluster", 1, True, 0, "")


@pytest.mark.parametrize(
    ("text", "into", "out_of", "mbarrier", "expected"),
    [
        ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], %r2, [%r3];",
         INTO_SHARED, FROM_GLOBAL, OBJECT, "address address u32 address ->"),
        ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
         " [%r1], [%d1], 64, [%r3], %s1;", INTO_SHARED, FROM_GLOBAL, OBJECT, "address address u32 address u16 ->"),
        ("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], 64, [%r3];",
         INTO_SHARED, FROM_SHARED, OBJECT, "address address u32 address ->"),
        ("cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], %r2;",
         INTO_GLOBAL, FROM_SHARED, None, "address address u32 ->"),
        ("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%d1], [%r1], 64;",
         INTO_GLOBAL, FROM_SHARED, None, "address address u32 ->"),
        ("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max.u32"
         " [%r1], [%r2], 8, [%r3];",
         INTO_SHARED, FROM_SHARED, OBJECT, "address address u32 address ->"),
    ],
)  # fmt: skip
def test_bulk_copies(text: str, into: tuple, out_of: tuple, mbarrier: tuple | None, expected: str) -> None:
    found = effect(text)
    assert (seen(found.site.into), seen(found.site.out_of), seen(found.site.mbarrier)) == (into, out_of, mbarrier)
    assert signature(found) == expected
    assert found.site.multicast == ("multicast" in text)
    reduction = found.site.reduction
    assert (reduction and reduction.name) == {"add.f32": "add.f32", "max.u32": "max.u32"}.get(text.split(" ")[0][-7:])


@pytest.mark.parametrize("axes", [1, 2, 3, 4, 5])
def test_copies_of_tensors(axes: int) -> None:
    """A coordinate of 32 bits per axis."""
    at = f"[%d1, {{{', '.join(f'%r{k}' for k in range(axes))}}}]"
    kinds = " s32" * axes
    found = effect(
        f"cp.async.bulk.tensor.{axes}d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], {at}, [%r4];"
    )
    bulk = found.site.bulk
    assert (seen(bulk.into), seen(bulk.out_of), seen(bulk.mbarrier)) == (INTO_SHARED, FROM_GLOBAL, OBJECT)
    assert (found.site.axes, found.site.operation) == (axes, "")
    assert signature(found) == f"address address address{kinds} ->"
    for text, operation in (
        (f"cp.async.bulk.tensor.{axes}d.global.shared::cta.bulk_group {at}, [%r4];", ""),
        (f"cp.reduce.async.bulk.tensor.{axes}d.global.shared::cta.min.bulk_group {at}, [%r4];", "min"),
    ):
        found = effect(text)
        bulk = found.site.bulk
        assert (seen(bulk.into), seen(bulk.out_of), seen(bulk.mbarrier)) == (INTO_GLOBAL, FROM_SHARED, None)
        assert (found.site.axes, found.site.operation) == (axes, operation)
        assert signature(found) == f"address address{kinds} ->"
    found = effect(f"cp.async.bulk.prefetch.tensor.{axes}d.L2.global {at};")
    assert not found.site.bulk.into.store
    assert signature(found) == f"address{kinds} ->"


@pytest.mark.parametrize(
    ("text", "width", "operation", "expected"),
    [
        ("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1+4], %r2, [%r3];", 4, "", "b32"),
        ("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r1+4], {%r2, %r4}, [%r3];", 8, "", "b32 b32"),
        ("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r1+4], %d2, [%r3];", 8, "", "b64"),
        ("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1+4], %r2, [%r3];",
         4, "add.u32", "u32"),
        ("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.or.b32 [%r1+4], %r2, [%r3];",
         4, "or.b32", "b32"),
    ],
)  # fmt: skip
def test_values_that_are_sent(text: str, width: int, operation: str, expected: str) -> None:
    found = effect(text)
    assert seen(found.site.into) == ("cluster", width, True, 4, operation)
    assert seen(found.site.mbarrier) == OBJECT
    assert signature(found) == f"address address {expected} ->"


@pytest.mark.parametrize(
    ("text", "mode", "expected"),
    [
        ("isspacep.shared %p1, %d1;", "shared", "u64 -> pred"),
        ("isspacep.shared::cluster %p1, %d1;", "cluster", "u64 -> pred"),
        ("isspacep.global %p1, %d1;", "global", "u64 -> pred"),
        ("isspacep.local %p1, %d1;", "local", "u64 -> pred"),
        ("isspacep.const %p1, %d1;", "const", "u64 -> pred"),
        ("shfl.sync.idx.b32 %r1, %r2, %r3, 31, -1;", "idx", "b32 u32 u32 u32 -> b32 pred"),
        ("shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, %r4;", "up", "b32 u32 u32 u32 -> b32 pred"),
        ("vote.sync.all.pred %p1, %p2, -1;", "all", "pred u32 -> pred"),
        ("vote.sync.uni.pred %p1, %p2, %r3;", "uni", "pred u32 -> pred"),
        ("vote.sync.ballot.b32 %r1, %p2, -1;", "ballot", "pred u32 -> b32"),
        ("match.any.sync.b32 %r1, %r2, -1;", "any", "b32 u32 -> b32 pred"),
        ("match.any.sync.b64 %r1, %d2, -1;", "any", "b64 u32 -> b32 pred"),
        ("match.all.sync.b64 %r1|%p1, %d2, -1;", "all", "b64 u32 -> b32 pred"),
        ("redux.sync.add.s32 %r1, %r2, -1;", "add", "s32 u32 -> s32"),
        ("redux.sync.xor.b32 %r1, %r2, -1;", "xor", "b32 u32 -> b32"),
        ("activemask.b32 %r1;", "", "-> b32"),
        ("elect.sync %r1|%p1, -1;", "", "u32 -> b32 pred"),
        ("bar.warp.sync %r1;", "", "u32 ->"),
        ("cp.async.wait_group 3;", "", "u32 ->"),
        ("cp.async.wait_all;", "", "->"),
        ("cp.async.commit_group;", "", "->"),
        ("cp.async.bulk.commit_group;", "", "->"),
        ("cp.async.bulk.wait_group.read 1;", "", "u32 ->"),
        ("wgmma.fence.sync.aligned;", "", "->"),
        ("wgmma.wait_group.sync.aligned 2;", "", "u32 ->"),
        ("getctarank.shared::cluster.u32 %r1, %r2;", "cluster", "u32 -> u32"),
        ("getctarank.u64 %r1, %d2;", "generic", "u64 -> u32"),
        ("fence.acq_rel.gpu;", "", "->"),
        ("nanosleep.u32 %r1;", "", "->"),
        ("barrier.cluster.arrive.aligned;", "", "->"),
        ("barrier.cluster.wait.aligned;", "", "->"),
        ("createpolicy.fractional.L2::evict_first.b64 %d1, 1.0;", "", "-> b64"),
        ("suld.b.2d.v2.b32.clamp {%r1, %r2}, [%d1, {%r3, %r4}];", "2d 32 2 clamp", "u64 u32 u32 -> u32 u32"),
        ("sust.b.1d.b16.trap [%d1, {%r2}], {%s1};", "1d 16 1 trap", "u64 u32 u16 ->"),
        ("tld4.g.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f2, %f3}];", "g f32", "u64 f32 f32 -> f32 f32 f32 f32"),
        ("movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;", "", "b32 -> b32"),
    ],
)
def test_others(text: str, mode: str, expected: str) -> None:
    found = effect(text)
    assert getattr(found.site, "mode", "") == mode
    assert signature(found) == expected
    assert (found.occurred is not None) == ("barrier.cluster.wait" in text)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_rows_of_matrices(count: int) -> None:
    """Each lane's address is that of 16 bytes."""
    registers = f"{{{', '.join(f'%r{k}' for k in range(count))}}}"
    for trans in ("", ".trans"):
        found = effect(f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {registers}, [%r5];")
        assert seen(found.site) == ("shared", 16, False, 0, "")
        assert signature(found) == f"address -> {' '.join(['b32'] * count)}"
        found = effect(f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%r5], {registers};")
        assert seen(found.site) == ("shared", 16, True, 0, "")
        assert signature(found) == f"address {' '.join(['b32'] * count)} ->"
    assert found.site.dtype == np.uint32


@pytest.mark.parametrize(("dtype", "elements"), [("u1", 1), ("u4", 1), ("u8", 1), ("u4", 2), ("u4", 4), ("u8", 2)])
def test_a_parameter_is_read_within_the_parameters(dtype: str, elements: int) -> None:
    """A number, or one per element; never of bytes before the first or behind the last."""
    units: Any = SimpleNamespace(parameters=bytes(range(7, 47)))
    width = np.dtype(dtype).itemsize * elements
    ld = Instruction("ld", ("param", dtype), (), text="ld.param")
    for offset in (-1, 0, 1, 8, 40 - width, 41 - width, 40, 47):
        site = Site(0, ld, "param", np.dtype(dtype), elements, offset)
        if not 0 <= offset <= 40 - width:
            with pytest.raises(Error, match=r"`ld\.param` reads beyond the kernel's parameters"):
                _parameter(units, None, site)  # type: ignore[arg-type]
            continue
        found = _parameter(units, None, site)  # type: ignore[arg-type]
        values = [found] if elements == 1 else list(found)
        size = np.dtype(dtype).itemsize
        whole = units.parameters[offset : offset + width]
        assert [int(v) for v in values] == [int.from_bytes(whole[k * size : k * size + size], "little")
                                            for k in range(elements)]  # fmt: skip
        assert {v.dtype for v in values} == {np.dtype(dtype)}
