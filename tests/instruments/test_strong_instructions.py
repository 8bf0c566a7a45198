"""Which kernels synchronise, and whether a fence comes before all that they tell."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from softlab.emulator.ptx.syntax import Instruction, Register
from softlab.instruments.strong_instructions import fence_scope, strong_instructions

LOAD = "ld.volatile.global.u32"


def image(*texts: str, starts: tuple[int, ...] = ()) -> Any:
    """Instructions as "opcode.modifiers", "@p " before those with a guard; labels at ``starts``."""
    made = []
    for text in texts:
        opcode, *modifiers = text.removeprefix("@p ").split(".")
        guard = Register("%p1", "pred") if text.startswith("@") else None
        made.append(Instruction(opcode, tuple(modifiers), (), guard=guard, text=text))
    return SimpleNamespace(instructions=tuple(made), labels={f"L{start}": start for start in starts})


@pytest.mark.parametrize(
    "texts",
    [
        ("membar.gl", "st.volatile.global.u32"),
        ("membar.gl", "mov.u32", "ld.param.u64", "add.s32", "atom.global.add.u32"),
        ("st.global.u32", "fence.acq_rel.gpu", "@p red.global.add.u32"),
        ("fence.sc.cta", "st.relaxed.cta.global.u32"),
        ("membar.gl", "atom.cta.global.add.u32"),
        ("atom.add.release.gpu.u32",),
        ("st.release.gpu.u32",),
        ("st.global.u32", "ld.global.u32"),
    ],
)
def test_a_fence_comes_before_what_is_told(texts: tuple[str, ...]) -> None:
    assert not strong_instructions(image(*texts, LOAD)).reads_apart
    assert not strong_instructions(image("nanosleep.u32", *texts, LOAD, starts=(1,))).reads_apart


@pytest.mark.parametrize(
    "texts",
    [
        ("st.volatile.global.u32",),
        ("atom.global.cas.b32",),
        ("red.shared.add.u32",),
        ("membar.gl", "ld.global.u32", "st.volatile.global.u32"),
        ("membar.gl", "st.volatile.global.u32", "st.volatile.global.u32"),
        ("membar.gl", "shfl.sync.bfly.b32", "st.volatile.global.u32"),
        ("membar.gl", "bar.sync", "st.volatile.global.u32"),
        ("membar.gl", "@p bra", "st.volatile.global.u32"),
        ("@p membar.gl", "st.volatile.global.u32"),
        ("membar.cta", "atom.global.add.u32"),
        ("fence.proxy.async", "st.volatile.global.u32"),
        ("membar.gl", "cp.async.cg.shared.global"),
    ],
)
def test_no_fence_comes_before_it(texts: tuple[str, ...]) -> None:
    assert strong_instructions(image("membar.gl", "exit", *texts, LOAD)).reads_apart
    assert not strong_instructions(image(*texts[:-1])).reads_apart or "st.volatile.global.u32" in texts[:-1]


def test_a_label_between_the_fence_and_the_store() -> None:
    texts = ("membar.gl", "add.s32", "st.volatile.global.u32", "exit")
    assert [strong_instructions(image(*texts, starts=(start,))).reads_apart for start in range(4)] == [
        False, True, True, False,
    ]  # fmt: skip


def test_atomics_alone_have_one_order() -> None:
    found = strong_instructions(image("membar.gl", "ld.global.u32", "atom.global.add.u32"))
    assert not found.reads_apart
    assert found.synchronising == {2}
    assert strong_instructions(image("atom.global.add.u32")).synchronising == frozenset()


@pytest.mark.parametrize(
    ("text", "grow"),
    [
        ("atom.global.exch.b32", True),
        ("red.release.gpu.global.add.u32", True),
        ("fence.acq_rel.gpu", True),
        ("st.global.u32", True),
        ("st.volatile.global.u32", False),
        ("st.relaxed.gpu.u32", False),
        ("cp.async.cg.shared.global", False),
    ],
)
def test_words_that_are_never_stored_to_grow(text: str, grow: bool) -> None:
    assert strong_instructions(image("membar.gl", LOAD, text)).words_grow == grow


def test_scopes_of_fences() -> None:
    texts = ("membar.gl", "membar.cta", "fence.acq_rel.cluster", "fence.proxy.async")
    assert [fence_scope(i) for i in image(*texts).instructions] == ["gpu", "cta", "gpu", ""]
