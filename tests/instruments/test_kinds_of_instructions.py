"""What instruments and the emulator take from the names of instructions: each question, for one of each kind.

The instructions are ordered by their names, and each question is asked for all of them.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from softlab.emulator.machine import contraction, definedness, flow, loop_facts, regions
from softlab.emulator.ptx.syntax import Instruction, Register
from softlab.instruments import (
    atomics,
    barrier_meetings,
    guesses,
    machine_code,
    pointers,
    strong_instructions,
    undefined,
    unread_answers,
    warp_syncs,
)
from softlab.instruments.counters import _counted_when_issued
from softlab.instruments.global_shadow import IN_BLOCK, STRONG, VOLATILE
from softlab.instruments.timeline import kind_of

NAMES = """
    abs.s32 add.f32 atom.global.add.u32 atom.global.cas.b32 atom.shared.add.u32 bar.sync bar.warp.sync
    barrier.cluster.arrive.aligned barrier.cluster.wait barrier.sync bra call
    cp.async.bulk.prefetch.tensor.2d.L2.global cp.async.bulk.global.shared::cta
    cp.async.bulk.tensor.2d.shared::cluster.global cp.async.ca.shared.global cvt.rn.f32.f64 div.rn.f32 div.s32
    div.u32 div.full.f32 exit fence.acq_rel.gpu fence.proxy.async ld.acquire.cta.global.u32 ld.const.u32 ld.f32
    ld.global.nc.v2.f32 ld.global.v4.f32 ld.local.u8 ld.param.u64 ld.shared.f16 ld.shared::cluster.u32
    ld.volatile.global.u32 ldmatrix.sync.aligned.m8n8.x1.shared.b16 ldu.global.u32 mbarrier.arrive.shared.b64
    mbarrier.try_wait.shared.b64 membar.gl mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
    mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 mov.u32
    nanosleep.u32 rcp.approx.ftz.f32 red.global.add.u32 red.shared.add.u32 rem.u64 ret rsqrt.approx.f64
    rsqrt.approx.f32 selp.f32 setp.lt.s32 shfl.sync.bfly.b32 sqrt.rn.f32 st.async.shared::cluster.b32 st.global.f64
    st.local.u32 st.shared.v2.f32 st.u8 st.volatile.global.u32 stmatrix.sync.aligned.m8n8.x1.shared.b16 trap
    vote.sync.ballot.b32 wgmma.fence.sync.aligned wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16
    wmma.load.a.sync.aligned.row.m16n16k16.global.f16 wmma.load.a.sync.aligned.row.m16n16k16.shared.f16
    wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 wmma.store.d.sync.aligned.row.m16n16k16.global.f32
"""
INSTRUCTIONS = NAMES.split()


def made(text: str, guard: str = "") -> Instruction:
    opcode, *modifiers = text.split(".")
    return Instruction(opcode, tuple(modifiers), (), guard=Register(guard, "pred") if guard else None, text=text)


def _is_reduction(instruction: Instruction) -> bool:
    return atomics.as_in_ptx(instruction).reduction


def _counted(instruction: Instruction) -> str:
    every, *others = _counted_when_issued(instruction)
    assert every == "ptx_instructions"
    return " ".join(others)


#: A question, and the instructions for which the answer is yes.
YES: dict[Callable[[Instruction], bool], str] = {
    pointers._by_tensor_map: """
        cp.async.bulk.tensor.2d.shared::cluster.global
    """,
    pointers._may_access_global: """
        atom.global.add.u32 atom.global.cas.b32 cp.async.bulk.prefetch.tensor.2d.L2.global
        cp.async.bulk.global.shared::cta cp.async.bulk.tensor.2d.shared::cluster.global cp.async.ca.shared.global
        ld.acquire.cta.global.u32 ld.f32 ld.global.nc.v2.f32 ld.global.v4.f32 ld.volatile.global.u32 ldu.global.u32
        red.global.add.u32 st.global.f64 st.u8 st.volatile.global.u32
        wmma.load.a.sync.aligned.row.m16n16k16.global.f16 wmma.store.d.sync.aligned.row.m16n16k16.global.f32
    """,
    pointers._writes_global: """
        atom.global.add.u32 atom.global.cas.b32 atom.shared.add.u32 cp.async.bulk.prefetch.tensor.2d.L2.global
        cp.async.bulk.global.shared::cta red.global.add.u32 red.shared.add.u32 st.async.shared::cluster.b32
        st.global.f64 st.local.u32 st.shared.v2.f32 st.u8 st.volatile.global.u32
        wmma.store.d.sync.aligned.row.m16n16k16.global.f32
    """,
    guesses._is_swap: """
        atom.global.cas.b32
    """,
    barrier_meetings.is_aligned: """
        bar.sync bar.warp.sync barrier.cluster.arrive.aligned ldmatrix.sync.aligned.m8n8.x1.shared.b16
        mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32
        mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 stmatrix.sync.aligned.m8n8.x1.shared.b16
        wgmma.fence.sync.aligned wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16
        wmma.load.a.sync.aligned.row.m16n16k16.global.f16 wmma.load.a.sync.aligned.row.m16n16k16.shared.f16
        wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 wmma.store.d.sync.aligned.row.m16n16k16.global.f32
    """,
    undefined._stores_fragment: """
        wmma.store.d.sync.aligned.row.m16n16k16.global.f32
    """,
    unread_answers._asks: """
        mbarrier.try_wait.shared.b64
    """,
    _is_reduction: """
        red.global.add.u32 red.shared.add.u32
    """,
    flow.synchronises: """
        atom.global.add.u32 atom.global.cas.b32 atom.shared.add.u32 fence.acq_rel.gpu fence.proxy.async
        ld.acquire.cta.global.u32 ld.volatile.global.u32 membar.gl red.global.add.u32 red.shared.add.u32
        st.volatile.global.u32
    """,
    flow.is_cluster_barrier: """
        barrier.cluster.arrive.aligned barrier.cluster.wait
    """,
    flow.is_warp_synchronous: """
        bar.warp.sync ldmatrix.sync.aligned.m8n8.x1.shared.b16 mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
        mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
        shfl.sync.bfly.b32 stmatrix.sync.aligned.m8n8.x1.shared.b16 vote.sync.ballot.b32 wgmma.fence.sync.aligned
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 wmma.load.a.sync.aligned.row.m16n16k16.global.f16
        wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32
        wmma.store.d.sync.aligned.row.m16n16k16.global.f32
    """,
    loop_facts._polls: """
        atom.global.add.u32 atom.global.cas.b32 atom.shared.add.u32 ld.acquire.cta.global.u32 ld.volatile.global.u32
        mbarrier.try_wait.shared.b64 nanosleep.u32
    """,
    loop_facts._reads_memory: """
        atom.global.add.u32 atom.global.cas.b32 atom.shared.add.u32 barrier.cluster.arrive.aligned
        barrier.cluster.wait cp.async.bulk.prefetch.tensor.2d.L2.global cp.async.bulk.global.shared::cta
        cp.async.bulk.tensor.2d.shared::cluster.global cp.async.ca.shared.global fence.acq_rel.gpu fence.proxy.async
        ld.acquire.cta.global.u32 ld.f32 ld.global.v4.f32 ld.local.u8 ld.shared.f16 ld.shared::cluster.u32
        ld.volatile.global.u32 ldu.global.u32 mbarrier.arrive.shared.b64 mbarrier.try_wait.shared.b64 membar.gl
        nanosleep.u32 red.global.add.u32 red.shared.add.u32 st.async.shared::cluster.b32 st.global.f64 st.local.u32
        st.shared.v2.f32 st.u8 st.volatile.global.u32
    """,
    regions._is_able: """
        abs.s32 add.f32 cvt.rn.f32.f64 div.rn.f32 div.s32 div.u32 div.full.f32 ld.const.u32 ld.f32
        ld.global.nc.v2.f32 ld.global.v4.f32 ldu.global.u32 mov.u32 rcp.approx.ftz.f32 rem.u64 rsqrt.approx.f64
        rsqrt.approx.f32 selp.f32 setp.lt.s32 sqrt.rn.f32
    """,
    definedness.propagates: """
        abs.s32 add.f32 cvt.rn.f32.f64 div.rn.f32 div.s32 div.u32 div.full.f32
        mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32
        mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 mov.u32 rcp.approx.ftz.f32 rem.u64 rsqrt.approx.f64
        rsqrt.approx.f32 selp.f32 setp.lt.s32 shfl.sync.bfly.b32 sqrt.rn.f32
        wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32
    """,
    definedness._is_choice: """
        selp.f32
    """,
    contraction._ends_block: """
        bra call div.rn.f32 div.s32 exit fence.acq_rel.gpu membar.gl rem.u64 ret rsqrt.approx.f64 sqrt.rn.f32 trap
    """,
    strong_instructions.is_strong: """
        fence.acq_rel.gpu ld.acquire.cta.global.u32 ld.volatile.global.u32 st.volatile.global.u32
    """,
}
#: A question, and the instructions that have an answer of their own; the others have the first one.
ANSWERS: dict[Callable[[Instruction], str | None], dict[str, str]] = {
    kind_of: {
        "global store": """
            atom.global.add.u32 atom.global.cas.b32 red.global.add.u32 st.global.f64 st.volatile.global.u32
        """,
        "shared store": """
            atom.shared.add.u32 red.shared.add.u32 st.async.shared::cluster.b32 st.shared.v2.f32
        """,
        "barrier": """
            bar.sync barrier.cluster.arrive.aligned barrier.cluster.wait barrier.sync
        """,
        "global load": """
            ld.acquire.cta.global.u32 ld.global.nc.v2.f32 ld.global.v4.f32 ld.volatile.global.u32
        """,
        "shared load": """
            ld.shared.f16 ld.shared::cluster.u32
        """,
        "shuffle": """
            shfl.sync.bfly.b32
        """,
    },
    _counted: {
        "barriers": """
            bar.sync barrier.cluster.wait barrier.sync
        """,
        "shared_load_instructions": """
            ld.shared.f16
        """,
        "tensor_instructions tensor_hmma_instructions": """
            mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32
        """,
        "tensor_instructions tensor_imma_instructions": """
            mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32
        """,
        "tensor_instructions tensor_dmma_instructions": """
            mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
        """,
        "shuffle_instructions": """
            shfl.sync.bfly.b32
        """,
        "shared_store_instructions": """
            st.shared.v2.f32
        """,
        "tensor_instructions tensor_hmma_instructions tensor_gmma_instructions": """
            wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16
        """,
    },
    machine_code._space_of: {
        "global": """
            ld.acquire.cta.global.u32 ld.global.nc.v2.f32 ld.global.v4.f32 ld.volatile.global.u32 st.global.f64
            st.volatile.global.u32
        """,
        "generic": """
            ld.f32 ld.shared::cluster.u32 st.u8
        """,
        "shared": """
            ld.shared.f16 st.shared.v2.f32
        """,
    },
    flow.waits: {
        "blocks": """
            barrier.cluster.wait
        """,
        "polls": """
            mbarrier.try_wait.shared.b64
        """,
    },
    flow.ends_block: {
        "barrier": """
            bar.sync barrier.sync
        """,
        "branch": """
            bra
        """,
        "exit": """
            exit ret
        """,
        "trap": """
            trap
        """,
    },
}


@pytest.mark.parametrize("question", YES, ids=lambda question: question.__name__)
def test_questions_with_the_answers_yes_and_no(question: Callable[[Instruction], bool]) -> None:
    assert [text for text in INSTRUCTIONS if question(made(text))] == YES[question].split()


@pytest.mark.parametrize("question", ANSWERS, ids=lambda question: question.__name__)
def test_questions_with_several_answers(question: Callable[[Instruction], str | None]) -> None:
    own = {text: answer for answer, texts in ANSWERS[question].items() for text in texts.split()}
    other = "other" if question is kind_of else ""
    assert {text: question(made(text)) or "" for text in INSTRUCTIONS} == {
        text: own.get(text, other) for text in INSTRUCTIONS
    }


def test_barriers_and_others_that_exchange() -> None:
    assert [text for text in INSTRUCTIONS if not warp_syncs.is_exchange(made(text))] == [
        text for text in INSTRUCTIONS if text.startswith("bar")
    ]


def test_instructions_without_text_are_not_of_the_machine() -> None:
    assert _counted_when_issued(Instruction("shfl", ("sync", "bfly", "b32"), ())) == ()


def test_a_guard_changes_some_answers() -> None:
    """Accesses under a guard are jumps of the machine code; a result under a guard may be the one before."""
    found = {text for text in INSTRUCTIONS if contraction._ends_block(made(text, "%p1"))}
    assert found == {*YES[contraction._ends_block].split(), *(t for t in INSTRUCTIONS if t.split(".")[0] in (
        "ld", "st", "red", "atom"))}  # fmt: skip
    assert [text for text in INSTRUCTIONS if not definedness._is_choice(made(text, "%p1"))] == [
        text for text in INSTRUCTIONS if flow.ends_block(made(text)) or text == "call"
    ]
    assert [text for text in YES[regions._is_able].split() if not regions._is_able(made(text, "%p1"))] == [
        text for text in YES[regions._is_able].split() if text.startswith("ld")
    ]


@pytest.mark.parametrize("text", INSTRUCTIONS)
def test_flags_of_strong_accesses(text: str) -> None:
    instruction = made(text)
    assert strong_instructions.stamp_flags(instruction, strong=False) == 0
    own = {"ld.acquire.cta.global.u32": IN_BLOCK, "st.volatile.global.u32": VOLATILE}
    assert strong_instructions.stamp_flags(instruction, strong=True) == STRONG | own.get(text, 0)
