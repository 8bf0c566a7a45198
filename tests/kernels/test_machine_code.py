"""What the compiler makes of the kernels: no spills, accesses as wide as the packs, the arithmetic asked for."""

from __future__ import annotations

import re

import pytest

from softlab.cuda import compile as compiler
from softlab.plans import resources
from softlab.plans.instantiations import MAX_COLS_PER_THREAD, tabulated
from tests.kernels.cases import program
from tests.sampled import each, turns

CUDA_TYPES = {"__half": 2, "__nv_bfloat16": 2, "float": 4, "double": 8}
#: Bits of one access in PTX: `.v2.f32` is 64.
_WIDTH = re.compile(r"\b(?:v(\d)\.)?[bfsu](\d+)$")

_GRADIENT_IN_DOUBLE = "softmax_backward_block_uncached<double, Algorithm::softmax, 2, 1024>"
#: (local, spilled) bytes where there are some: here the assembler takes 32 registers, though blocks of 1024 have 64.
SPILLED = {(_GRADIENT_IN_DOUBLE, arch): (8, 40) for arch in ("sm_70", "sm_80")}


def widths(ptx: str, access: str) -> set[int]:
    """Bytes per lane of every access of a kind ("ld.global") in the PTX."""
    found = set()
    for modifiers in re.findall(rf"^\s*(?:@!?%p\d+\s+)?{re.escape(access)}((?:\.\w+)+)", ptx, re.MULTILINE):
        vector, bits = _WIDTH.search(modifiers).groups()
        found.add(int(vector or 1) * int(bits) // 8)
    return found


def warp(
    cuda: str, op: str, pack: int, cols: int, width: int, rows: int, padding: bool, arch: str = "sm_90", options=()
):
    arguments = f"{cuda}, Algorithm::{op}, {pack}, {cols}, {width}, {rows}, {'true' if padding else 'false'}"
    return program("softmax_warp.cuh", f"softmax_warp<{arguments}>", arch, options)


def smem(cuda: str, op: str, pack: int, block: int, layout: str, arch: str = "sm_90"):
    name = f"softmax_block_smem<{cuda}, Algorithm::{op}, {pack}, {block}, Layout::{layout}>"
    return program("softmax_block_smem.cuh", name, arch, ())


def uncached(cuda: str, op: str, pack: int, block: int, arch: str = "sm_90", options=()):
    name = f"softmax_block_uncached<{cuda}, Algorithm::{op}, {pack}, {block}>"
    return program("softmax_block_uncached.cuh", name, arch, options)


@pytest.mark.parametrize(("pack", "cuda"), turns(2, [1, 2], CUDA_TYPES))
def test_a_pack_is_one_access(cuda: str, pack: int) -> None:
    for kernel in (warp(cuda, "softmax", pack, 4, 32, 1, True), uncached(cuda, "softmax", pack, 1024)):
        assert widths(kernel.ptx, "ld.global") == {pack * CUDA_TYPES[cuda]}
        assert widths(kernel.ptx, "st.global") == {pack * CUDA_TYPES[cuda]}


@pytest.mark.parametrize(("cuda", "pack"), [("__half", 4), ("__half", 8), ("__nv_bfloat16", 8), ("float", 4)])
def test_wider_packs_are_one_access_too(cuda: str, pack: int) -> None:
    kernel = warp(cuda, "softmax", pack, 8, 32, 1, True)
    assert widths(kernel.ptx, "ld.global") == {pack * CUDA_TYPES[cuda]}
    assert widths(kernel.ptx, "st.global") == {pack * CUDA_TYPES[cuda]}


@pytest.mark.parametrize("arch", each(2, ["sm_75", "sm_90"]))
def test_layouts_differ_as_their_comment_says(arch: str) -> None:
    column, row, scalar = (smem("float", "softmax", 2, 256, layout, arch) for layout in ("column", "row", "row_scalar"))
    assert widths(column.ptx, "st.shared") == {4}
    assert widths(row.ptx, "st.shared") == {4, 8}  # a pack, and the words of pass 2 one by one
    assert widths(row.ptx, "ld.shared") == {4, 8}
    assert widths(scalar.ptx, "st.volatile.shared") == {4}
    assert "volatile" not in column.ptx
    assert "volatile" not in row.ptx


def test_nothing_is_spilled() -> None:
    fullest = [warp(cuda, "log_softmax", 2, MAX_COLS_PER_THREAD, 32, 1, True) for cuda in CUDA_TYPES]
    largest = [smem("float", "log_softmax", 2, 1024, "column"), uncached("double", "log_softmax", 2, 1024)]
    for kernel in (*fullest, *largest):
        assert (kernel.local_bytes, kernel.spill_bytes) == (0, 0), kernel.name
        assert ".local" not in kernel.ptx


@pytest.mark.parametrize("arch", ["sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"])
def test_nothing_is_spilled_on_any_named_gpu(arch: str) -> None:
    """By the shipped table, in every kernel that dispatch takes. (sm_103 and sm_121 spill 28 bytes in one of them.)"""
    table = resources.read_table(resources.table_path())
    for kernel in tabulated():
        if "uncached" not in kernel.name or kernel.name.endswith(" 1024>"):
            found = table.find(kernel.name, arch)
            allowed = SPILLED.get((kernel.name, arch), (0, 0))
            assert (found.local_bytes, found.spill_bytes) == allowed, kernel.name


def test_the_warp_kernel_needs_no_shared_memory_and_no_barrier() -> None:
    kernel = warp("float", "softmax", 2, 8, 32, 1, True)
    assert kernel.static_smem_bytes == 0
    assert "bar.sync" not in kernel.ptx
    assert kernel.ptx.count("shfl.sync.bfly") == 10  # five steps for each of two reductions


def test_the_longest_row_that_the_header_names_is_the_longest_that_fits() -> None:
    left = 48 * 1024 - smem("float", "softmax", 2, 128, "column").static_smem_bytes
    named = re.search(r"fit 48 KiB: ([\d ]+)", compiler.kernel_sources()["softmax_block_smem.cuh"].replace("\n//", ""))
    assert int(re.sub(r"\D", "", named.group(1))) == left // 4


def test_fast_and_accurate_arithmetic() -> None:
    fast = warp("float", "softmax", 1, 2, 32, 1, True).ptx
    accurate = warp("float", "softmax", 1, 2, 32, 1, True, options=("-DSOFTLAB_ACCURATE",)).ptx
    assert "div.approx" in fast
    assert "fma" not in fast
    assert "div.rn" in accurate
    assert "div.approx" not in accurate
    assert "fma" in accurate  # expf's argument reduction
    assert "lg2.approx" in warp("float", "log_softmax", 1, 2, 32, 1, True).ptx


def test_double_computes_in_double() -> None:
    ptx = uncached("double", "log_softmax", 2, 1024).ptx
    assert ".approx.f32" not in ptx
    assert "fma.rn.f64" in ptx


def test_kernels_file_by_file_are_described() -> None:
    ladders = "".join((compiler.kernel_folder() / name).read_text() for name in ("README.md", "FAST.md"))
    assert [name for name in compiler.kernel_sources() if f"({name})" not in ladders] == []
