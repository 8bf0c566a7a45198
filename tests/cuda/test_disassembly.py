"""Machine code of small kernels, read from nvdisasm and held to what a person reads in the same text."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from softlab.cuda import disassembly
from softlab.cuda.compile import compile_program
from softlab.cuda.disassembly import DisassemblyError, begin_disassembly, disassemble, parse_disassembly
from tests.sampled import each

pytestmark = pytest.mark.skipif(not disassembly.find_nvdisasm(), reason="needs nvdisasm")

SOURCE = r"""
__device__ inline float doubled(float value) {
  return value * 2;
}
extern "C" __global__ void reverse(const float4* in, float4* out, unsigned char* flags) {
  __shared__ float4 buffer[64];
  buffer[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  float4 value = buffer[63 - threadIdx.x];
  value.x = doubled(value.x);
  if (threadIdx.x == 5) flags[threadIdx.x + 7] = 1;
  out[threadIdx.x] = value;
}
"""


@pytest.fixture(scope="module", params=["sm_75", "sm_80", "sm_90", "sm_120"])
def program(request):
    return compile_program(SOURCE, "reverse", arch=request.param)


def test_accesses_have_their_width_space_and_lines(program):
    code = disassemble(program)
    assert code.entry == code.kernel.name == "reverse"
    found = {
        i.frames[-1][1]: (i.opcode, i.space, i.store, i.width) for i in code.kernel.instructions if i.space == "shared"
    }
    assert found == {7: ("STS", "shared", True, 16), 9: ("LDS", "shared", False, 16)}
    flag = next(i for i in code.kernel.instructions if i.opcode == "STG" and i.width == 1)
    assert (flag.space, flag.offset, flag.frames) == ("global", 12, (("kernel.cu", 11),))
    assert sorted(i.width for i in code.kernel.instructions if i.opcode in ("LDG", "STG")) == [1, 16, 16]


def test_each_instruction_knows_the_ptx_it_was_made_from(program):
    lines = program.ptx.splitlines()
    for instruction in disassemble(program).kernel.instructions:
        if instruction.space in ("shared", "global"):
            text = lines[instruction.ptx_line - 1]
            assert f"{'st' if instruction.store else 'ld'}.{instruction.space}" in text
        if instruction.opcode == "BAR":
            assert "bar.sync" in lines[instruction.ptx_line - 1]


def test_inlined_code_has_its_chain_of_calls(program):
    code = disassemble(program)
    inlined = [i for i in code.kernel.instructions if i.frames and i.frames[0] == ("kernel.cu", 3)]
    assert inlined
    assert all(i.frames[1] == ("kernel.cu", 10) for i in inlined)


def test_instructions_stand_in_order_of_address(program):
    addresses = [i.address for i in disassemble(program).kernel.instructions]
    assert addresses == list(range(0, 16 * len(addresses), 16))


def test_guards_branches_and_addresses_are_read():
    program = compile_program(SOURCE, "reverse", arch="sm_90")
    text = """
	.section	.text.reverse,"ax",@progbits
reverse:
	//## File "/anywhere/kernel.cu", line 3 inlined at "/anywhere/kernel.cu", line 10
	//## File "/anywhere/kernel.cu", line 10
	//## File ".nv_debug_ptx_txt", line 40
        /*0000*/              @!P0 LDS.U16 R4, [R3+UR5+-0x10] ;
	//## File ".nv_debug_ptx_txt", line 41
        /*0010*/                   LDG.E.64.CONSTANT R6, desc[UR4][R2.64+0x408] ;
	//## File "/usr/include/cuda_fp16.hpp", line 7
        /*0020*/              @UP1 BRA `(.L_x_1) ;
        /*0030*/               @PT EXIT ;
.L_x_1:
        /*0040*/                   STS [UR4], RZ ;
"""
    load, wide, jump, leave, store = parse_disassembly(text, program).kernel.instructions
    assert (load.opcode, load.modifiers, load.guard, load.negated) == ("LDS", ("U16",), "P0", True)
    assert (load.base, load.offset, load.width, load.ptx_line) == ("R3+UR5", -16, 2, 40)
    assert load.frames == (("kernel.cu", 3), ("kernel.cu", 10))
    assert (wide.space, wide.base, wide.offset, wide.width, wide.ptx_line) == ("global", "R2.64", 0x408, 8, 41)
    assert (jump.guard, jump.targets, jump.frames) == ("UP1", (0x40,), (("cuda_fp16.hpp", 7),))
    assert leave.guard == ""
    assert (store.store, store.base, store.offset, store.width) == (True, "UR4", 0, 4)


def test_without_nvdisasm_the_error_says_what_to_install(monkeypatch, program):
    monkeypatch.setattr(disassembly, "_tool", lambda: None)
    with pytest.raises(DisassemblyError, match="pip install nvidia-cuda-nvdisasm"):
        disassemble(program)


def test_what_is_printed_is_kept(monkeypatch, program):
    expected = disassemble(program)

    def fail(*arguments):
        raise AssertionError("nvdisasm ran again")

    monkeypatch.setattr(disassembly, "_run", fail)
    assert disassemble(program) == expected
    with pytest.raises(AssertionError, match="ran again"):
        disassemble(program, cache=False)


@pytest.mark.parametrize(
    "damage", each(3, [lambda text: text.replace("STS", "STG", 1), lambda text: text[:-9], lambda text: ""])
)
def test_a_changed_entry_is_printed_anew(monkeypatch, tmp_path, program, damage):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code = disassemble(program)
    (entry,) = (disassembly.cache_folder() / "machine_code").iterdir()
    kept = entry.read_text()
    entry.write_text(damage(kept))
    assert disassemble(program) == code
    assert entry.read_text() == kept


def test_a_cubin_that_is_none_is_refused():
    path, _ = disassembly._tool()
    with pytest.raises(DisassemblyError, match="refuses the cubin"):
        disassembly._run(path, b"no cubin at all")


def test_ptx_alone_starts_no_nvdisasm(monkeypatch):
    program = replace(compile_program(SOURCE, "reverse"), cubin=b"")
    monkeypatch.setattr(disassembly, "_run", lambda *arguments: pytest.fail("nvdisasm was started"))
    with pytest.raises(DisassemblyError, match="PTX alone"):
        disassemble(program)


@pytest.fixture
def nothing_begun(monkeypatch):
    """No run of nvdisasm goes on in the background: one of an earlier test may."""
    monkeypatch.setattr(disassembly, "_BEGUN", disassembly._Begun())


@pytest.mark.further
@pytest.mark.usefixtures("nothing_begun")
def test_nvdisasm_runs_while_the_caller_goes_on(monkeypatch, tmp_path, program):
    expected = disassemble(program)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ran, go_on, run = [], threading.Event(), disassembly._run

    def waits(*arguments):
        ran.append(threading.current_thread().name)
        assert go_on.wait(60)
        return run(*arguments)

    monkeypatch.setattr(disassembly, "_run", waits)
    begin_disassembly(program)
    begin_disassembly(program)  # one run at a time
    go_on.set()
    assert disassemble(program) == expected
    begin_disassembly(program)  # its text is kept
    assert disassemble(program) == expected
    assert len(ran) == 1
    assert ran[0].startswith("nvdisasm")


@pytest.mark.usefixtures("nothing_begun")
def test_a_background_run_that_fails_says_so_when_it_is_asked_for(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    program = replace(compile_program(SOURCE, "reverse", cache=False), cubin=b"no cubin at all")
    begin_disassembly(program)
    with pytest.raises(DisassemblyError, match="refuses the cubin"):
        disassemble(program)


@pytest.mark.further
@pytest.mark.usefixtures("nothing_begun")
def test_a_forked_process_does_not_wait_for_its_parents_thread(monkeypatch, tmp_path, program):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    begin_disassembly(program)
    monkeypatch.setattr(disassembly._BEGUN, "_process", -1)  # as a forked process finds it
    assert disassemble(program).entry == "reverse"
