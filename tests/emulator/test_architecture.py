"""The registry of opcodes, and what the compiler makes of a lowering that is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.machine.compiler import EmulatedProgram
from softlab.emulator.machine.flow import is_warp_synchronous, uses_and_definitions
from softlab.emulator.machine.machine import run
from softlab.emulator.machine.prepare import prepare
from softlab.emulator.opcodes.effects import EFFECTS, Effect
from softlab.emulator.opcodes.registry import OPCODES, PURE, Opcode, OpcodeTable, Registry
from softlab.emulator.ptx.parser import parse
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import InstructionSite
from softlab.errors import Error, KernelFault, UnsupportedInstruction
from softlab.kernel import Kernel
from tests.emulator.opcodes.cases import instruction

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b64 %rd<4>; .reg .b32 %r<9>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [p];
"""


def launch(body: str, out: np.ndarray, threads: int = 32) -> None:
    program = EmulatedProgram(parse(HEAD + body + "\n  ret; }"), "k")
    run(prepare(program, (1, 1, 1), (threads, 1, 1), (out,), check=True)[0])


@pytest.fixture
def new_opcode(monkeypatch):
    """Registers an opcode for one test."""

    def register(name: str, lowering, **traits) -> None:
        monkeypatch.setitem(OPCODES._opcodes, name, Opcode(name, "effect", lowering, **traits))
        monkeypatch.setitem(EFFECTS._functions, name, lowering)

    return register


def test_an_opcode_is_one_function_that_says_all_of_it(new_opcode):
    """Its operands, what carries it out, and that the lanes of a warp run it together."""

    def lanes_here(lanes, site, members):
        return np.uint32(lanes.count)

    def lowering(instruction: Instruction, index: int, image) -> Effect:
        destination, members = instruction.operands
        site = InstructionSite(index, instruction)
        return Effect(lambda units: lanes_here, site, ((members, "u32"),), (destination,), ("u32",))

    new_opcode("census", lowering, warp_synchronous=True)
    out = np.zeros(1, np.uint32)
    # Odd lanes take another path to it: it waits for them.
    launch(
        """mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 1; mov.u32 %r4, -1;
        @%p1 bra ODD; mov.u32 %r5, 1;
        bra MEET;
        ODD: mov.u32 %r5, 2;
        MEET: census.sync.u32 %r3, %r4; st.global.u32 [%rd1], %r3;""",
        out,
    )
    assert out[0] == 32


def test_a_name_is_registered_once_whatever_its_kind():
    registry = Registry()
    OpcodeTable("pure", registry).opcode("twice")(print)
    with pytest.raises(Error, match="'twice' is registered twice"):
        OpcodeTable("effect", registry).opcode("twice")(print)


def test_no_opcode_is_pure_and_an_effect():
    assert set(PURE) & set(EFFECTS) == set()


@pytest.mark.parametrize("mistake", [TypeError, AttributeError, KeyError, IndexError, ValueError, StopIteration])
def test_a_mistake_in_a_lowering_is_not_called_an_unknown_instruction(new_opcode, mistake):
    def lowering(instruction: Instruction, index: int, image) -> Effect:
        raise mistake("a typo")

    new_opcode("mistaken", lowering)
    with pytest.raises(mistake, match="a typo"):
        launch("mistaken.u32 %r1;", np.zeros(1, np.uint32))


@pytest.mark.parametrize(
    "text",
    [
        "shfl.sync.b32 %r1, %r2, 1, 31, -1;",
        "shfl.sync.bfly.b32 %r1, %r2, 1, 31;",
        "vote.sync.b32 %r1, %p1, -1;",
        "match.any.sync.f32 %r1, %r2, -1;",
        "redux.sync.add.f16 %r1, %r2, -1;",
        "ld.global.u32 %r1;",
        "ld.global.v2.u32 %r1, [%rd1];",
        "st.global.v2.u32 [%rd1], {%r1};",
        "atom.global.cas.b32 %r1, [%rd1], %r2;",
        "atom.param.add.u32 %r1, [%rd1], %r2;",
        "isspacep.shared %p1;",
        "mbarrier.init.shared.b64 [%rd1];",
        "cp.async.ca.shared.global [%rd1], [%rd2];",
        "setp.lt %p1, %r1, %r2;",
        "activemask.b32;",
        "mov.u8 %r1, 0f3F800000;",
        "barrier.cluster %r1;",
    ],
)
def test_a_form_that_is_not_known_is_a_named_error(text):
    with pytest.raises(UnsupportedInstruction) as caught:
        launch(text, np.zeros(1, np.uint32))
    assert caught.value.instruction == text.rstrip(";") + ";"


def test_flow_reads_what_stands_on_the_registration():
    assert is_warp_synchronous(instruction("shfl.sync.bfly.b32 d, a, b, c, m"))
    assert is_warp_synchronous(instruction("bar.warp.sync m"))
    assert not is_warp_synchronous(instruction("bar.sync n"))
    assert uses_and_definitions(instruction("st.global.u32 a, b")) == (["a", "b"], [])
    assert uses_and_definitions(instruction("add.u32 d, a, b")) == (["a", "b"], ["d"])


def test_a_null_generic_pointer_stays_null():
    out = np.ones(4, np.uint64)
    launch(
        """.shared .align 8 .b64 own[2];
        mov.u64 %rd2, 0; cvta.to.shared.u64 %rd3, %rd2; st.global.u64 [%rd1], %rd3;
        cvta.to.local.u64 %rd3, %rd2; st.global.u64 [%rd1+8], %rd3;
        mov.u64 %rd2, own; cvta.shared.u64 %rd2, %rd2; st.global.u64 [%rd1+16], %rd2;
        cvta.to.shared.u64 %rd3, %rd2; st.global.u64 [%rd1+24], %rd3;""",
        out,
    )
    assert out[0] == out[1] == 0
    assert out[2] != 0, "a variable at byte 0 of shared memory has a generic address"
    assert out[3] == 0


def fault_of(source: str, *arguments) -> KernelFault:
    kernel = Kernel(f'extern "C" __global__ void k{source}', "k")
    with pytest.raises(KernelFault) as caught:
        kernel.run(1, 32, arguments)
    return caught.value


def test_a_fault_says_which_argument_it_is_about():
    x, y = np.zeros(32, np.float32), np.zeros(8, np.float32)
    fault = fault_of("(float* x, float* y) {\n y[threadIdx.x] = x[threadIdx.x]; }", x, y)
    assert (fault.argument, fault.line, fault.address) == (1, 2, 32)
    shared = fault_of("(float* x) {\n __shared__ float s[4];\n x[0] = s[threadIdx.x * 40]; }", x)
    assert (shared.kind, shared.argument) == ("shared-out-of-bounds", None)


_ASSERT = '__assertfail("x", "kernel.cu", 4, "k", 1);'


@pytest.mark.parametrize(("what", "kind"), [("__trap();", "trap"), (_ASSERT, "assert")])
def test_a_kernel_that_stops_itself_says_where(what, kind):
    source = f"(float* x) {{\n\n if (threadIdx.x == 3) {what} }}"
    declared = 'extern "C" __device__ void __assertfail(const char*, const char*, unsigned, const char*, size_t);'
    kernel = Kernel(f'{declared}\nextern "C" __global__ void k{source}', "k")
    with pytest.raises(KernelFault) as caught:
        kernel.run(1, 32, (np.zeros(1, np.float32),))
    assert (caught.value.kind, caught.value.line, caught.value.thread) == (kind, 4, (3, 0, 0))
