"""Where ``dram_bytes`` is not what a launch has to load, the estimate says so: against the sectors of all blocks."""

from __future__ import annotations

import re

import numpy as np
import pytest

import softlab
from softlab.kernel.estimation import sample_launch
from softlab.timing import compulsory

SOURCE = """
__global__ void live(const unsigned char* now, unsigned char* next, int width) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  int sum = 0;
  for (int j = -1; j < 2; j++)
    for (int i = -1; i < 2; i++)
      sum += now[(y + j & width - 1) * width + (x + i & width - 1)];
  next[y * width + x] = sum == 3;
}
__global__ void product(const float* a, const float* b, float* c, int n) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}
struct Pair { const float* in; float* out; int n; };
__global__ void copy(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
__global__ void copy_pair(Pair pair) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pair.n) pair.out[i] = pair.in[i];
}
__global__ void copy_rows(float** rows, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) rows[1][i] = rows[0][i];
}
__global__ void add(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] += in[i];
}
__global__ void __cluster_dims__(4, 1, 1) quarters(const float* in, float* out) {
  out[blockIdx.x * 256 + threadIdx.x] = in[blockIdx.x / 4 * 256 + threadIdx.x];
}
__global__ void take(const int* places, const float* table, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = table[places[i]];
}
__device__ __forceinline__ unsigned somewhere(unsigned x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return (x ^ x >> 16) % (1 << 18);
}
__global__ void from_argument(const float* table, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 8; k++) sum += table[somewhere(i * 8 + k)];
  out[i] = sum;
}
__device__ float kept[1 << 18];
__global__ void from_variable(float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 8; k++) sum += kept[somewhere(i * 8 + k)];
  out[i] = sum;
}
__global__ void less_products(float* m, int n) {
  const int x = (blockIdx.x + 1) * 16 + threadIdx.x, y = (blockIdx.y + 1) * 16 + threadIdx.y;
  m[y * n + x] -= m[threadIdx.y * n + x] * m[y * n + threadIdx.x];
}
__global__ void fill_and_read(float* scratch, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  scratch[i] = i;
  __syncthreads();
  out[i] = scratch[i ^ 1];
}
"""


def launched(name: str, grid, block, *args):
    """The interpreted sample of a launch."""
    return sample_launch(softlab.Kernel(SOURCE, name), grid, block, args, 0, "H200")


def said(found: softlab.Estimate) -> list[str]:
    """The notes of an estimate on its bytes."""
    return [note for note in found.notes if note.startswith("dram_bytes")]


def needed(note: str) -> float:
    """The bytes of a note that have to be loaded."""
    number, unit = re.search(r"about ([\d.]+) (MB|kB) have to be loaded", note).groups()
    return float(number) * {"MB": 1e6, "kB": 1e3}[unit]


def test_blocks_that_share_neighbours_have_too_few_bytes_and_the_note_says_how_many_there_are():
    sampled = launched("live", (8, 32), (32, 8), np.zeros(1 << 16, np.uint8), np.zeros(1 << 16, np.uint8), 256)
    assert len(sampled.columns.blocks) < 16
    found = sampled.estimate()
    (note,) = said(found)
    assert found.dram_bytes < 0.9 * (1 << 16)
    assert note.startswith("dram_bytes is too little: ")
    assert needed(note) == pytest.approx(1 << 16, rel=0.01)
    assert not said(sampled.estimate(cache="warm"))


def test_a_product_of_a_part_of_two_matrices_has_too_many():
    matrices = [np.zeros(1 << 18, np.float32) for _ in range(3)]
    (note,) = said(launched("product", (8, 8), (16, 16), *matrices, 512).estimate())
    assert note.startswith("dram_bytes is too much: ")
    # All of b, and the first 128 rows of a; c is stored.
    assert needed(note) == pytest.approx((1 << 20) + (1 << 18) + (1 << 18), rel=0.5)


def test_what_a_block_stores_is_its_own_while_it_shares_the_rest():
    """Two thirds of what a block loads are shared by 127 blocks."""
    sampled = launched("less_products", (127, 127), (16, 16), np.zeros(1 << 22, np.float32), 2048)
    shape = sampled.launch.grid, sampled.launch.cluster, sampled.launch.extents
    note = compulsory.bytes_off(1e9, sampled.columns, *shape, fits=True)
    assert needed(note) == pytest.approx(4 << 22, rel=0.1)


@pytest.mark.parametrize("blocks", [4, 64, 2000])
def test_streams_have_the_bytes_that_have_to_be_loaded(blocks):
    arrays = [np.zeros(256 * blocks, np.float32) for _ in range(2)]
    assert not said(launched("add", blocks, 256, *arrays).estimate())


def test_the_bytes_follow_from_few_blocks_for_random_places_and_for_clusters():
    places = np.random.default_rng(3).integers(0, 1 << 17, 1 << 16).astype(np.int32)
    launches = {
        "take": (256, 256, places, np.zeros(1 << 17, np.float32), np.zeros(1 << 16, np.float32)),
        "quarters": (512, 256, np.zeros(1 << 15, np.float32), np.zeros(1 << 17, np.float32)),
    }
    for name, (grid, block, *args) in launches.items():
        some = launched(name, grid, block, *args)
        every = sample_launch(softlab.Kernel(SOURCE, name), grid, block, args, 0, "H200", range(grid))
        assert len(some.columns.blocks) < 20 < len(every.columns.blocks) == grid
        truth = 32 * len(every.columns.loaded)
        shape = some.launch.grid, some.launch.cluster, some.launch.extents
        note = compulsory.bytes_off(1.0, some.columns, *shape, fits=True)
        assert needed(note) == pytest.approx(truth, rel=0.2), name
        exact = compulsory.bytes_off(1.0, every.columns, *shape, fits=True)
        assert needed(exact) == pytest.approx(truth, rel=0.01), name


def test_what_the_launch_stores_itself_does_not_have_to_be_loaded():
    sampled = launched("fill_and_read", 64, 256, np.zeros(1 << 14, np.float32), np.zeros(1 << 14, np.float32))
    shape = sampled.launch.grid, sampled.launch.cluster, sampled.launch.extents
    assert len(sampled.columns.loaded)
    assert not compulsory.bytes_off(0.0, sampled.columns, *shape, fits=True)


def test_a_launch_beyond_the_size_of_l2_may_load_a_sector_twice():
    sampled = launched("add", 64, 256, *(np.zeros(1 << 14, np.float32) for _ in range(2)))
    shape = sampled.launch.grid, sampled.launch.cluster, sampled.launch.extents
    assert "too much" in compulsory.bytes_off(1e6, sampled.columns, *shape, fits=True)
    assert not compulsory.bytes_off(1e6, sampled.columns, *shape, fits=False)


def test_variables_count_as_arrays():
    """Blocks take from all of it, so that others have brought to L2 what a block loads."""
    table, out = np.zeros(1 << 18, np.float32), np.zeros(256 * 1000, np.float32)
    given, variable = launched("from_argument", 1000, 256, table, out), launched("from_variable", 1000, 256, out)
    assert len(given.launch.extents) == len(variable.launch.extents) == 2
    one, other = given.estimate(), variable.estimate()
    assert other.microseconds == pytest.approx(one.microseconds, rel=0.02)
    assert other.l2_hit_rate == pytest.approx(one.l2_hit_rate, abs=0.02)
    assert other.bound == one.bound


def test_arrays_in_structs_and_tables_of_pointers_count_as_arrays():
    n = 1 << 20
    x, y = (np.zeros(n, np.float32) for _ in range(2))
    plain = launched("copy", n // 256, 256, x, y, n)
    assert len(plain.launch.extents) == 2
    for name, args in (("copy_pair", ((x, y, n),)), ("copy_rows", ([x, y], n))):
        other = launched(name, n // 256, 256, *args)
        assert other.launch.extents == plain.launch.extents, name
        assert other.estimate().notes == plain.estimate().notes == (), name
        assert not other.changes_what_it_loads(), name
