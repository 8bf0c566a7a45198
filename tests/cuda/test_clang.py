"""clang as the compiler: what needs no clang first, then kernels that it compiles."""

from __future__ import annotations

import re

import numpy as np
import pytest
from ml_dtypes import bfloat16

from softlab.cuda import clang
from softlab.cuda import compile as compiler
from softlab.cuda.clang.intermediate import with_clusters, with_whole_copies
from softlab.cuda.clang.library import source, with_functions
from softlab.cuda.clang.lines import with_inlined_lines
from softlab.errors import CompileError
from softlab.kernel import Kernel

needs_clang = pytest.mark.skipif(not clang.has_clang(), reason="clang is not installed: pip install 'softlab[clang]'")
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
KERNEL = """#include <cmath>
template <int n> __global__ void back(const float* x, float* y) {
  __shared__ float held[n];
  held[threadIdx.x] = expf(x[threadIdx.x]);
  __syncthreads();
  y[threadIdx.x] = held[n - 1 - threadIdx.x];
}
"""


def test_a_chain_of_calls_comes_from_the_comment():
    loc = "\t.loc\t2 5 3  // ./pack.cuh:5:3 @[ cell.cu:7:9 ]\n"
    text = f'{HEAD}{loc}\t.file\t1 "/x" "cell.cu"\n\t.file\t2 "." "pack.cuh"\n'
    found = with_inlined_lines(text, ("/x/",))
    assert re.findall(r'\.file\s+(\d) "(.*)"', found) == [("1", "pack.cuh"), ("2", "cell.cu")]
    assert ".loc\t2 7 9\n" in found
    assert ".loc\t1 5 3, function_name $L__name, inlined_at 2 7 9" in found


def test_a_function_comes_with_what_it_calls():
    found = with_functions(f"{HEAD}.extern .func  (.param .b32 r) softlab_sinf\n(\n\t.param .b32 p\n)\n;\nrest")
    assert ".extern" not in found
    assert found.endswith("rest")
    assert ".func  (.param .b32 func_retval0) softlab_sinf(" in found
    assert "__cudart_i2opi_f" in found
    assert "softlab_cosf" not in found


def test_every_function_of_the_header_is_in_the_archive():
    for name in re.findall(r"\b(softlab_\w+)\(", source()):
        asked = f"{HEAD}.extern .func (.param .b32 r) {name}\n(\n\t.param .b32 p\n)\n;\n"
        assert f" {name}(" in with_functions(asked)


def test_copies_of_16_bytes_are_whole():
    copy = "call void @llvm.memcpy.p0.p0.i64(ptr align {0} %1, ptr align {0} %2, i64 16, i1 false), !dbg !7"
    function = f"define void @k() {{\n  {copy}\n}}\n"
    found = with_whole_copies(function.replace("{0}", "16"))
    assert "load <4 x i32>, ptr %2, align 16, !dbg !7" in found
    assert "ptr %1, align 16, !dbg !7" in found
    local = function.replace("{0}", "16").replace("  call", "  %1 = alloca %t\n  call")
    for other in (function.replace("{0}", "8"), local):
        assert with_whole_copies(other) == other


def test_a_note_becomes_the_cluster_of_a_kernel():
    code = (
        '@.str = private constant [16 x i8] c"softlab-cluster\\00"\n'
        "@.args = private unnamed_addr constant { i32, i32, i32 } { i32 4, i32 1, i32 1 }\n"
        "@llvm.global.annotations = appending global [1 x x] [{ ptr, ptr } "
        "{ ptr @k, ptr @.str, ptr @.str.1, i32 3, ptr @.args }]\n"
    )
    assert ".reqnctapercluster 4, 1, 1\n{" in with_clusters(".visible .entry k(\n)\n{\n}\n", code)


def test_an_unknown_choice_is_named(monkeypatch):
    monkeypatch.setenv(compiler.CHOICE, "gcc")
    with pytest.raises(CompileError, match="SOFTLAB_COMPILER is 'gcc'"):
        compiler.compiler_in_use()


def test_without_nvrtc_clang_is_taken_if_it_is_there(monkeypatch):
    monkeypatch.setattr(compiler, "_found_nvrtc", lambda: (None, "there is none"))
    monkeypatch.setattr(clang, "has_clang", lambda: True)
    assert compiler.compiler_in_use() == "clang"
    monkeypatch.setattr(clang, "has_clang", lambda: False)
    assert compiler.compiler_in_use() == ""


@pytest.fixture
def by_clang(monkeypatch):
    monkeypatch.setenv(compiler.CHOICE, "clang")


@needs_clang
def test_a_kernel_runs_with_lines_and_a_label(by_clang):
    kernel = Kernel(KERNEL, "back<64>", file="cell.cu")
    x, y = np.linspace(-2, 2, 64, dtype=np.float32), np.zeros(64, np.float32)
    run = kernel.run(1, 64, (x, y))
    np.testing.assert_allclose(y[::-1], np.exp(x), rtol=3e-7)
    assert kernel.program.static_smem_bytes == 256
    assert run.by_line()[4]["shared_store_instructions"] == 2
    assert any(remark.startswith("counters by PTX: clang") for remark in run.remarks)


@needs_clang
def test_a_race_names_both_lines(by_clang):
    run = Kernel(KERNEL.replace("__syncthreads();", ""), "back<64>", file="cell.cu").run(
        1, 64, (np.ones(64, np.float32), np.zeros(64, np.float32)), check="collect"
    )
    assert [(one.kind, {one.line, one.other_line}) for one in run.findings] == [("race", {4, 6})]


@needs_clang
def test_a_cluster_and_a_float4(by_clang):
    text = "__global__ void __cluster_dims__(2) k(const float4* x, float4* y) { y[threadIdx.x] = x[threadIdx.x]; }"
    kernel = Kernel(text, "k")
    assert kernel.cluster == (2, 1, 1)
    x = np.ones(128, np.float32)
    assert kernel.run(2, 32, (x, np.zeros_like(x))).counters["global_load_requests"] == 2


@needs_clang
@pytest.mark.parametrize(("text", "name", "said"), [
    ("__global__ void k(int* x) {\n  x[0] = y;\n}", "k", r"cell.cu\(2\): error: use of undeclared identifier 'y'"),
    ("__global__ void k(int* x) {}", "other", "cell.cu has no kernel 'other'; it has k"),
])  # fmt: skip
def test_an_error_names_the_line(by_clang, text, name, said):
    with pytest.raises(CompileError, match=said):
        Kernel(text, name, file="cell.cu")


HALVES = """
#include <cuda_runtime.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
template <typename Half>
__device__ void all(const unsigned short* bits, unsigned short* y) {
  const unsigned int n = blockIdx.x * blockDim.x + threadIdx.x, total = gridDim.x * blockDim.x;
  const Half x = reinterpret_cast<const Half*>(bits)[n];
  const Half found[] = {hexp(x), hexp2(x), hexp10(x), hlog(x), hlog2(x), hlog10(x), hsin(x), hcos(x),
                        hsqrt(x), hrsqrt(x), hrcp(x), hceil(x), hfloor(x), hrint(x), htrunc(x)};
  for (int k = 0; k < 15; k++) reinterpret_cast<Half*>(y)[k * total + n] = found[k];
}
extern "C" __global__ void halves(const unsigned short* x, unsigned short* y) { all<__half>(x, y); }
extern "C" __global__ void bfloats(const unsigned short* x, unsigned short* y) { all<__nv_bfloat16>(x, y); }
"""


@needs_clang
@pytest.mark.parametrize("name", ["halves", "bfloats"])
def test_functions_of_halves_have_the_bits_of_nvrtc(name, monkeypatch):
    bits = np.arange(0, 1 << 16, 16, dtype=np.uint16)
    results = {}
    for choice in ("nvrtc", "clang"):
        monkeypatch.setenv(compiler.CHOICE, choice)
        y = np.zeros((15, bits.size), np.uint16)
        Kernel(HALVES, name).run(bits.size // 256, 256, [bits, y], record=False)
        results[choice] = y
    nan = np.isnan(results["nvrtc"].view(np.float16 if name == "halves" else bfloat16).astype(np.float32))
    assert nan.mean() < 0.5
    np.testing.assert_array_equal(np.where(nan, 0, results["clang"]), np.where(nan, 0, results["nvrtc"]))
