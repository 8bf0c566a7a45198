"""Kernels with CuTe, the library of layouts and tiles in CUTLASS: `make test-cutlass` brings its headers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import softlab
from softlab.cuda.compile import has_header
from softlab.kernel.files import read_file

PRODUCT = """
#include <cute/tensor.hpp>
#include <torch/extension.h>
using namespace cute;

template <class Tensor>
CUTE_DEVICE void doubled(Tensor&& tensor) {
  for (int i = 0; i < size(tensor); ++i) tensor(i) = 2 * tensor(i);
}

// c (16 x 8) = 2 a b: a is 16 x 16, b is 16 x 8, all row-major.
__global__ void tile_product(const half_t* a, const half_t* b, float* c) {
  auto mma = make_tiled_mma(MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>{});
  auto tile_a = make_tensor(make_gmem_ptr(a), make_layout(Shape<_16, _16>{}, LayoutRight{}));
  auto tile_b = make_tensor(make_gmem_ptr(b), make_layout(Shape<_8, _16>{}, LayoutLeft{}));
  auto tile_c = make_tensor(make_gmem_ptr(c), make_layout(Shape<_16, _8>{}, LayoutRight{}));
  auto slice = mma.get_slice(threadIdx.x);
  auto part_a = slice.partition_fragment_A(tile_a);
  auto part_b = slice.partition_fragment_B(tile_b);
  auto part_c = slice.partition_fragment_C(tile_c);
  copy(slice.partition_A(tile_a), part_a);
  copy(slice.partition_B(tile_b), part_b);
  clear(part_c);
  gemm(mma, part_a, part_b, part_c);
  doubled(part_c);
  copy(part_c, slice.partition_C(tile_c));
}

void launch(torch::Tensor a) { tile_product<<<1, 32>>>(a.data_ptr(), nullptr, nullptr); }
"""


with_cutlass = pytest.mark.skipif(
    not has_header("cute/tensor.hpp"), reason="CUTLASS is not installed: pip install 'softlab[cutlass]'"
)


@with_cutlass
def test_a_product_of_tiles(tmp_path: Path) -> None:
    path = tmp_path / "product.cu"
    path.write_text(PRODUCT)
    kernel = softlab.Kernel.from_file(path)
    assert kernel.program.arch == "sm_90a"
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((16, 16), (16, 8)))
    c = np.zeros((16, 8), np.float32)
    run = kernel.run(1, 32, (a, b, c))
    assert run.findings == ()
    np.testing.assert_allclose(c, 2 * (a.astype(np.float64) @ b.astype(np.float64)), atol=1e-5)


@with_cutlass
def test_headers_of_its_host(tmp_path: Path) -> None:
    names = (
        "cutlass/cluster_launch.hpp",
        "cutlass/util/command_line.h",
        "cutlass/util/GPU_Clock.hpp",
        "cutlass/util/helper_cuda.hpp",
        "cutlass/util/host_tensor.h",
        "cutlass/util/reference/host/gemm.h",
    )
    path = tmp_path / "filled.cu"
    path.write_text(
        "".join(f'#include "{name}"\n' for name in names)
        + "__global__ void filled(cutlass::half_t* x, cutlass::gemm::GemmCoord size) {\n"
        "  x[threadIdx.x] = cutlass::half_t(cutlass::round_up(size.m(), 4));\n}\n"
        "void launch() { GPU_Clock timer; cutlass::HostTensor<float, cutlass::layout::RowMajor> made({1, 2}); }\n"
    )
    x = np.zeros(3, np.float16)
    softlab.Kernel.from_file(path).run(1, 3, (x, np.array([5, 2, 1], np.int32).tobytes()), record=False)
    assert x.tolist() == [8, 8, 8]


def test_functions_that_its_macros_mark_are_the_devices(tmp_path: Path) -> None:
    path = tmp_path / "product.cu"
    path.write_text(PRODUCT)
    source = read_file(path, "tile_product").source
    assert "CUTE_DEVICE void doubled" in source
    assert "using namespace cute" in source
    assert "void launch" not in source
