"""Texts that nvcc compiles and NVRTC refuses: with code of the host, or with what nvcc includes by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import softlab
from softlab.errors import CompileError

PROGRAM = """#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
static std::vector<float> table;
__global__ void scale(float* x, int n, float by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = fminf(x[i] * by, INFINITY);
}
int main() {
  float* x;
  cudaMalloc(&x, 400);
  scale<<<2, 64>>>(x, 100, 3);
  cudaDeviceSynchronize();
  std::printf("%s\\n", cudaGetErrorString(cudaGetLastError()));
}
"""


def test_a_whole_program_with_its_host_code() -> None:
    kernel = softlab.Kernel(PROGRAM, "scale", file="program.cu")
    x = np.arange(100, dtype=np.float32)
    run = kernel.run(2, 64, (x, 100, 3))
    np.testing.assert_array_equal(x, 3 * np.arange(100, dtype=np.float32))
    assert set(run.by_line()) <= {5, 6, 7, 8}
    assert run.file == "program.cu"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("x[0] > 0 ? 1 : INFINITY", np.inf),
        ("INT_MAX / 2 + FLT_MAX * 0", 2**30 - 1),
        ("(uint)3 + (uint32_t)4", 7),
        ("std::max(2, 5)", 5),
        ("static_cast<float>(M_PI)", np.float32(np.pi)),
    ],
)
def test_names_that_nvcc_includes_by_itself(expression: str, value: float) -> None:
    x = np.zeros(1, np.float32)
    softlab.Kernel(f"__global__ void k(float* x) {{ x[0] = {expression}; }}", "k").run(1, 1, (x,))
    assert x[0] == np.float32(value)


def test_the_compilers_error_stays_where_that_does_not_help() -> None:
    text = "__global__ void k(float* x) {\n  x[0] = INFINITY;\n  x[1] = lenght;\n}"
    with pytest.raises(CompileError, match=r'identifier "lenght" is undefined') as caught:
        softlab.Kernel(text, "k")
    assert ">    3 |   x[1] = lenght;" in str(caught.value)


def test_a_mistake_in_a_kernel_of_a_program_is_what_the_error_speaks_of() -> None:
    with pytest.raises(CompileError) as caught:
        softlab.Kernel(PROGRAM.replace("* by", "* bye"), "scale")
    message = str(caught.value)
    assert 'identifier "bye" is undefined' in message
    assert "host function" not in message


@pytest.mark.parametrize("text", [PROGRAM, PROGRAM[: PROGRAM.index("int main")].replace("static std", "// std")])
def test_a_name_that_the_program_does_not_have(text: str) -> None:
    """With the host's code, and with a name of the standard headers alone."""
    with pytest.raises(CompileError, match=r"(?s)scales.*\bscale\b"):
        softlab.Kernel(text, "scales")


def test_no_file_of_the_folder_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a text declares is not looked for on the disk."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.cu").write_text("__device__ float helper(float x) { return 2 * x; }\n")
    (tmp_path / "CMakeLists.txt").write_text("add_compile_definitions(WIDTH=4)\n")
    declared = "__device__ float helper(float);\n" + PROGRAM.replace("x[i] * by", "helper(x[i]) * by")
    with pytest.raises(CompileError, match="helper"):
        softlab.Kernel(declared, "scale")
    with pytest.raises(CompileError, match="WIDTH"):
        softlab.Kernel(PROGRAM.replace("* by", "* WIDTH"), "scale")


@pytest.mark.parametrize(
    ("line", "header"),
    [
        ("void k(half* x) { x[0] = x[1]; }", "cuda_fp16.h"),
        ("void k(float* x) { x[0] = __half2float(__float2half_rn(x[1])); }", "cuda_fp16.h"),
        ("void k(__nv_bfloat16* x) { x[0] = x[1]; }", "cuda_bf16.h"),
        ("void k(float* x) { namespace cg = cooperative_groups; x[0] = cg::this_thread_block().size(); }",
         "cooperative_groups.h"),
    ],
)  # fmt: skip
def test_the_error_names_the_header_of_cudas_types(line: str, header: str) -> None:
    with pytest.raises(CompileError, match=f"comes with #include <{header}>"):
        softlab.Kernel(f"__global__ {line}", "k")
