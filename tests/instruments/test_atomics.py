"""Turns and sectors of atomics, for addresses from 0 on."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.machine.native import available
from softlab.emulator.ptx.syntax import Instruction
from softlab.instruments.atomics import MachineAtomic, as_in_ptx, atomic_sectors, is_atomic, machine_atomics, turns
from softlab.instruments.native_sectors import NativeSectors, sectors_of_whole_warps


@pytest.mark.parametrize(
    ("addresses", "sectors"),
    [
        ([0], 1), ([0] * 32, 32), ([0, 32, 64], 3), ([0, 4, 8, 28], 1), ([0, 4, 28, 32], 2), ([0, 1024, 2048], 3),
        ([0, 1024, 4], 2), ([0, 0, 4, 4], 2), ([0, 0, 4], 2), ([], 0), (list(range(0, 128, 4)), 4),
    ],
)  # fmt: skip
def test_a_sector_counts_once_per_turn(addresses: list[int], sectors: int) -> None:
    """Lanes at one address, or a multiple of 1024 bytes apart, take turns; lanes that do not access do not count."""
    for base in (0, 1 << 20):
        address, active = np.zeros((2, 32), np.uint64), np.zeros((2, 32), bool)
        address[1, : len(addresses)] = base + np.array(addresses, np.uint64)
        active[1, : len(addresses)] = True
        assert atomic_sectors(address, active).tolist() == [0, sectors]


@pytest.mark.skipif(not available(), reason="needs llvmlite")
def test_compiled_code_adds_up_the_sectors_of_all_warps() -> None:
    """Addresses in order, near and far, anywhere, and at few places; all lanes or some."""
    random, native = np.random.default_rng(0), NativeSectors()
    for kind in (np.uint32, np.uint64):
        for most in (8, 200, 5000, 1 << 30):
            address = (random.integers(0, most, (40, 32)) * 4).astype(kind)
            address[::2].sort(axis=1)
            address[:4] = 4 * np.arange(32) + 4 * most
            address[4:8] = np.array([[1], [5], [8], [9]]) * 4 * np.arange(32) + 4 * most
            active = random.random((40, 32)) < random.random((40, 1)) * 1.5
            assert native.total(address, active) == atomic_sectors(address, active).sum()


def test_whole_warps_in_steps_are_added_up_at_once() -> None:
    lanes, steps = np.arange(96), np.array([[4], [32], [8]])
    address = 4096 + 5000 * np.array([[2], [0], [1]]) + steps * np.arange(32)
    expected = int(atomic_sectors(address, np.ones((3, 32), bool)).sum())
    assert sectors_of_whole_warps(address.reshape(-1), lanes, 96) == expected
    for changed in ([0, 40], [2, -1], [1, -32]):
        other = address.copy()
        other[changed[0]] = 4096 + changed[1] * np.arange(32) + 2000
        assert sectors_of_whole_warps(other.reshape(-1), lanes, 96) == -1
    assert sectors_of_whole_warps(address.reshape(-1)[:95], lanes[:95], 95) == -1
    assert sectors_of_whole_warps(address.reshape(-1)[1:], lanes[1:], 95) == -1


def test_lanes_at_one_address_go_one_after_the_other() -> None:
    address = np.array([[8, 0, 8, 4, 0, 8] + [0] * 26, [0] * 32])
    active = np.arange(32)[None] < np.array([[6], [3]])
    assert turns(address, active).tolist() == [[0, 0, 1, 0, 1, 2] + [-1] * 26, [0, 1, 2] + [-1] * 29]


def made(text: str, line: int, guard: str | None = None) -> Any:
    opcode, *modifiers = text.split(".")
    return SimpleNamespace(opcode=opcode, modifiers=tuple(modifiers), ptx_line=line, guard=guard)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ([], None),
        (["IADD"], None),
        (["ATOMG.E.ADD"], MachineAtomic()),
        (["RED.E.ADD"], MachineAtomic(reduction=True)),
        (["REDG.E.ADD"], MachineAtomic(reduction=True)),
        (["ATOMS.ADD"], MachineAtomic(reduction=True)),
        (["ATOMS.ADD", "ATOM.E.ADD"], MachineAtomic()),
        (["RED.E.ADD", "ATOMG.E.ADD"], MachineAtomic()),
        (["ATOMS.POPC.INC"], MachineAtomic(reduction=True, counts=True)),
        (["ATOMG.CAS"], MachineAtomic(swaps=True)),
        (["ATOMS.CAS"], MachineAtomic(reduction=True, swaps=True)),
        (["ATOMS.CAST.SPIN"], MachineAtomic(reduction=True, loop=True)),
        (["ATOMS.CAST.SPIN", "ATOM.E.ADD"], MachineAtomic()),
        (["VOTEU.ANY", "@REDG.E.ADD"], MachineAtomic(reduction=True, elected=True)),
        (["VOTE.ANY", "@ATOMG.E.ADD"], MachineAtomic(elected=True)),
        (["VOTE.ANY", "ATOMG.E.ADD"], MachineAtomic()),
        (["@ATOMG.E.ADD"], MachineAtomic()),
        (["VOTE.ANY", "@ATOMS.ADD", "ATOMG.E.ADD"], MachineAtomic()),
    ],
)
@pytest.mark.parametrize("opcode", ["atom", "red", "ld"])
def test_what_the_assembler_made_of_an_atomic(code: list[str], expected: MachineAtomic | None, opcode: str) -> None:
    """Of an instruction in line 7; what is made of other lines says nothing of it."""
    image: Any = SimpleNamespace(instructions=[Instruction("mov", (), (), line=3), Instruction(opcode, (), (), line=7)])
    own = [made(text.removeprefix("@"), 7, "@P0" if text.startswith("@") else None) for text in code]
    others = [made("RED.E.ADD", 3), made("VOTE.ANY", 8), made("ATOMS.POPC", 8)]
    kernel = SimpleNamespace(kernel=SimpleNamespace(instructions=[others[0], *own, *others[1:]]))
    found = machine_atomics(image, kernel)  # type: ignore[arg-type]
    assert found == ({} if expected is None or opcode == "ld" else {1: expected})


def test_an_atomic_whose_machine_code_is_not_known() -> None:
    assert as_in_ptx(Instruction("red", (), ())) == MachineAtomic(reduction=True)
    assert as_in_ptx(Instruction("atom", (), ())) == MachineAtomic()
    names = ("ATOMS", "ATOMG", "ATOM", "RED", "REDG", "ATOMX", "IADD")
    assert [is_atomic(made(name, 1)) for name in names] == [True] * 5 + [False] * 2
