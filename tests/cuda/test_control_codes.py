"""Control codes: the layout against what nvdisasm prints, and decode then encode for the shipped kernels."""

from __future__ import annotations

import random

import pytest

from softlab.cuda import disassembly
from softlab.cuda.compile import compile_program
from softlab.cuda.control_codes import CONFIRMED, ControlCode, decode, encode, known
from softlab.cuda.disassembly import disassemble
from tests.instruments.machine_programs import RARE, fast, few, gallery
from tests.sampled import one_of, sampled

#: The bits of the control code in an encoding.
FIELDS = ((1 << 21) - 1) << 105
needs_nvdisasm = pytest.mark.skipif(not disassembly.find_nvdisasm(), reason="needs nvdisasm")


def check(program) -> int:
    """The two checks of the layout; how many instructions were checked."""
    count = 0
    for function in disassemble(program).functions:
        for instruction in function.instructions:
            code, encoding = instruction.control, instruction.encoding
            assert code.reuse.bit_count() == instruction.text.count(".reuse"), instruction.text
            without = encoding & ~FIELDS
            assert encode(without, code, program.arch) == encoding != without
            count += 1
    return count


def test_a_control_code_read_by_hand():
    # LDG.E R8, desc[UR4][R8.64] and STS [R13], R8 of the transposing kernel, sm_90.
    load, store = 0x000EA2000C1E19000000000408087981, 0x0043E40000000800000000080D007388
    assert decode(load, "sm_90") == ControlCode(1, True, 2, None, 0, 0)
    assert decode(store, "sm_90a") == ControlCode(2, True, None, 1, 0b000100, 0)
    assert decode(store, "sm_90").waits == (2,)


def test_every_field_comes_back_and_the_rest_stays():
    chance = random.Random(4)
    for _ in range(200):
        barriers = [chance.choice([None, *range(6)]) for _ in range(2)]
        code = ControlCode(
            chance.randrange(16), chance.random() < 0.5, *barriers, chance.randrange(64), chance.randrange(16)
        )
        encoding = chance.getrandbits(128)
        changed = encode(encoding, code, "sm_80")
        assert decode(changed, "sm_80") == code
        assert changed & ~FIELDS == encoding & ~FIELDS


@pytest.mark.parametrize("arch", ["sm_70", "sm_87", "sm_103", "sm_130", "gfx90a"])
def test_an_unconfirmed_architecture_is_not_guessed(arch):
    assert not known(arch)
    assert decode(0x000EA2000C1E19000000000408087981, arch) is None
    with pytest.raises(ValueError, match=f"control codes of '{arch}' are not known"):
        encode(0, ControlCode(1, True, None, None, 0, 0), arch)


def test_wrong_values_are_refused():
    with pytest.raises(ValueError, match="stall_cycles 16: it is a number from 0 to 15"):
        ControlCode(16, False, None, None, 0, 0)
    with pytest.raises(ValueError, match="write_barrier 7: it is None, or a scoreboard from 0 to 5"):
        ControlCode(1, False, 7, None, 0, 0)
    with pytest.raises(ValueError, match="has 128 bits"):
        decode(1 << 128, "sm_90")


@needs_nvdisasm
@pytest.mark.parametrize(
    "arch",
    [
        "sm_90",
        *one_of(3, [pytest.param(arch, marks=pytest.mark.slow) for arch in CONFIRMED if arch != "sm_90"], lambda _: 0),
    ],
)
def test_the_layout_agrees_with_what_is_printed(arch):
    """`.ci/run` takes three architectures, `make test` all."""
    assert sum(check(program) for program in few(arch)) > 500


@needs_nvdisasm
def test_an_architecture_that_is_not_confirmed_has_encodings_and_no_control_codes():
    (function,) = disassemble(compile_program(RARE, "rare", arch="sm_103")).functions
    assert {i.control for i in function.instructions} == {None}
    assert all(i.encoding for i in function.instructions)


@needs_nvdisasm
@pytest.mark.slow
@pytest.mark.parametrize("most", sampled((4, 40), lambda most: most == 4))
def test_shipped_kernels(most):
    """`.ci/run` takes four of the gallery, and kernels of policy "fast"; `make test` takes 40 and all."""
    assert sum(check(program) for program in [*gallery("sm_90", most), *fast()[:: 1 + (most == 4)]]) > 500 * most
