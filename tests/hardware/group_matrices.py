"""Products of warpgroups (``wgmma``) of the emulator's model beside a GPU's, bit by bit.

``python -m tests.hardware.group_matrices OUT [fragments]`` multiplies that many random fragments of 16 rows in each
form on the GPU that is present, and in the model. It writes OUT/group_matrices.json: the number of elements, of those
that differ, and the first of them. With ``--emulator`` the kernel runs in the emulator instead, to rehearse.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np

import softlab
from softlab.emulator.opcodes.group_products import GroupProduct, group_product_of
from tests.emulator import test_wgmma as tests_here
from tests.hardware.matrix_cases import elements, per_register

#: Columns of B, and products at a time: each has four fragments of 16 rows.
N, CHUNK = 8, 64
#: Products that are made at a time.
PART = 2048


def forms() -> list[str]:
    """All forms with 8 columns, as PTX writes what follows ``wgmma.mma_async.sync.aligned``."""
    found = [f"m64n{N}k16.{d}.f16.f16" for d in ("f16", "f32")] + [f"m64n{N}k16.f32.bf16.bf16"]
    found.append(f"m64n{N}k8.f32.tf32.tf32")
    fp8 = ("e4m3", "e5m2")
    found += [f"m64n{N}k32.{d}.{a}.{b}" for d in ("f16", "f32") for a in fp8 for b in fp8]
    found += [
        f"m64n{N}k32{limit}.s32.{a}.{b}" for limit in ("", ".satfinite") for a in ("s8", "u8") for b in ("s8", "u8")
    ]
    return [*found, f"m64n{N}k256.s32.b1.b1.and.popc"]


def source(form: str) -> str:
    """The kernel ``multiply(a, b, d, count)``: A and D in registers, B as it lies in shared memory."""
    d_kind, kind, *_ = form.replace(".satfinite", "").split(".")[1:]
    held = N // 4 if d_kind == "f16" else N // 2
    signs = {"f16": ", 1, 1, 0", "bf16": ", 1, 1, 0"}.get(kind, "" if kind in ("s8", "u8", "b1") else ", 1, 1")
    names = ", ".join(f"%{i}" for i in range(held))
    parts = ", ".join(f"%{held + i}" for i in range(4))
    results = ", ".join(f'"+r"(r[{i}])' for i in range(held))
    return f"""
extern "C" __global__ void multiply(const uint4* a, const unsigned* b, unsigned* d, int count) {{
  __shared__ __align__(128) unsigned tile[{N * 8}];
  const unsigned long long at = (unsigned)__cvta_generic_to_shared(tile) >> 4 | 8ull << 16 | 16ull << 32;
  for (int f = blockIdx.x; f < count; f += gridDim.x) {{
    for (int i = threadIdx.x; i < {N * 8}; i += 128) tile[i] = b[f * {N * 8} + i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const uint4 x = a[f * 128 + threadIdx.x];
    unsigned r[{held}];
    for (int i = 0; i < {held}; ++i) r[i] = d[(f * {held} + i) * 128 + threadIdx.x];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{{ .reg .pred p; setp.eq.b32 p, 0, 0; wgmma.mma_async.sync.aligned.{form} {{{names}}}, {{{parts}}},"
                 " %{held + 4}, p{signs}; }}" : {results} : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "l"(at) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < {held}; ++i) d[(f * {held} + i) * 128 + threadIdx.x] = r[i];
    __syncthreads();
  }}
}}
"""


def words(kind: str, seed: int, shape: tuple[int, int], factor: str = "") -> np.ndarray:
    """Random elements, (count, registers) uint32."""
    each = per_register(kind)
    bits = elements(kind, seed, (shape[0], shape[1] * each), factor).reshape(*shape, each)
    shifts = np.arange(each, dtype=np.uint64) * np.uint64(32 // each)
    return np.bitwise_or.reduce(bits << shifts, axis=-1).astype(np.uint32)


def inputs(form: str, seed: int, count: int) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Random products of a form: A, B and C as the kernel gets them, and as the emulator's model does.

    The kernel gets A (count, 128, 4), B (count, 2, N, 4) and C (count, registers, 128); the model A (count, 4, 32, 4),
    B (count, N, 8) and C (count, 4, 32, registers). All are uint32.
    """
    d_kind, a_kind, b_kind = product_of(form).kinds
    held = product_of(form).result.registers
    a = words(a_kind, seed, (count, 512)).reshape(count, 4, 32, 4)
    b = words(b_kind, seed + 1, (count, N * 8)).reshape(count, N, 8)
    factor = a_kind if d_kind != "s32" else ""
    c = words(d_kind, seed + 2, (count, 128 * held), factor).reshape(count, 4, 32, held)
    packed = np.ascontiguousarray(b.reshape(count, N, 2, 4).swapaxes(1, 2))
    given = np.ascontiguousarray(c.reshape(count, 128, held).swapaxes(1, 2))
    return (a.reshape(count, 128, 4), packed, given), (a, b, c)


def product_of(form: str) -> GroupProduct:
    """The emulator's model of a form."""
    return group_product_of(["mma_async", "sync", "aligned", *form.split(".")])


def compare(task: tuple[int, int, int, bool]) -> dict:
    """Some products of a form: (its number, which part, products, whether the emulator runs it) -> what differs."""
    number, part, count, here = task
    form = forms()[number]
    found: dict = {"form": form, "elements": 0, "different": 0, "first": []}
    product = product_of(form)
    given, (a, b, c) = inputs(form, 9000 + 1000 * part + 3 * number, count)
    there = _run(source(form), given, count, here)
    there = np.ascontiguousarray(there.swapaxes(1, 2)).reshape(c.shape)
    d_type, a_type, b_type = product.element_types
    for at in range(0, count, CHUNK):
        left = product.left.matrix(a[at : at + CHUNK].view(a_type))
        right = b[at : at + CHUNK].view(b_type)[:, None]
        with np.errstate(all="ignore"):
            d = product.multiply(left, right, product.result.matrix(c[at : at + CHUNK].view(d_type)))
        bad = d != product.result.matrix(there[at : at + CHUNK].view(d_type))
        found["elements"] += bad.size
        found["different"] += int(bad.sum())
        if bad.any() and not found["first"]:
            one = np.unravel_index(int(bad.argmax()), bad.shape)
            found["first"] = [x[at + one[0]].tolist() for x in (a, b, c, there)]
    return found


def _run(text: str, arrays: tuple[np.ndarray, ...], count: int, here: bool) -> np.ndarray:
    kernel = softlab.Kernel(text, "multiply")
    if here:
        kernel.run(min(count, 16), 128, (*arrays, count), record=False)
        return arrays[2]
    import cupy

    given = [cupy.asarray(array) for array in arrays]
    kernel.run(512, 128, (*given, count))
    return np.asarray(given[2].get())


def tiles() -> list[str]:
    """The tests of tiles and types in shared memory, on the GPU: the names of those that fail."""
    import cupy

    run_here = softlab.Kernel.run

    def run_there(kernel: softlab.Kernel, grid: int, block: int, args: tuple, *, smem: int = 0, **rest: bool) -> None:
        there = [cupy.asarray(x) if isinstance(x, np.ndarray) else x for x in args]
        run_here(kernel, grid, block, tuple(there), smem=smem)
        for here, x in zip(args, there, strict=True):
            if isinstance(here, np.ndarray):
                here[...] = x.get()

    tests = [partial(test, width) for test in (tests_here.test_tiles_along_k, tests_here.test_tiles_across_k)
             for width in (16, 32, 64, 128)]  # fmt: skip
    tests += [partial(tests_here.test_a_pattern_that_begins_between_its_boundaries)]
    tests += [partial(tests_here.test_the_accumulator_and_its_scale), partial(tests_here.test_other_types)]
    failed = []
    with mock.patch.object(softlab.Kernel, "run", run_there):
        for test in tests:
            try:
                test()
            except AssertionError as error:
                failed.append(f"{test.func.__name__} {test.args}: {str(error)[:300]}")
    return failed


def main(out: Path, fragments: int, here: bool) -> None:
    """Compare all forms, and on a GPU the tiles."""
    products = -(-fragments // 4)
    parts = [(part, min(PART, products - part * PART)) for part in range(-(-products // PART))]
    tasks = [(number, *part, here) for number in range(len(forms())) for part in parts]
    found = [{"form": form, "elements": 0, "different": 0, "first": []} for form in forms()]
    with multiprocessing.get_context("spawn").Pool(min(16, os.cpu_count() or 1)) as pool:
        for task, one in zip(tasks, pool.imap(compare, tasks), strict=True):
            total = found[task[0]]
            total.update({key: total[key] + one[key] for key in ("elements", "different")})
            total["first"] = total["first"] or one["first"]
    out.mkdir(parents=True, exist_ok=True)
    failed = [] if here else tiles()
    (out / "group_matrices.json").write_text(json.dumps({"forms": found, "tiles": failed}))
    print("tests of tiles that fail:", failed or "none")
    for one in found:
        print(one["form"], one["different"], "of", one["elements"], "elements differ")


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[2:] if word.isdigit()]
    main(Path(sys.argv[1]), numbers[0] if numbers else 1 << 20, "--emulator" in sys.argv)
