"""Operands as records, and the registry of opcodes."""

from __future__ import annotations

import pytest

from softlab.cuda.disassembly import disassemble, find_nvdisasm
from softlab.errors import Error
from softlab.kernel import Kernel
from softlab.sass import registry
from softlab.sass.decode import Operand, decode

SOURCE = """
__constant__ float scale[4] = {1, 2, 3, 4};
extern "C" __global__ void some(const float* x, double* y, int n, float f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = (double)(fabsf(x[i]) * 1.5f - f) * 0.1 + scale[i & 3];
}"""


@pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")
def test_operands_of_a_kernel():
    code = decode(disassemble(Kernel(SOURCE, "some").program)).instructions
    assert [i.index for i in code] == list(range(len(code)))
    operands = [o for i in code for o in i.operands]
    assert not [o for o in operands if o.kind == "other"]
    assert any(o.kind == "constant" and (o.index, o.value) == (0, 0x210) for o in operands)
    load = next(i for i in code if i.opcode == "LDG")
    assert load.operands[1].kind == "address"
    assert load.operands[1].base is not None
    assert load.operands[1].base.suffixes == ("64",)
    assert any(o.absolute for o in operands), "fabsf is a sign of the operand"
    floats = [o for o in operands if o.kind == "float"]
    assert any(o.value == 0x3FC00000 for o in floats), "1.5f, as the encoding has it"
    ends = [i for i in code if i.opcode == "EXIT"]
    assert ends[0].guard is not None
    assert ends[0].guard.kind == "P"
    assert ends[-1].guard is None
    assert load.line == 6
    assert load.control is not None


@pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")
def test_a_branch_names_the_instruction_it_leads_to():
    source = 'extern "C" __global__ void loop(int* x, int n) { while (n > 0) { n -= x[n]; x[0] += n; } }'
    code = decode(disassemble(Kernel(source, "loop").program)).instructions
    back = [i for i in code if i.opcode == "BRA" and i.targets[0] < i.index]
    assert back
    assert all(0 <= t < len(code) for i in code for t in i.targets)


def test_an_opcode_is_registered_once():
    assert registry.find("IADD3") is not None
    assert registry.find("no such opcode") is None
    with pytest.raises(Error, match=r"IADD3.*twice"):
        registry.pure("IADD3")(lambda form: None)


def test_an_operand_without_signs_is_plain():
    plain = Operand("R", 4)
    assert (plain.negated, plain.absolute, plain.inverted, plain.suffixes) == (False, False, False, ())
