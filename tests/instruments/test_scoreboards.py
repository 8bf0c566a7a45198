"""Scoreboards: small cases by hand, the shipped kernels, and random flips judged by a second, simpler method."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from softlab.cuda import disassembly
from softlab.cuda.compile import compile_program
from softlab.cuda.control_codes import CONFIRMED, ControlCode, decode
from softlab.cuda.disassembly import disassemble, parse_disassembly
from softlab.cuda.machine_instructions import MachineFunction
from softlab.instruments import scoreboards
from softlab.instruments.machine_paths import MachinePaths
from softlab.instruments.scoreboards import coverage
from tests.instruments.machine_programs import fast, few, gallery
from tests.sampled import each, sampled

pytestmark = pytest.mark.skipif(not disassembly.find_nvdisasm(), reason="needs nvdisasm")

ARCH = "sm_90"
PLAIN = ControlCode(1, True, None, None, 0, 0)


def function(text: str) -> MachineFunction:
    """Instructions, one per line: ``w0 r1 m02 | LDG.E R2, [R4]`` sets scoreboards 0 and 1, waits for 0 and 2."""
    program = compile_program('extern "C" __global__ void f() {}', "f", arch=ARCH)
    lines, codes = ['\t.section\t.text.f,"ax",@progbits', "f:"], []
    for line in text.strip().splitlines():
        fields, _, code = (part.strip() for part in line.partition("|"))
        if code.startswith("."):
            lines.append(code)
            continue
        values = {word[0]: word[1:] for word in fields.split()}
        codes.append(
            replace(
                PLAIN,
                write_barrier=int(values["w"]) if "w" in values else None,
                read_barrier=int(values["r"]) if "r" in values else None,
                wait_mask=sum(1 << int(digit) for digit in values.get("m", "")),
            )
        )
        lines.append(f"        /*{16 * len(codes) - 16:04x}*/    {code} ;")
    found = parse_disassembly("\n".join(lines), program).kernel
    instructions = [replace(i, control=c) for i, c in zip(found.instructions, codes, strict=True)]
    return MachineFunction("f", tuple(instructions))


def findings(text: str, arch: str = ARCH) -> list[tuple[str, int, tuple[str, ...]]]:
    return [(f.kind, f.instruction.address, f.registers) for f in coverage(function(text), arch).findings]


def test_a_load_is_covered_by_the_wait_of_its_consumer():
    covered = "w0 | LDG.E R2, desc[UR4][R4.64]\n m0 | FADD R3, R2, R2\n | EXIT"
    assert findings(covered) == []
    (wait,) = coverage(function(covered), ARCH).waits[0x10]
    assert (wait.scoreboard, [i.text for i in wait.setters]) == (0, ["LDG.E R2, desc[UR4][R4.64]"])
    assert findings(covered.replace("m0 ", "m1 ")) == [("result", 0x10, ("R2",))]
    assert findings(covered.replace("w0 ", "w1 ")) == [("result", 0x10, ("R2",))]
    assert findings(covered.replace("w0 ", "")) == [("result", 0x10, ("R2",))]


def test_a_wide_load_is_touched_in_any_of_its_registers():
    assert findings("w0 | LDG.E.128 R4, desc[UR4][R2.64]\n | MOV R0, R7\n | EXIT") == [("result", 0x10, ("R7",))]
    assert findings("w0 | LDG.E.128 R4, desc[UR4][R2.64]\n | MOV R0, R8\n | EXIT") == []


def test_sources_that_are_read_late():
    store = "r1 | STG.E.64 desc[UR4][R2.64], R6\n m1 | MOV R7, RZ\n | EXIT"
    assert findings(store) == []
    assert findings(store.replace("m1", "m0")) == [("source", 0x10, ("R7",))]
    # A load of the same queue reads behind the store, so its result may take the store's register.
    assert findings("| STS [R2], R6\n w0 | LDS R6, [R3]\n m0 | FADD R6, R6, R6\n | EXIT") == []


def test_the_last_of_a_queue_covers_those_before_it():
    pair = "| LDS R2, [R6]\n w0 | LDS R3, [R6+0x4]\n m0 | FADD R4, R2, R3\n | EXIT"
    assert findings(pair) == []
    assert findings(pair.replace("w0 | LDS R3, [R6+0x4]", "w0 | LDG.E R3, desc[UR4][R6.64]")) == [
        ("result", 0x20, ("R2",))
    ]


def test_every_path_needs_a_wait():
    text = """
        w0 | S2R R2, SR_TID.X
           | @P0 BRA `(.L_x_1)
        m0 | MOV R3, R2
           | .L_x_1:
           | MOV R4, R2
           | EXIT
    """
    assert findings(text) == [("result", 0x30, ("R2",))]
    assert findings(text.replace("| @P0 BRA", "m0 | @P0 BRA")) == []


def test_a_loop_meets_its_own_load_of_the_last_turn():
    text = """
           | .L_x_1:
           | FADD R3, R3, R2
        w0 | LDS R2, [R6]
           | @P0 BRA `(.L_x_1)
           | EXIT
    """
    assert findings(text) == [("result", 0x0, ("R2",))]
    assert findings(text.replace("| FADD", "m0 | FADD")) == []


def test_a_depbar_waits_only_where_it_waits_for_zero():
    """``DEPBAR.LE SB0, 0x1`` lets one access be pending, so it covers none for certain."""
    text = "w1 | LDG.E R2, desc[UR4][R4.64]\n | {}\n | FADD R3, R2, R2\n | EXIT"
    for depbar, covers in (
        ("DEPBAR.LE SB1, 0x0", True),
        ("DEPBAR.LE SB1, 0x0, {4,3}", True),
        ("DEPBAR.LE SB0, 0x0", False),
        ("DEPBAR.LE SB1, 0x1", False),
        ("DEPBAR", False),
        ("MOV R8, 0x0", False),
    ):
        found = coverage(function(text.format(depbar)), ARCH)
        assert bool(found.findings) == (not covers), depbar
        assert bool(found.not_followed) == (depbar in ("DEPBAR", "DEPBAR.LE SB1, 0x1")), depbar


def test_what_is_not_known_is_said():
    found = coverage(function("| HMMA.16816.F32 R4, R4, R8, R4\n | CALL.ABS.NOINC `(printf)\n | EXIT"), ARCH)
    assert found.not_followed == (
        "CALL.ABS.NOINC `(printf) calls code outside this section",
        "the registers of HMMA are not known",
    )
    unknown = coverage(replace_controls(function("| EXIT"), None), "sm_103")
    assert (unknown.known, unknown.not_followed) == (False, ("the control codes of sm_103 are not known",))


def replace_controls(made: MachineFunction, control: ControlCode | None) -> MachineFunction:
    return MachineFunction(made.name, tuple(replace(i, control=control) for i in made.instructions))


def test_a_finding_says_what_is_missing():
    (found,) = coverage(function("w3 | MUFU.EX2 R2, R4\n | FADD R3, R2, R2\n | EXIT"), ARCH).findings
    assert str(found) == (
        "line 0: FADD R3, R2, R2 at 0x10 uses R2 too early: MUFU.EX2 R2, R4 at 0x0 sets scoreboard 3, for which no "
        "instruction between them waits"
    )


@pytest.mark.parametrize("arch", sampled(CONFIRMED, lambda arch: arch in (ARCH, CONFIRMED[-1])))
def test_the_assembler_covers_everything(arch):
    checked = 0
    for program in few(arch):
        for made in disassemble(program).functions:
            found = coverage(made, arch)
            assert found.known
            assert [str(f) for f in found.findings] == [], program.name
            assert found.not_followed == (), program.name
            checked += found.checked
    assert checked > 150


@pytest.mark.slow
@pytest.mark.parametrize("most", sampled((10, 1000), lambda most: most == 10))
def test_the_assembler_covers_every_shipped_kernel(most):
    """`.ci/run` takes those of 10 cases, and of each second row length; `make test` takes all."""
    for program in [*gallery(ARCH, most), *fast()[:: 1 + (most == 10)]]:
        for made in disassemble(program).functions:
            found = coverage(made, ARCH)
            assert [str(f) for f in found.findings] == [], program.name
            assert set(found.not_followed) <= {"DEPBAR with a count above 0 is taken as no wait"}, program.name


def reaches(made: MachineFunction, arch: str, codes: list[ControlCode]) -> bool:
    """Whether a pending register is touched, found in another way than :func:`coverage` does.

    What is pending is pushed forward from instruction to instruction until nothing changes: a set of (position of the
    producer, kind, scoreboards that release it). The scoreboards of paths that meet are not joined.
    """
    check = scoreboards._Check(made, arch, codes)
    follow = MachinePaths(made.instructions).follow
    begins: dict[int, list] = {}
    for one in check._pending():
        begins.setdefault(one.index, []).append(one)
    states: list[set] = [set() for _ in made.instructions]
    waiting = list(range(len(made.instructions)))
    while waiting:
        index = waiting.pop()
        instruction, used, code = made.instructions[index], check.registers[index], codes[index]
        after = {(one, one.barriers) for one in begins.get(index, ())}
        for one, barriers in states[index]:
            queues = scoreboards._RESULT_QUEUES if one.kind == "result" else scoreboards._SOURCE_QUEUES
            ordered = queues.get(instruction.opcode) == queues.get(made.instructions[one.index].opcode, "")
            if check.waits[index] & barriers or check._drained(one, instruction):
                continue
            if used is not None and one.touch & (used.writes | (used.reads if one.kind == "result" else set())):
                if one.kind == "source" and ordered:
                    continue
                return True
            if ordered:
                barriers |= 0 if code.write_barrier is None else 1 << code.write_barrier
                if one.kind == "source" and code.read_barrier is not None:
                    barriers |= 1 << code.read_barrier
            after.add((one, barriers))
        for follower in follow[index]:
            if not after <= states[follower]:
                states[follower] |= after
                waiting.append(follower)
    return False


def flipped(made: MachineFunction, chance: random.Random) -> list[ControlCode] | None:
    """The control codes with one bit flipped that takes cover away: a set bit of a wait mask, or a bit of a barrier."""
    index = chance.randrange(len(made.instructions))
    code = made.instructions[index].control
    bits = [116 + number for number in code.waits]
    bits += [] if code.write_barrier is None else [110, 111, 112]
    bits += [] if code.read_barrier is None else [113, 114, 115]
    if not bits:
        return None
    codes = [i.control for i in made.instructions]
    codes[index] = decode(made.instructions[index].encoding ^ 1 << chance.choice(bits), ARCH)
    return codes


def judge_flips(functions: list[MachineFunction], number: int, seed: int) -> tuple[int, int]:
    """(reported, harmless) of so many flips. Both methods must agree on each of them.

    A flip is harmless if no path then touches a pending register before a wait: another wait on the path, or a later
    scoreboard of the same queue, covers it, or nobody touches the register.
    """
    chance = random.Random(seed)
    counts = [0, 0]
    while sum(counts) < number:
        made = chance.choice(functions)
        codes = flipped(made, chance)
        if codes is not None:
            reported = bool(coverage(made, ARCH, codes).findings)
            assert reported == reaches(made, ARCH, codes)
            counts[not reported] += 1
    return counts[0], counts[1]


@pytest.mark.further
def test_a_flip_that_takes_a_needed_cover_away_is_reported():
    made = [f for program in few(ARCH) for f in disassemble(program).functions]
    reported, harmless = judge_flips(made, 150, seed=14)
    assert reported > harmless


@pytest.mark.slow
@pytest.mark.parametrize(("most", "count"), each(2, [(10, 100), (40, 400)]))
def test_flips_in_many_kernels(most, count):
    made = [f for program in gallery(ARCH, most) for f in disassemble(program).functions]
    reported, harmless = judge_flips(made, count, seed=14)
    assert reported > 3 * harmless
