"""Products of warpgroups: tiles in shared memory, types, and what the checks say of them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import softlab
from softlab.emulator.opcodes.group_products import group_product_of
from softlab.emulator.opcodes.matrices import product_of
from tests.sampled import turns

SOURCE = r"""
#define FENCE asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(N) asm volatile("wgmma.wait_group.sync.aligned " #N ";" ::: "memory")
#define PROXY asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define IN const uint4 *image, const unsigned *regs, unsigned long a, unsigned long b, unsigned *out, int scale
#define D8 "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define R8 "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
#define D4 "{%0, %1, %2, %3}"
#define R4 "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
#define SCALE(N) "{ .reg .pred p; setp.ne.b32 p, %" #N ", 0; "
// Both tiles are in an image of shared memory that the test makes. Descriptors count from where it begins: on a GPU the
// first KiB of shared memory is not the kernel's.
#define KERNEL(NAME, COUNT, ASM, ...)                                                               \
  extern "C" __global__ void NAME(IN) {                                                             \
    extern __shared__ __align__(1024) uint4 tile[];                                                 \
    for (int i = threadIdx.x; i < 1024; i += 128) tile[i] = image[i];                               \
    PROXY;                                                                                          \
    __syncthreads();                                                                                \
    const unsigned start = (unsigned)__cvta_generic_to_shared(tile) >> 4;                           \
    a += start;                                                                                     \
    b += start;                                                                                     \
    unsigned d[COUNT], r[4];                                                                        \
    for (int i = 0; i < COUNT; ++i) d[i] = out[i * 128 + threadIdx.x];                              \
    for (int i = 0; i < 4; ++i) r[i] = regs[i * 128 + threadIdx.x];                                 \
    FENCE;                                                                                          \
    asm volatile(ASM : __VA_ARGS__);                                                                \
    COMMIT;                                                                                         \
    WAIT(0);                                                                                        \
    for (int i = 0; i < COUNT; ++i) out[i * 128 + threadIdx.x] = d[i];                              \
  }
#define TILES : "l"(a), "l"(b), "r"(scale)
#define REGISTERS : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b), "r"(scale)
#define SS(NAME, FORM, REST) \
  KERNEL(NAME, 8, SCALE(10) "wgmma.mma_async.sync.aligned.m64n16" FORM " " D8 ", %8, %9, p" REST "; }", R8 TILES)
#define RS(NAME, FORM, REST) \
  KERNEL(NAME, 8, SCALE(13) "wgmma.mma_async.sync.aligned.m64n16" FORM " " D8                        \
         ", {%8, %9, %10, %11}, %12, p" REST "; }", R8 REGISTERS)
SS(along_k, "k16.f32.f16.f16", ", 1, 1, 0, 0")
SS(across, "k16.f32.f16.f16", ", 1, 1, 1, 1")
SS(tf32, "k8.f32.tf32.tf32", ", 1, -1")
SS(bits, "k256.s32.b1.b1.and.popc", "")
RS(bf16, "k16.f32.bf16.bf16", ", -1, 1, 0")
RS(bytes, "k32.satfinite.s32.s8.u8", "")
RS(fp8, "k32.f32.e4m3.e5m2", ", 1, 1")
KERNEL(half, 4, SCALE(6) "wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 " D4
       ", %4, %5, p, 1, 1, 0, 0; }", R4 TILES)
"""
#: Where B begins in the image.
B_AT = 8192
WIDTHS = {16: 0, 128: 1, 64: 2, 32: 3}


def descriptor(start: int, leading: int, stride: int, width: int, base: int = 0) -> np.uint64:
    fields = start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | base << 49
    return np.uint64(fields | WIDTHS[width] << 62)


def rows_in(image: np.ndarray, at: int, rows: np.ndarray, width: int) -> None:
    """Rows of ``width`` bytes, swizzled as a copy by a tensor map does: piece c of row r lies at c ^ (phase of r)."""
    for r, row in enumerate(rows.view(np.uint8).reshape(len(rows), -1, 16)):
        phase = (at + r * width) // 128 % (width // 16)
        for c, piece in enumerate(row):
            start = at + r * width + (c ^ phase) * 16
            image[start : start + 16] = piece


def plain_in(image: np.ndarray, at: int, rows: np.ndarray, leading: int, stride: int) -> None:
    """Blocks of 8 rows of 16 bytes: the next 8 rows ``stride`` on, the next 16 bytes ``leading`` on."""
    for r, row in enumerate(rows.view(np.uint8).reshape(len(rows), -1, 16)):
        for c, piece in enumerate(row):
            start = at + r // 8 * stride + c * leading + r % 8 * 16
            image[start : start + 16] = piece


def matrix_of(registers: np.ndarray, dtype: type) -> np.ndarray:
    """D (64, 16) of (registers, 128) words, element by element as the PTX ISA draws it."""
    elements = np.ascontiguousarray(registers.T).view(dtype)
    found = np.zeros((64, 16), dtype)
    for thread in range(128):
        for number, value in enumerate(elements[thread]):
            row = thread // 32 * 16 + thread % 32 // 4 + number // 2 % 2 * 8
            found[row, number // 4 * 8 + thread % 4 * 2 + number % 2] = value
    return found


def fragment_of(matrix: np.ndarray) -> np.ndarray:
    """A (64, k) as registers (4, 128)."""
    each = 4 // matrix.itemsize
    found = np.zeros((128, 4, each), matrix.dtype)
    for thread in range(128):
        for register in range(4):
            row = thread // 32 * 16 + thread % 32 // 4 + register % 2 * 8
            first = (thread % 4 + register // 2 * 4) * each
            found[thread, register] = matrix[row, first : first + each]
    return np.ascontiguousarray(found.view(np.uint32)[..., 0].T)


def launch(
    name: str,
    image: np.ndarray,
    a: np.uint64,
    b: np.uint64,
    *,
    registers: np.ndarray | None = None,
    before: np.ndarray | None = None,
    count: int = 8,
    scale: int = 1,
) -> np.ndarray:
    """The registers of D after the product, (count, 128)."""
    out = np.zeros((count, 128), np.uint32) if before is None else before
    regs = np.zeros((4, 128), np.uint32) if registers is None else registers
    kernel = softlab.Kernel(SOURCE, name)
    assert kernel.program.arch == "sm_90a"
    kernel.run(1, 128, (image.view(np.uint32).reshape(-1, 4), regs, a, b, out, scale), smem=16384, record=False)
    return out


def halves(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-8, 9, shape).astype(np.float16)


@pytest.mark.parametrize("width", [16, 32, 64, 128])
def test_tiles_along_k(width: int) -> None:
    rng, image = np.random.default_rng(width), np.zeros(16384, np.uint8)
    k = max(16, width // 2)
    a, b = halves(rng, 64, k), halves(rng, 16, k)
    step = 32 if width > 32 else 0  # the second 16 of k, where a row has more
    if width == 16:
        plain_in(image, 0, a, 1024, 128)
        plain_in(image, B_AT, b, 128, 512)
        found = launch("along_k", image, descriptor(0, 1024, 128, 16), descriptor(B_AT, 128, 512, 16))
    else:
        rows_in(image, 0, a, width)
        rows_in(image, B_AT, b, width)
        one = descriptor(step, 0, 8 * width, width), descriptor(B_AT + step, 0, 8 * width, width)
        found = launch("along_k", image, *one)
    part = slice(step // 2, step // 2 + 16)
    np.testing.assert_array_equal(matrix_of(found, np.float32), a[:, part].astype(float) @ b[:, part].astype(float).T)


@pytest.mark.parametrize("width", [16, 32, 64, 128])
def test_tiles_across_k(width: int) -> None:
    rng, image = np.random.default_rng(width), np.zeros(16384, np.uint8)
    a, b = halves(rng, 16, 64), halves(rng, 16, 64)
    one, at_b = width // 2, 2 * (16 if width > 64 else 0)
    for start, matrix in ((0, a), (B_AT, b)):
        for part in range(64 // one):
            columns = np.ascontiguousarray(matrix[:, part * one : (part + 1) * one])
            if width == 16:
                plain_in(image, start + part * 128, columns, 0, 1024)
            else:
                rows_in(image, start + part * 16 * width, columns, width)
    strides = (1024, 128) if width == 16 else (16 * width, 8 * width)
    found = launch("across", image, descriptor(0, *strides, width), descriptor(B_AT + at_b, *strides, width))
    columns = b[:, at_b // 2 : at_b // 2 + 16]
    np.testing.assert_array_equal(matrix_of(found, np.float32), a.T.astype(float) @ columns.astype(float))


def test_a_pattern_that_begins_between_its_boundaries() -> None:
    rng, image = np.random.default_rng(1), np.zeros(16384, np.uint8)
    a, b = halves(rng, 64, 64), halves(rng, 16, 64)
    rows_in(image, 0, a, 128)
    for r, row in enumerate(b.view(np.uint8).reshape(16, 8, 16)):  # the phase counts from the tile's first row
        for c, piece in enumerate(row):
            start = B_AT + 384 + r * 128 + (c ^ r % 8) * 16
            image[start : start + 16] = piece
    found = launch("along_k", image, descriptor(0, 0, 1024, 128), descriptor(B_AT + 384, 0, 1024, 128, base=3))
    expected = a[:, :16].astype(float) @ b[:, :16].astype(float).T
    np.testing.assert_array_equal(matrix_of(found, np.float32), expected)


def test_the_accumulator_and_its_scale() -> None:
    rng, image = np.random.default_rng(2), np.zeros(16384, np.uint8)
    a, b, before = halves(rng, 64, 16), halves(rng, 16, 16), halves(rng, 128, 8)
    plain_in(image, 0, a, 1024, 128)
    plain_in(image, B_AT, b, 128, 256)
    tiles = descriptor(0, 1024, 128, 16), descriptor(B_AT, 128, 256, 16)
    product = a.astype(float) @ b.astype(float).T
    words = np.ascontiguousarray(before.view(np.uint32).T)  # (4, 128), two of f16 each
    expected = product + matrix_of(words, np.float16)
    found = launch("half", image, *tiles, before=words.copy(), count=4)
    np.testing.assert_array_equal(matrix_of(found, np.float16), expected)
    found = launch("half", image, *tiles, before=words.copy(), count=4, scale=0)
    np.testing.assert_array_equal(matrix_of(found, np.float16), product)


def test_other_types() -> None:
    rng, image = np.random.default_rng(3), np.zeros(16384, np.uint8)
    tiles = descriptor(0, 0, 256, 32), descriptor(B_AT, 0, 256, 32)
    a, b = (rng.integers(-8, 9, (n, 8)).astype(np.float32) for n in (64, 16))
    rows_in(image, 0, a, 32)
    rows_in(image, B_AT, b, 32)
    np.testing.assert_array_equal(matrix_of(launch("tf32", image, *tiles), np.float32), -(a @ b.T))
    a, b = (rng.integers(0, 1 << 32, (n, 8), dtype=np.uint32) for n in (64, 16))
    rows_in(image, 0, a, 32)
    rows_in(image, B_AT, b, 32)
    found = matrix_of(launch("bits", image, *tiles), np.int32)
    np.testing.assert_array_equal(found, np.bitwise_count(a[:, None] & b[None]).sum(axis=2))
    a, b = (rng.integers(-8, 9, (n, 16)).astype(ml_dtypes.bfloat16) for n in (64, 16))
    rows_in(image, B_AT, b, 32)
    found = matrix_of(launch("bf16", image, *tiles, registers=fragment_of(a)), np.float32)
    np.testing.assert_array_equal(found, -(a.astype(float) @ b.astype(float).T))
    a, b = rng.integers(-128, 128, (64, 32)).astype(np.int8), rng.integers(0, 256, (16, 32)).astype(np.uint8)
    rows_in(image, B_AT, b, 32)
    before = np.full((8, 128), 2**31 - 100, np.uint32)
    found = matrix_of(launch("bytes", image, *tiles, registers=fragment_of(a), before=before), np.int32)
    exact = a.astype(np.int64) @ b.astype(np.int64).T + 2**31 - 100
    assert (exact >= 2**31).any()
    np.testing.assert_array_equal(found, np.minimum(exact, 2**31 - 1))
    a, b = rng.integers(-8, 9, (64, 32)).astype(ml_dtypes.float8_e4m3fn), rng.integers(-8, 9, (16, 32))
    b = b.astype(ml_dtypes.float8_e5m2)
    rows_in(image, B_AT, b.view(np.uint8), 32)
    found = matrix_of(launch("fp8", image, *tiles, registers=fragment_of(a.view(np.uint8))), np.float32)
    np.testing.assert_array_equal(found, a.astype(float) @ b.astype(float).T)


def test_a_product_of_floats_of_8_bits_keeps_13_bits() -> None:
    product = group_product_of(["mma_async", "sync", "aligned", "m64n8k32", "f32", "e5m2", "e5m2"])
    a, b = np.zeros((16, 32), np.uint8), np.zeros((8, 32), np.uint8)
    power = {n: np.uint8((n + 15) << 2) for n in range(-14, 15)}
    for column, least in enumerate((-13, -14)):
        a[0, :3] = power[0], power[-6], power[-7]
        b[column, 0], b[column, 1 + (least == -14)] = power[0], power[-7]
    found = product.multiply(a, b, np.zeros((16, 8), np.uint32)).view(np.float32)[0]
    assert found[:2].tolist() == [1 + 2.0**-13, 1]


def test_other_floats_have_the_arithmetic_of_mma_sync() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((16, 16)).astype(np.float16), rng.standard_normal((8, 16)).astype(np.float16)
    c = rng.standard_normal((16, 8)).astype(np.float32)
    bits = a.view(np.uint16), b.view(np.uint16), c.view(np.uint32)
    group = group_product_of(["mma_async", "sync", "aligned", "m64n8k16", "f32", "f16", "f16"])
    warp = product_of(["m16n8k16", "row", "col", "f32", "f16", "f16", "f32"])
    np.testing.assert_array_equal(group.multiply(*bits), warp.multiply(*bits))


@pytest.mark.parametrize(
    "form",
    [
        "m64n12k16.f32.f16.f16",
        "m64n264k16.f32.f16.f16",
        "m64n8k8.f32.f16.f16",
        "m64n8k16.f16.bf16.bf16",
        "m64n40k32.s32.s8.s8",
        "m64n8k32.f32.s8.s8",
        "m64n8k256.s32.b1.b1.xor.popc",
        "m64n8k16.satfinite.f32.f16.f16",
    ],
)
def test_a_form_that_ptx_does_not_have_is_refused(form: str) -> None:
    with pytest.raises(NotImplementedError):
        group_product_of(["mma_async", "sync", "aligned", *form.split(".")])


MISUSE = r"""
#define FENCE asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(N) asm volatile("wgmma.wait_group.sync.aligned " #N ";" ::: "memory")
__device__ unsigned long long tile(const void* p, unsigned long long leading) {
  const unsigned at = __cvta_generic_to_shared(p);
  return at >> 4 | leading >> 4 << 16 | 8ull << 32;
}
#define PRODUCT(KEEPS)                                                                                           \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"         \
               " {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0; }"                                                     \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                  \
               : "l"(tile(a, 1024)), "l"(tile(b + (at != 3 ? 0 : threadIdx.x / 128 * 32), 128)), "r"(KEEPS))
extern "C" __global__ void misuse(float* out, int at) {
  __shared__ __align__(128) unsigned a[512], b[128];
  for (int i = threadIdx.x; i < 512; i += blockDim.x) a[i] = 0x3c003c00;  // LINE 18
  if (threadIdx.x < 128) b[threadIdx.x] = 0x3c003c00;  // LINE 19
  if (at != 1) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  if (at != 2) __syncthreads();
  float d[4];
  for (int i = 0; i < 4 && at == 6; ++i) d[i] = 0;
  if (at != 4) FENCE;
  if (at == 5) d[0] = out[threadIdx.x];  // LINE 24
  if (at != 6 || threadIdx.x < 64) {
    PRODUCT(0);  // LINE 26
    if (at == 5) d[0] += 1;  // LINE 27
    if (at == 5) PRODUCT(1);  // LINE 28
  }
  if (at != 7) COMMIT; if (at > 9) { PRODUCT(1); COMMIT; } if (at > 10) { PRODUCT(1); COMMIT; }
  if (at == 8) a[threadIdx.x] = 0;  // LINE 31
  if (at == 9 || at == 12) WAIT(1); else WAIT(0);
  a[threadIdx.x] = 0;  // LINE 33
  for (int i = 0; i < 4; ++i) out[i * blockDim.x + threadIdx.x] = d[i];  // LINE 34
}
"""


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (0, []),
        (1, [("race", 26, 18), ("race", 26, 19)]),
        (2, [("race", 26, 18), ("race", 26, 19)]),
        (4, [("wgmma-misuse", 26, None)]),
        (5, [("wgmma-misuse", 26, 24), ("wgmma-misuse", 27, 26), ("wgmma-misuse", 28, 27)]),
        (6, [("inactive-lane", 26, None)]),
        (7, [("race", 33, 26), ("wgmma-misuse", 34, 26)]),
        (8, [("race", 31, 26)]),
        (9, [("race", 33, 26), ("wgmma-misuse", 34, 26)]),
        (10, []),
        (11, []),
        (12, [("race", 33, 29), ("wgmma-misuse", 34, 29)]),
    ],
)
def test_misuse_is_found_with_both_lines(at: int, expected: list[tuple[str, int, int | None]]) -> None:
    # The compiler knows `at`, so that each kernel has one path.
    source = MISUSE.replace("int at)", "int)").replace('extern "C"', f'constexpr int at = {at}; extern "C"')
    out = np.zeros((4, 128), np.float32)
    run = softlab.Kernel(source, "misuse").run(1, 128, (out, 0), check="collect", record=False)
    lines = {int(line.split("// LINE ")[1]): n for n, line in enumerate(MISUSE.splitlines(), 1) if "// LINE " in line}
    named = {n: name for name, n in lines.items()}
    found = [(f.kind, named.get(f.line, f.line), named.get(f.other_line, f.other_line)) for f in run.findings]
    assert found == expected


def test_part_of_a_warpgroup_is_a_fault() -> None:
    source = MISUSE.replace("int at)", "int)").replace('extern "C"', 'constexpr int at = 0; extern "C"')
    with pytest.raises(softlab.KernelFault, match="multiple of 128") as caught:
        softlab.Kernel(source, "misuse").run(1, 96, (np.zeros((4, 96), np.float32), 0))
    assert caught.value.kind == "inactive-lane"


@pytest.mark.parametrize(("who", "whole"), [("< 128", True), (">= 128", True), ("< 192", False)])
def test_one_warpgroup_may_multiply_alone(who: str, whole: bool) -> None:
    source = MISUSE.replace("int at)", "int)").replace('extern "C"', 'constexpr int at = 6; extern "C"')
    source = source.replace("threadIdx.x < 64", f"threadIdx.x {who}").replace("WAIT(0);", "WAIT(0); __syncthreads();")
    out = np.zeros((4, 256), np.float32)
    run = softlab.Kernel(source, "misuse").run(1, 256, (out, 0), check="collect", record=False)
    assert [f.kind for f in run.findings] == ([] if whole else ["inactive-lane"])
    if whole:
        assert (out != 0).any(axis=0).tolist() == [(thread < 128) == (who == "< 128") for thread in range(256)]


@pytest.mark.parametrize(("at", "group"), turns(3, [7, 8, 9], [0, 1, 2]))
def test_each_warpgroup_of_each_block_is_told_for_itself(at: int, group: int) -> None:
    """One warpgroup of three multiplies, in each of two blocks."""
    source = MISUSE.replace("int at)", "int)").replace('extern "C"', f'constexpr int at = {at}; extern "C"')
    source = source.replace("at != 6 || threadIdx.x < 64", f"threadIdx.x / 128 == {group}")
    source = source.replace("b + (at != 3 ? 0 : threadIdx.x / 128 * 32)", "b")
    found = []
    for grid in (1, 2):
        out = np.zeros((4, 384 * grid), np.float32)
        run = softlab.Kernel(source, "misuse").run(grid, 384, (out, 0), check="collect", record=False)
        ours = [f for f in run.findings if f.line != f.other_line]  # both blocks store to the same elements of out
        found.append([(f.kind, f.line, f.other_line, f.thread, f.other_thread, f.count) for f in ours])
    assert found[0]
    assert [one[:5] for one in found[0]] == [one[:5] for one in found[1]]
    assert [2 * one[5] for one in found[0]] == [one[5] for one in found[1]]


@pytest.mark.parametrize(
    ("words", "k", "whole"),
    [(("f32", "f16", "f16"), 16, False), (("f16", "f16", "f16"), 16, False), (("f32", "tf32", "tf32"), 8, False),
     (("f16", "e4m3", "e5m2"), 32, False), (("s32", "s8", "u8"), 32, True)],
)  # fmt: skip
def test_which_widths_a_product_may_have(words: tuple[str, ...], k: int, whole: bool) -> None:
    """PTX ISA, "Asynchronous warpgroup-level matrix shapes": multiples of 8; of integers beyond 24 multiples of 16."""
    for n in range(273):
        there = n % 8 == 0 and 8 <= n <= 256 and (not whole or n <= 24 or n % 16 == 0)
        modifiers = ("mma_async", "sync", "aligned", f"m64n{n}k{k}", *words)
        if there:
            assert group_product_of(modifiers).n == n
        else:
            with pytest.raises(NotImplementedError, match="wgmma"):
                group_product_of(modifiers)
