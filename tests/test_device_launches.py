"""Kernels that launch kernels (dynamic parallelism)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import softlab
from softlab.cuda.disassembly import DisassemblyError, disassemble
from softlab.kernel.on_gpu import GpuKernel

SOURCE = """\
#include <cstdio>
struct Step { char first; double value; };
__device__ int calls;
__constant__ int scale = 3;
__global__ void child(int* x, Step step, int n) {
  extern __shared__ int sums[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[threadIdx.x] = scale * (int)step.value + n;
  __syncthreads();
  x[i] += sums[blockDim.x - 1 - threadIdx.x] + blockIdx.y;
  if (i == 0) atomicAdd(&calls, 1);
}
template <typename T> __global__ void down(T* x, int depth) {
  x[depth] += 100 * depth;
  if (depth > 0) down<T><<<1, 1>>>(x, depth - 1);
  cudaDeviceSynchronize();
}
__global__ void parent(int* x) {
  if (threadIdx.x % 32) return;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  child<<<dim3(2, 1), 16, 16 * sizeof(int), stream>>>(x + threadIdx.x, Step{'a', 2.5}, threadIdx.x);
  cudaStreamDestroy(stream);
  if (threadIdx.x == 0) down<int><<<1, 1>>>(x, 3);
  if (cudaGetLastError() != cudaSuccess) printf("failed\\n");
}
__global__ void fill(int* x, int value) { x[threadIdx.x] = value; }
__global__ void with_memory(int* x) {
  int* own;
  cudaMalloc((void**)&own, 64 * sizeof(int));
  cudaMemsetAsync(own, 0, 64 * sizeof(int), 0);
  fill<<<1, 63>>>(own, 7);
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; ++i) *x += own[i];
  cudaFree(own);
  fill<<<1, 2000>>>(x, 1);
  fill<<<0, 32>>>(x, 1);
}
__global__ void later(int* x) { fill<<<1, 32, 0, cudaStreamTailLaunch>>>(x, 1); *x = 2; }
__global__ void endless(int* x) { ++*x; endless<<<1, 1>>>(x); }
__global__ void outside(int* x) { fill<<<1, 32>>>(x + 1, 1); }
__global__ void racing(int* x) { if (threadIdx.x == 0) x[1] = x[0]; else x[0] = 1; }
__global__ void of_racing(int* x) { racing<<<1, 64>>>(x); }
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("launches") / "k.cu"
    path.write_text(SOURCE)
    return path


def test_grids_of_a_kernel_of_other_arguments_and_of_itself(file: Path) -> None:
    kernel = softlab.Kernel.from_file(file, "parent")
    x = np.zeros(64, np.int32)
    run = kernel.run(1, 64, (x,))
    expected = np.repeat([6, 38], 32)
    expected[:4] += [0, 100, 200, 300]
    assert x.tolist() == expected.tolist()
    assert run.findings == ()
    assert kernel.globals["calls"] == 2
    assert any(said.startswith("device code launched 6 grids (child, down<int>)") for said in run.remarks)
    assert not any("launched" in said for said in softlab.Kernel.from_file(file, "fill").run(1, 1, (x, 1)).remarks)


@pytest.mark.parametrize("check", [True, False, "collect"])
def test_memory_of_device_code_and_launches_that_are_refused(file: Path, check: bool | str) -> None:
    x = np.zeros(32, np.int32)
    softlab.Kernel.from_file(file, "with_memory").run(1, 1, (x,), check=check, record=False)
    assert x.tolist() == [63 * 7, *[0] * 31]


def test_faults_in_a_grid_that_a_kernel_launches(file: Path) -> None:
    x = np.zeros(32, np.int32)
    with pytest.raises(softlab.Error, match="more than 24 launches deep"):
        softlab.Kernel.from_file(file, "endless").run(1, 1, (x,))
    assert x[0] == 25
    with pytest.raises(softlab.KernelFault) as fault:
        softlab.Kernel.from_file(file, "outside").run(1, 1, (x,))
    assert (fault.value.kind, fault.value.line) == (
        "global-out-of-bounds",
        1 + SOURCE[: SOURCE.index("void fill")].count("\n"),
    )
    run = softlab.Kernel.from_file(file, "of_racing").run(1, 1, (x,), check="collect")
    assert {found.kind for found in run.findings} == {"race"}
    run = softlab.Kernel.from_file(file, "of_racing").run(1, 1, (x,), check=False)
    assert run.findings == ()


def test_a_grid_that_must_wait_for_its_parent_is_refused(file: Path) -> None:
    with pytest.raises(softlab.Error, match="cudaStreamTailLaunch waits for the end of the grid"):
        softlab.Kernel.from_file(file, "later").run(1, 1, (np.zeros(32, np.int32),))


def test_what_needs_machine_code_says_why_there_is_none(file: Path) -> None:
    kernel = softlab.Kernel.from_file(file, "parent")
    with pytest.raises(DisassemblyError, match="launches kernels"):
        disassemble(kernel.program)
    on_gpu = GpuKernel(kernel.program, kernel._emulated.program.image, kernel.variables)
    with pytest.raises(softlab.Error, match="runs in the emulator alone"):
        on_gpu.launch(None, (), False)  # type: ignore[arg-type]
