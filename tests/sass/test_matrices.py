"""Matrix instructions of the machine code against the PTX of the same program, and against Nsight Compute's counts."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.cuda.disassembly import find_nvdisasm
from softlab.errors import KernelFault, UnsupportedInstruction
from softlab.kernel import Kernel
from softlab.sass import Kind, Space, interpret
from softlab.sass.products import registers_of_operands
from tests.emulator.test_matrices import kernel, matrices
from tests.emulator.test_wmma import CASES as WMMA
from tests.emulator.test_wmma import DTYPES, in_memory, name_of, sizes
from tests.emulator.test_wmma import SOURCE as WMMA_SOURCE
from tests.hardware import matrix_cases
from tests.hardware.record_tensor import TensorCase, _warp_product, recording, tensor_cases
from tests.sampled import one_of

pytestmark = pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")

FURTHER = """
extern "C" __global__ void some_warps(const unsigned* in, float* out, int warps) {
  float d[4] = {1, 2, 3, 4};
  const unsigned* a = in + threadIdx.x;
  if (threadIdx.x / 32 < warps)
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[128]), "r"(a[256]));
  for (int i = 0; i < 4; ++i) out[128 * i + threadIdx.x] = d[i];
}
extern "C" __global__ void loaded_twice(unsigned* out) {
  __shared__ __align__(128) unsigned tile[512];
  for (int i = threadIdx.x; i < 512; i += 32) tile[i] = i;
  __syncwarp();
  unsigned r, s, t;
  // Rows that are neighbours, rows of which each has the same banks, and one row for all.
  const unsigned at = __cvta_generic_to_shared(tile);
#define LOAD(TO, BYTES)                                                                                         \\
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(TO) : "r"(at + threadIdx.x % 8 * BYTES))
  LOAD(r, 16);
  LOAD(s, 128);
  LOAD(t, 0);
  out[threadIdx.x] = r + s + t;
}
"""


def _same(case: TensorCase) -> None:
    arguments, written = case.arguments(np.array)
    found = interpret(Kernel.from_program(case.compile()), case.grid, case.block, arguments, smem=case.smem)
    number = next(n for n, one in enumerate(arguments) if one is written[0])
    assert found.output(number).tobytes() == case.emulate()[1].tobytes()
    counted = recording()["cases"].get(case.name)
    if counted is not None:
        assert found.instructions == counted["instructions"]


def _factor(form: str) -> str:
    return form.split(".")[-3]


@pytest.mark.parametrize("form", one_of(12, matrix_cases.forms(), _factor))
def test_products_are_those_of_the_ptx(form: str) -> None:
    """Random fragments with subnormals, infinities and NaNs."""
    _same(_warp_product(form))


@pytest.mark.parametrize("case", WMMA, ids=name_of)
def test_tiles_of_wmma_are_those_of_the_ptx(case: tuple[str, ...]) -> None:
    """The assembler transposes some of the fragments by MOVM."""
    shape, kind, d, c, *orders = case
    m, n, k = sizes(shape)
    rng = np.random.default_rng(9)
    sides = (rng.integers(0, 2 if kind == "b1" else 8, side) for side in ((m, k), (k, n)))
    a, b = (in_memory(side, order == "row", kind) for side, order in zip(sides, orders, strict=True))
    added, expected = rng.integers(-50, 50, (n, m)).astype(DTYPES[c]), np.zeros((m, n), DTYPES[d])
    tiles = Kernel(WMMA_SOURCE, name_of(case))
    found = interpret(tiles, 1, 32, (a, b, added, np.zeros_like(expected)))
    tiles.run(1, 32, (a, b, added, expected), record=False)
    assert found.output(3).tobytes() == expected.tobytes()


def test_the_gallery_multiplies_as_the_hardware_does() -> None:
    _same(next(case for case in tensor_cases() if case.name == "tensor product"))


@pytest.mark.parametrize("name", ["load1", "load2", "load4", "load4t"])
def test_matrices_are_loaded_as_by_the_ptx(name: str) -> None:
    tile, offset, rows = matrices(int(name[4]))
    expected = np.zeros((len(rows), 32), np.uint32)
    kernel(name).run(1, 32, (tile, offset, expected))
    found = interpret(kernel(name), 1, 32, (tile, offset, np.zeros_like(expected)))
    np.testing.assert_array_equal(found.output(2), expected)


def test_matrices_are_stored_and_transposed_as_by_the_ptx() -> None:
    tile, offset, _ = matrices(4)
    registers, expected = tile[:256].view(np.uint32).reshape(4, 32), np.zeros(1024, np.uint16)
    kernel("store4t").run(1, 32, (registers, offset, expected))
    found = interpret(kernel("store4t"), 1, 32, (registers, offset, np.zeros_like(expected)))
    np.testing.assert_array_equal(found.output(2), expected)
    moved = np.zeros(32, np.uint32)
    kernel("move").run(1, 32, (registers[0].copy(), moved))
    again = interpret(kernel("move"), 1, 32, (registers[0].copy(), np.zeros(32, np.uint32)))
    np.testing.assert_array_equal(again.output(1), moved)


def test_a_row_out_of_bounds_is_a_fault() -> None:
    tile, offset, _ = matrices(4)
    offset[9] = 4096
    with pytest.raises(KernelFault, match=r"(?s)shared-out-of-bounds: .*thread \(9, 0, 0\).*`LDSM"):
        interpret(kernel("load4"), 1, 32, (tile, offset, np.zeros((4, 32), np.uint32)))
    interpret(kernel("load1"), 1, 32, (tile, offset, np.zeros((1, 32), np.uint32)))


@pytest.mark.parametrize("warps", [0, 1, 3, 4])
def test_warps_that_do_not_multiply_keep_their_registers(warps: int) -> None:
    given = np.random.default_rng(warps).integers(0, 0x3C00, (384, 2)).astype(np.uint16).view(np.uint32)[:, 0]
    expected, some = np.zeros(512, np.float32), Kernel(FURTHER, "some_warps")
    some.run(1, 128, (given, expected, np.int32(warps)), check=False)
    found = interpret(some, 1, 128, (given, np.zeros_like(expected), np.int32(warps))).output(1)
    np.testing.assert_array_equal(found, expected)
    assert (found.reshape(4, 4, 32)[:, warps:] == np.arange(1, 5)[:, None, None]).all()


def test_rows_that_share_banks_take_more_wavefronts() -> None:
    """The rule that an H200 took for ldmatrix: 8 lanes at a time, paired or not."""
    (stream,) = interpret(Kernel(FURTHER, "loaded_twice"), 1, 32, (np.zeros(32, np.uint32),)).streams
    accesses = stream.accesses
    loads = (accesses.space == Space.SHARED) & (accesses.kind == Kind.LOAD)
    assert sorted(accesses.wavefronts[loads].tolist()) == [1, 1, 8]


def test_products_of_warpgroups_are_named() -> None:
    case = next(case for case in tensor_cases() if case.name.startswith("wgmma"))
    arguments, _ = case.arguments(np.array)
    with pytest.raises(UnsupportedInstruction, match=r"WARPGROUP|HGMMA"):
        interpret(Kernel.from_program(case.compile()), case.grid, case.block, arguments, smem=case.smem)


@pytest.mark.parametrize(
    ("opcode", "modifiers", "registers"),
    [
        ("HMMA", ("16816", "F32"), (4, 4, 2, 4)),
        ("HMMA", ("16816", "F16"), (2, 4, 2, 2)),
        ("HMMA", ("1684", "F32", "TF32"), (4, 2, 1, 4)),
        ("IMMA", ("16832", "S8", "U8", "SAT"), (4, 4, 2, 4)),
        ("BMMA", ("168256", "AND", "POPC"), (4, 4, 2, 4)),
        ("DMMA", ("16x8x16",), (8, 16, 8, 8)),
    ],
)
def test_operands_have_the_registers_of_their_fragments(
    opcode: str, modifiers: tuple[str, ...], registers: tuple[int, ...]
) -> None:
    assert registers_of_operands(opcode, modifiers) == registers


@pytest.mark.parametrize("modifiers", [("SP", "16832", "F32"), ("F32",), ("884", "F32"), ("1688", "F16", "BF16")])
def test_other_products_are_not_known(modifiers: tuple[str, ...]) -> None:
    """Sparse ones, none without a shape, those of older GPUs, and none that PTX does not have."""
    with pytest.raises(NotImplementedError):
        registers_of_operands("HMMA", modifiers)
