"""Recover how the special function unit computes 2**x and 1/x from its results at every mantissa.

    python -m tests.hardware.special_functions record FOLDER    # where the GPU is: FOLDER/special_functions.npz, 64 MiB
    python -m tests.hardware.special_functions recover FOLDER   # ->
    softlab/emulator/opcodes/data/special_functions.json, tests/data

A result at mantissa d of a segment is floor(c0 + c1 d + c2 square(d)), with unknown integers c1, c2 and a c0 in
quarters: each of a segment's 2**16 or 2**17 results bounds c0 from both sides, and only the right c1 and c2 leave room
between the bounds. That all segments leave room, with one common rounding constant, is the proof.
"""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path

import numpy as np

from softlab.emulator.opcodes import special_functions as unit

DATA = Path(__file__).parents[1] / "data" / "special_functions_h200.npz"
TABLE = Path(unit.__file__).parent / "data" / "special_functions.json"
SEGMENTS = {"ex2": 64, "rcp": 128}
SAMPLES = 8192

SOURCE = "".join(
    f'extern "C" __global__ void {name}_of(const float* x, float* y) {{ size_t k = blockIdx.x * 256ull + threadIdx.x;'
    f' asm("{name}.approx.ftz.f32 %0, %1;" : "=f"(y[k]) : "f"(x[k])); }}\n'
    for name in SEGMENTS
)


def mantissas() -> np.ndarray:
    """All float32 from 1 to 2."""
    return (np.arange(1 << 23, dtype=np.uint32) | np.uint32(0x3F800000)).view(np.float32)


def samples() -> dict[str, np.ndarray]:
    """Sources of all sizes, a third of them what softmax has: x - max."""
    rng = np.random.default_rng(1)
    third = -np.abs(rng.standard_normal(SAMPLES)) * 10
    near = -np.exp2(rng.uniform(-40, 0, SAMPLES))
    ex2 = np.concatenate([third, near, rng.uniform(-130, 130, SAMPLES)])
    rcp = np.exp2(rng.uniform(-126, 126, 3 * SAMPLES)) * rng.choice([-1, 1], 3 * SAMPLES)
    return {"ex2": ex2.astype(np.float32), "rcp": rcp.astype(np.float32)}


def record(folder: Path) -> None:
    """Ask the GPU."""
    import cupy

    module = cupy.RawModule(code=SOURCE)

    def ask(name: str, x: np.ndarray) -> np.ndarray:
        source = cupy.asarray(x)
        result = cupy.empty_like(source)
        module.get_function(f"{name}_of")((x.size // 256,), (256,), (source, result))
        return result.get()

    found = {f"{name} all": ask(name, mantissas()) for name in SEGMENTS}
    for name, x in samples().items():
        found |= {f"{name} source": x, f"{name} result": ask(name, x)}
    np.savez(folder / "special_functions.npz", **found)


def _segments(results: np.ndarray, count: int) -> list[tuple[int, int, int, int]]:
    """c1, c2 and the bounds of c0 in units of 2**-17, a segment. results: 24-bit integers at every mantissa."""
    length = (1 << 23) // count
    step = np.arange(length)
    distance = (step << 17) // length
    square = unit._square()[distance >> 2]
    columns = np.stack([np.ones(length), distance / 2.0**17, square / 2.0**17], axis=1)
    found = []
    for number, segment in enumerate(results.reshape(count, length).astype(np.int64)):
        _, slope, curve = np.linalg.lstsq(columns, segment + 0.5, rcond=None)[0]
        best = (-np.inf, 0, 0, 0, 0)
        for c2 in range(round(curve) - 2, round(curve) + 3):
            middle = round(slope - (c2 - curve))
            for c1 in range(middle - 3, middle + 4):
                rest = (segment << 17) - c1 * distance - c2 * square
                low, high = int(rest.max()), int(rest.min()) + (1 << 17)
                best = max(best, (high - low, c1, c2, low, high))
        if best[0] <= 0:
            raise SystemExit(f"segment {number}: no coefficients explain the results")
        found.append(best[1:])
    return found


def recover(folder: Path) -> None:
    """Find the coefficients and write them, with a sample of the results for the tests."""
    with np.load(folder / "special_functions.npz") as file:
        found = dict(file)
    table = {
        "about": "Coefficients c0 (quarters), c1, c2 of each segment, recovered from an NVIDIA H200's results at all "
        "2**23 mantissas (driver 580, CUDA 13.0).",
        "command": "python -m tests.hardware.special_functions record FOLDER | recover FOLDER",
        "date": datetime.date.today().isoformat(),
    }
    for name, count in SEGMENTS.items():
        scale = 2.0**22 if name == "ex2" else 2.0**24  # to 24-bit integers: results are from 2 to 4, from 0.5 to 1
        rows = _segments(np.round(found[f"{name} all"].astype(np.float64) * scale).astype(np.int64), count)
        bias = max(low % (1 << 15) for *_, low, _ in rows)
        for c1, c2, low, high in rows:
            if not low <= (low >> 15 << 15) + bias < high:
                raise SystemExit(f"no common rounding constant: {c1}, {c2} wants c0 from {low} to {high}")
        table[name] = {"bias": bias, "rows": [[low >> 15, c1, c2] for c1, c2, low, _ in rows]}
    text = json.dumps(table, separators=(",", ":"))
    TABLE.write_text(text.replace('"ex2":{', '\n"ex2":{').replace('"rcp":{', '\n"rcp":{') + "\n")
    np.savez_compressed(DATA, **{key: value for key, value in found.items() if not key.endswith(" all")})


if __name__ == "__main__":
    {"record": record, "recover": recover}[sys.argv[1]](Path(sys.argv[2]))
