"""Products of matrices of the emulator beside a GPU's, bit by bit.

``python -m tests.hardware.matrices OUT [fragments]`` multiplies that many random fragments in each form on the GPU that
is present and in the emulator's model, in parallel processes, and writes OUT/matrices.json: the number of fragments,
the number of elements that differ, and the first of them.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from softlab.emulator.opcodes.matrices import product_of
from tests.hardware.matrix_cases import by_register, forms, kinds_of, registers, source

#: Random fragments that are made; rounds combine A, B and C of different ones.
POOL = 1 << 15
#: Fragments of the emulator's model at a time.
CHUNK = 128
#: The model of f64 takes milliseconds where numbers are very small or very large.
MOST_OF_F64, POOL_OF_F64 = 1 << 16, 1 << 9
#: The mixes of numbers that are neither.
_MODERATE = (1, 2, 3, 6)


def rounds(form: str, seed: int, fragments: int) -> Iterator[tuple[np.ndarray, ...]]:
    """A, B and C of all fragments, some at a time."""
    if "f64" in form:
        yield registers(form, seed, POOL_OF_F64)
        whole = registers(form, seed + 1, 2 * min(fragments, MOST_OF_F64))
        moderate = np.isin(np.arange(len(whole[0])) % 8, _MODERATE)
        yield tuple(part[moderate] for part in whole)
        return
    pool = registers(form, seed, min(fragments, POOL))
    for number in range(-(-fragments // POOL)):
        # Even rounds combine fragments of one mix, odd ones those of different mixes.
        step = number if number % 2 else 8 * number
        yield tuple(np.roll(part, step * turn * 37, axis=0) for turn, part in enumerate(pool))


def on_gpu(form: str, number: int, parts: tuple[np.ndarray, ...], kernel: object) -> np.ndarray:
    """The registers of D, (fragments, 32, registers)."""
    import cupy

    product = product_of(form.split("."))
    arrays = [cupy.asarray(np.ascontiguousarray(by_register(part))) for part in parts]
    held = product.fragments[0].registers
    d = cupy.zeros((len(parts[0]), held, 32), np.uint64 if "f64" in form else np.uint32)
    kernel((256,), (256,), (*arrays, d, np.int32(len(parts[0]))))  # type: ignore[operator]
    return np.ascontiguousarray(by_register(d.get()))


def compare(task: tuple[int, int]) -> dict:
    """One form: (its number, fragments) -> what differs."""
    import cupy

    number, fragments = task
    form = forms()[number]
    product = product_of(form.split("."))
    kernel = cupy.RawModule(code=source(form, number), options=("-std=c++17",)).get_function(f"multiply{number}")
    found: dict = {"form": form, "fragments": 0, "elements": 0, "different": 0, "first": []}
    kind = np.uint16 if kinds_of(form)[0] == "f16" else None
    for parts in rounds(form, 7000 + number, fragments):
        expected = on_gpu(form, number, parts, kernel)
        for start in range(0, len(expected), CHUNK):
            piece = [part[start : start + CHUNK] for part in parts]
            with np.errstate(all="ignore"):
                d = product.of_registers(*piece)
            there = expected[start : start + CHUNK]
            bad = (d.view(kind) != there.view(kind)) if kind else d != there
            found["elements"] += bad.size
            if bad.any():
                found["different"] += int(bad.sum())
                at = int(np.flatnonzero(bad.reshape(len(bad), -1).any(axis=1))[0])
                if len(found["first"]) < 3:
                    found["first"].append([part[at].tolist() for part in (*piece, d, there)])
        found["fragments"] += len(expected)
    return found


def main(out: Path, fragments: int) -> None:
    """Compare all forms, the slowest first."""
    # Products of bytes as floats take longest, those of integers least.
    order = sorted(range(len(forms())), key=lambda number: ("s32" in forms()[number], "e" not in forms()[number]))
    with multiprocessing.get_context("spawn").Pool(min(16, os.cpu_count() or 1)) as pool:
        found = list(pool.imap_unordered(compare, [(number, fragments) for number in order]))
    found.sort(key=lambda one: forms().index(one["form"]))
    out.mkdir(parents=True, exist_ok=True)
    (out / "matrices.json").write_text(json.dumps(found))
    for one in found:
        print(one["form"], one["fragments"], "fragments,", one["different"], "of", one["elements"], "elements differ")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 20)
