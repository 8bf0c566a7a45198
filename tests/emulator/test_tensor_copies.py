"""Copies by tensor maps against NumPy: boxes inside and outside of arrays, swizzles, strides, reductions, multicast."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

import softlab
from softlab.errors import Error, KernelFault
from softlab.kernel import Kernel
from tests.sampled import turns

PRELUDE = """
#include <cuda.h>
typedef unsigned int u32; typedef unsigned long long u64;
__device__ u32 address_of(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ void begin(u64* bar, u32 nbytes) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(address_of(bar)) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"(address_of(bar)), "r"(nbytes) : "memory"); }
__device__ void await(u64* bar) {
  u32 done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(address_of(bar)) : "memory"); }
#define LOAD(axes, coords, tile, map, bar, ...)                                                                      \\
  asm volatile("cp.async.bulk.tensor." axes ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "      \\
               "[%1, {" coords "}], [%2];"                                                                           \\
               :: "r"(address_of(tile)), "l"(map), "r"(address_of(bar)), __VA_ARGS__ : "memory")
#define COMMIT_AND_WAIT asm volatile("cp.async.bulk.commit_group;\\ncp.async.bulk.wait_group 0;" ::: "memory")
"""


def kernel(body: str, **more) -> Kernel:
    return Kernel(f'{PRELUDE}\nextern "C" __global__ void {body}', "k", **more)


def coordinates(axes: int, first: int) -> tuple[str, str]:
    """(the operands of the coordinates from number ``first`` on, the arguments of the asm statement)."""
    return (
        ", ".join(f"%{first + axis}" for axis in range(axes)),
        ", ".join(f'"r"(at[{axis}])' for axis in range(axes)),
    )


def loader(axes: int, counted: int = 0) -> Kernel:
    """A kernel whose one block loads a box and writes shared memory out as it is.

    ``counted``: the bytes that the mbarrier counts, where these are not all that are written out.
    """
    names, values = coordinates(axes, 3)
    count = counted or "nbytes"
    return kernel(f"""k(const __grid_constant__ CUtensorMap map, const int* at, char* y, int nbytes) {{
      extern __shared__ __align__(1024) char tile[]; __shared__ u64 bar;
      if (threadIdx.x == 0) {{ begin(&bar, {count}); LOAD("{axes}d", "{names}", tile, &map, &bar, {values}); }}
      __syncthreads(); await(&bar);
      for (int i = threadIdx.x; i < nbytes; i += 32) y[i] = tile[i]; }}""")


def storer(axes: int, operation: str = "") -> Kernel:
    """A kernel whose one block fills shared memory from x and stores or reduces it to a box."""
    names, values = coordinates(axes, 2)
    name = f"cp.reduce.async.bulk.tensor.{axes}d" if operation else f"cp.async.bulk.tensor.{axes}d"
    suffix = f".{operation}" if operation else ""
    return kernel(f"""k(const __grid_constant__ CUtensorMap map, const int* at, const char* x, int nbytes) {{
      extern __shared__ __align__(1024) char tile[];
      for (int i = threadIdx.x; i < nbytes; i += 32) tile[i] = x[i];
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads();
      if (threadIdx.x == 0) {{
        asm volatile("{name}.global.shared::cta{suffix}.tile.bulk_group [%1, {{{names}}}], [%0];"
                     :: "r"(address_of(tile)), "l"(&map), {values} : "memory");
        COMMIT_AND_WAIT; }} }}""")


# A reference of its own: element by element, in the order of the array's axes.


def place(byte: int, swizzle: str) -> int:
    """Where a byte of a tile lies: as the tables of the CUDA C++ Programming Guide have it, chunk by chunk."""
    if swizzle == "none":
        return byte
    line, chunk, rest = byte // 128, byte % 128 // 16, byte % 16
    if swizzle == "128B":
        chunk = chunk ^ line % 8
    elif swizzle == "64B":
        chunk = chunk // 4 * 4 + (chunk % 4 ^ line % 4)
    else:
        chunk = chunk // 2 * 2 + (chunk % 2 ^ line % 2)
    return 128 * line + 16 * chunk + rest


def elements(array: np.ndarray, tile: softlab.TensorMap, start: tuple[int, ...]) -> list[tuple[int, tuple | None]]:
    """(byte in shared memory, index in the array or None outside) of each element of a box."""
    steps = (*tile.element_strides[:-1], 1)
    shape = [-(-size // step) for size, step in zip(tile.box, steps, strict=True)]
    found = []
    for number, offset in enumerate(itertools.product(*map(range, shape))):
        index = tuple(s + o * step for s, o, step in zip(start, offset, steps, strict=True))
        inside = all(0 <= i < n for i, n in zip(index, array.shape, strict=True))
        found.append((place(number * array.itemsize, tile.swizzle), index if inside else None))
    return found


def expected_tile(array: np.ndarray, tile: softlab.TensorMap, start: tuple[int, ...]) -> np.ndarray:
    cells = elements(array, tile, start)
    out = np.zeros(len(cells), array.dtype)
    for byte, index in cells:
        out[byte // array.itemsize] = 0 if index is None else array[index]
    return out


def case(seed: int) -> tuple[np.ndarray, softlab.TensorMap, tuple[int, ...]]:
    """A random array, a map of it, and where a box begins, often outside; along the last axis at 16 bytes each."""
    rng = np.random.default_rng(seed)
    axes = 1 + seed % 5
    dtype = np.dtype([np.float32, np.float16, np.uint8, np.int32, np.float64, ml_dtypes.bfloat16, np.int64][seed % 7])
    swizzle = ["none", "32B", "64B", "128B"][seed // 5 % 4] if axes > 1 else "none"
    span = {"none": 16 * int(rng.integers(1, 4)), "32B": 32, "64B": 64, "128B": 128}[swizzle]
    box = (*rng.integers(1, 5 if axes > 3 else 9, axes - 1).tolist(), span // dtype.itemsize)
    padded = (*rng.integers(1, 9, axes - 1).tolist(), 16 * int(rng.integers(1, 9)))
    array = rng.integers(0, 200, padded).astype(dtype)
    array = array[..., : int(rng.integers(1, padded[-1] + 1))] if axes > 1 else array
    steps = (*(rng.integers(1, 4, axes - 1).tolist() if seed % 3 == 0 else [1] * (axes - 1)), 1)
    start = [int(rng.integers(-b, n + 2)) for b, n in zip(box, array.shape, strict=True)]
    start[-1] -= start[-1] % (16 // dtype.itemsize)
    return array, softlab.TensorMap(array, box, swizzle, element_strides=steps), tuple(start)


@pytest.mark.parametrize(("compiled", "axes"), turns(2, ["none", "all"], [1, 2, 3, 4, 5]))
def test_random_boxes(axes, compiled):
    load, store = loader(axes), storer(axes)
    for seed in range(axes - 1, 60, 5):
        array, tile, start = case(seed)
        expected = expected_tile(array, tile, start)
        at, out = np.array(start[::-1], np.int32), np.zeros(expected.nbytes, np.int8)
        options = {"compiled": compiled, "smem": expected.nbytes, "record": False}
        load.run(1, 32, (tile, at, out, expected.nbytes), **options)
        assert (out.view(array.dtype) == expected).all(), (seed, array.shape, tile, start)
        given = np.random.default_rng(seed).integers(0, 99, len(expected)).astype(array.dtype)
        after = array.copy()
        start = tuple(max(0, first) for first in start)  # stores do not begin before the array
        for byte, index in elements(array, tile, start):
            if index is not None:
                after[index] = given[byte // array.itemsize]
        at = np.array(start[::-1], np.int32)
        store.run(1, 32, (tile, at, given.view(np.int8), expected.nbytes), **options)
        assert (array == after).all(), (seed, array.shape, tile, start)


@pytest.mark.parametrize(("dtype", "bits"), [(np.float32, 0x7FF77FF7), (np.float16, 0x7FF7)])
def test_nan_outside(dtype, bits):
    x = np.ones((2, 16), dtype)
    out = np.zeros(4 * 16, dtype)
    tile = softlab.TensorMap(x, (4, 16), fill="nan")
    loader(2).run(1, 32, (tile, np.array([8, -1], np.int32), out.view(np.int8), out.nbytes), smem=out.nbytes)
    expected = np.full((4, 16), bits, f"u{out.itemsize}")
    expected[1:3, :8] = np.ones(1, dtype).view(expected.dtype)
    assert (out.view(expected.dtype).reshape(4, 16) == expected).all()


@pytest.mark.parametrize("made", [loader, storer])
def test_a_box_that_begins_between_16_bytes_is_a_fault(made):
    """An H200 stops such a kernel: "an illegal instruction was encountered"."""
    x, raw = np.ones((4, 16), np.float32), np.zeros(128, np.int8)
    args = softlab.TensorMap(x, (2, 16)), np.array([3, 0], np.int32), raw, raw.nbytes
    with pytest.raises(KernelFault, match="element 3 along the last axis, 12 bytes") as caught:
        made(2).run(1, 32, args, smem=raw.nbytes)
    assert (caught.value.kind, caught.value.address) == ("misaligned", 12)


@pytest.mark.parametrize("operation", ["", "add"])
def test_a_store_before_the_array_is_a_fault(operation):
    """An H200 stops such a kernel: "an illegal instruction was encountered"."""
    x, raw = np.ones((4, 16), np.float32), np.zeros(128, np.int8)
    args = softlab.TensorMap(x, (2, 16)), np.array([0, -1], np.int32), raw, raw.nbytes
    with pytest.raises(KernelFault, match=r"begins before the array, at \{0, -1\}") as caught:
        storer(2, operation).run(1, 32, args, smem=raw.nbytes)
    assert caught.value.kind == "global-out-of-bounds"


def test_int64_has_no_sum():
    x, raw = np.ones((4, 16), np.int64), np.zeros(256, np.int8)
    args = softlab.TensorMap(x, (2, 16)), np.array([0, 0], np.int32), raw, raw.nbytes
    with pytest.raises(Error, match=r"no \.add of int64"):
        storer(2, "add").run(1, 32, args, smem=raw.nbytes)


_REDUCED = {
    "add": (np.uint32, np.int32, np.uint64, np.float16, np.float32, np.float64, ml_dtypes.bfloat16),
    "min": (np.int32, np.uint64, np.float16, ml_dtypes.bfloat16),
    "max": (np.int64, np.uint32, np.float16, ml_dtypes.bfloat16),
    "inc": (np.uint32,),
    "dec": (np.uint32,),
    "and": (np.int32,),
    "or": (np.uint64,),
    "xor": (np.uint32,),
}


def reduced(operation: str, old, new):
    """One element, in Python's arithmetic but for the rounding of a float's sum."""
    if operation == "add":
        wide = float(old) + float(new) if isinstance(old, np.floating | ml_dtypes.bfloat16) else int(old) + int(new)
        return type(old)(wide)
    if operation == "inc":
        return 0 if old >= new else old + 1
    if operation == "dec":
        return new if old == 0 or old > new else old - 1
    return {"min": min, "max": max, "and": int.__and__, "or": int.__or__, "xor": int.__xor__}[operation](
        *(map(int, (old, new)) if operation in ("and", "or", "xor") else (old, new))
    )


@pytest.mark.parametrize("operation", _REDUCED)
def test_reductions(operation):
    store, rng = storer(2, operation), np.random.default_rng(7)
    for dtype in _REDUCED[operation]:
        x = rng.integers(0, 9, (5, 32)).astype(dtype)
        given = rng.integers(0, 9, (3, 16)).astype(dtype)
        expected = x.copy()
        for row, col in itertools.product(range(3), range(16)):
            if 4 + row < 5:
                expected[4 + row, 8 + col] = reduced(operation, x[4 + row, 8 + col], given[row, col])
        tile, raw = softlab.TensorMap(x, (3, 16)), given.reshape(-1).view(np.int8)
        store.run(1, 32, (tile, np.array([8, 4], np.int32), raw, raw.nbytes), smem=raw.nbytes)
        assert (x == expected).all(), dtype


def test_all_blocks_add_to_one_box():
    """Copies that reduce are no race with each other. A plain store to the same box is one."""
    body = """k(const __grid_constant__ CUtensorMap map) {
      __shared__ __align__(128) float tile[32]; tile[threadIdx.x] = blockIdx.x + 1;
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncwarp();
      if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%1, {%2}], [%0];"
                     :: "r"(address_of(tile)), "l"(&map), "r"(0) : "memory");
        COMMIT_AND_WAIT; } }"""
    x = np.zeros(32, np.float32)
    kernel(body).run(5, 32, (softlab.TensorMap(x, 32),))
    assert (x == 15).all()
    with pytest.raises(KernelFault, match="a thread of another block wrote") as caught:
        kernel(body.replace(".reduce", "").replace(".add", "")).run(5, 32, (softlab.TensorMap(x, 32),))
    assert caught.value.kind == "race"


def test_a_multicast_reaches_the_named_blocks():
    source = f"""{PRELUDE}
    extern "C" __global__ void __cluster_dims__(4) k(const __grid_constant__ CUtensorMap map, float* y) {{
      __shared__ __align__(128) float tile[64]; __shared__ u64 bar; u32 rank;
      asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
      if (threadIdx.x == 0) begin(&bar, rank % 3 ? 0 : 256);
      asm volatile("barrier.cluster.arrive.aligned;\\nbarrier.cluster.wait.aligned;" ::: "memory");
      if (rank == 2 && threadIdx.x == 0)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                     ".multicast::cluster.L2::cache_hint [%0], [%1, {{%3, %4}}], [%2], %5, %6;"
                     :: "r"(address_of(tile)), "l"(&map), "r"(address_of(&bar)), "r"(0), "r"(1), "h"((short)9),
                     "l"(0ull) : "memory");
      await(&bar);
      if (rank % 3 == 0) y[blockIdx.x * 32 + threadIdx.x] = tile[32 + threadIdx.x];
      asm volatile("barrier.cluster.arrive.aligned;\\nbarrier.cluster.wait.aligned;" ::: "memory"); }}"""
    x, y = np.arange(128, dtype=np.float32).reshape(4, 32), np.zeros((8, 32), np.float32)
    Kernel(source, "k").run(8, 32, (softlab.TensorMap(x, (2, 32)), y))
    assert (y[[0, 3, 4, 7]] == x[2]).all()
    assert not y[[1, 2, 5, 6]].any()


# What is found


TWO_TILES = """k(const __grid_constant__ CUtensorMap map, float* y) {
      __shared__ __align__(128) float tile[32]; __shared__ u64 bar;
      if (threadIdx.x == 0) begin(&bar, 128);
      if (threadIdx.x == 0) LOAD("2d", "%3, %4", tile, &map, &bar, "r"(0), "r"(0));
      __syncthreads();
      await(&bar);
      y[threadIdx.x] = tile[threadIdx.x]; }"""


def line_of(body: str, text: str) -> int:
    source = f'{PRELUDE}\nextern "C" __global__ void {body}'
    return next(n for n, line in enumerate(source.splitlines(), 1) if text in line)


def run_with(body: str):
    x, y = np.arange(256, dtype=np.float32).reshape(8, 32), np.zeros(32, np.float32)
    run = kernel(body).run(1, 32, (softlab.TensorMap(x, (1, 32)), y), check="collect")
    return run, y


def test_a_tile_is_read_before_the_wait():
    body = TWO_TILES.replace("      await(&bar);\n", "")
    run, y = run_with(body)
    found = [f for f in run.findings if "may still be writing" in str(f)]
    assert {f.kind for f in found} == {"race"}
    assert (found[0].line, found[0].other_line) == (line_of(body, "y[threadIdx.x] ="), line_of(body, "0) LOAD("))
    assert not y.any(), "the emulator shows the old contents"


def test_bytes_that_never_come():
    run, _ = run_with(TWO_TILES.replace("begin(&bar, 128)", "begin(&bar, 256)"))
    (fault,) = [f for f in run.findings if f.kind == "infinite-loop"]
    assert "128 bytes of copies are missing" in str(fault)


def test_a_tile_that_begins_between_two_lines():
    run, _ = run_with(TWO_TILES.replace("float tile[32]", "float whole[36]").replace("tile", "(whole + 4)"))
    assert run.findings[0].kind == "misaligned"
    assert "no multiple of 128" in str(run.findings[0])


STORES = """k(const __grid_constant__ CUtensorMap map, float* y) {
      __shared__ __align__(128) float tile[32];
      tile[threadIdx.x] = threadIdx.x;
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      __syncthreads();
      if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%1, {%2, %3}], [%0];"
                     :: "r"(address_of(tile)), "l"(&map), "r"(0), "r"(0) : "memory");
        COMMIT_AND_WAIT; } }"""


@pytest.mark.parametrize(
    ("old", "words"),
    [
        ('asm volatile("fence.proxy.async.shared::cta;" ::: "memory");', "fence.proxy.async"),
        ("__syncthreads();", "another thread"),
        ("COMMIT_AND_WAIT;", "block ends while a bulk copy still reads"),
    ],
)
def test_a_store_that_something_is_missing_for(old, words):
    assert not run_with(STORES)[0].findings
    assert [f.kind for f in run_with(STORES.replace(old, ""))[0].findings if words in str(f)] == ["race"]


def test_what_is_no_map():
    load, args = loader(2), (np.zeros(2, np.int32), np.zeros(128, np.int8), 128)
    with pytest.raises(Error, match=r"finds no tensor map .* softlab.TensorMap"):
        load.run(1, 32, (bytes(128), *args), smem=128)
    with pytest.raises(Error, match="a box of 2 axes, and the tensor map has 1"):
        load.run(1, 32, (softlab.TensorMap(np.zeros(32, np.float32), 32), *args), smem=128)
    narrow = softlab.TensorMap(np.zeros((4, 32), np.float32), (4, 8), "128B")
    with pytest.raises(Error, match="32 bytes along the last axis, and the swizzle spans 128"):
        load.run(1, 32, (narrow, *args), smem=128)
    body = TWO_TILES.replace("const __grid_constant__ CUtensorMap map", "CUtensorMap map, int n")
    changed = body.replace("__shared__ u64 bar;", "__shared__ u64 bar; map.opaque[n] = 0;")
    with pytest.raises(Error, match=r"from local memory.*__grid_constant__"):
        kernel(changed).run(1, 32, (softlab.TensorMap(np.zeros((8, 32), np.float32), (1, 32)), 0, np.zeros(32, "f4")))


@pytest.mark.parametrize(
    ("array", "box", "more", "words"),
    [
        (np.zeros((4, 30), np.float32), (2, 4), {}, "stride of 120 bytes: .* multiples of 16"),
        (np.zeros((4, 32), np.float32), (2, 257), {}, "each is 1 to 256"),
        (np.zeros((4, 32), np.float32), (2,), {}, "2 axes"),
        (np.zeros((4, 32), np.float32), (2, 6), {}, "24 bytes along the last axis: .* multiple of 16"),
        (np.zeros((4, 64), np.float32), (2, 64), {"swizzle": "128B"}, "takes at most 128"),
        (np.zeros((4, 32), np.float32), (2, 4), {"swizzle": "16B"}, "swizzle = '16B'"),
        (np.zeros((4, 32), np.float32), (2, 4), {"element_strides": (9, 1)}, "each is 1 to 8"),
        (np.zeros((4, 32), np.int32), (2, 4), {"fill": "nan"}, "needs floats"),
        (np.zeros((4, 32), np.float32)[:, ::2], (2, 4), {}, "last axis of a tensor map is contiguous"),
        (np.zeros((1,) * 6, np.float32), (1,) * 6, {}, "1 to 5"),
    ],
)
def test_what_the_driver_refuses(array, box, more, words):
    with pytest.raises(ValueError, match=words):
        softlab.TensorMap(array, box, **more)


def test_arrays_that_maps_do_not_take():
    with pytest.raises(TypeError, match="complex64"):
        softlab.TensorMap(np.zeros((4, 32), np.complex64), (2, 4))
    x = np.zeros((4, 64), np.float32)[:, 1:33]
    with pytest.raises(ValueError, match="4 bytes behind a multiple of 16"):
        kernel(TWO_TILES).run(1, 32, (softlab.TensorMap(x, (1, 32)), np.zeros(32, np.float32)))


def transposed(convert=lambda array: array) -> tuple[softlab.Run, np.ndarray, np.ndarray]:
    """The gallery's transpose of a matrix whose last tiles are cut; ``convert`` moves arrays to a GPU."""
    source = (softlab.kernel_folder() / "gallery" / "tensor_map_transpose.cu").read_text()
    x = np.arange(40 * 68, dtype=np.float32).reshape(40, 68)
    given, out = convert(x), convert(np.full((68, 40), -1, np.float32))
    maps = tuple(softlab.TensorMap(array, (32, 32), "128B") for array in (given, out))
    return Kernel(source, "tensor_map_transpose").run((3, 2), 64, maps), x, out


def test_the_transpose_of_the_gallery():
    run, x, out = transposed()
    assert (out == x.T).all()
    assert (run.counters["bank_conflicts"], run.counters["shared_load_instructions"]) == (0, 6 * 2 * 4)
    assert (run.counters["global_load_requests"], run.counters["global_store_requests"]) == (0, 0)
    assert any("bulk copies are not counted" in remark for remark in run.remarks)


def test_the_time_is_not_modelled():
    args = softlab.TensorMap(np.zeros((8, 32), np.float32), (1, 32)), np.zeros(32, np.float32)
    with pytest.raises(
        softlab.UnsupportedInstruction, match=r"'UTMALDG[^']*' \(line \d+ .*cp\.async\.bulk\.tensor\) have not been"
    ):
        kernel(TWO_TILES).estimate(1, 32, args)
