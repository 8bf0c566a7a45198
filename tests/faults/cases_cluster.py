"""Good kernels of clusters, asynchronous copies and mbarriers, with what they compute."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.faults.cases import Good

_CLUSTER, _ASYNCHRONOUS = "cluster.cu", "asynchronous.cu"


def _floats(n: int, written: int, *scalars: int) -> Callable[[], list]:
    return lambda: [
        np.random.default_rng(n).integers(-99, 99, n).astype(np.float32),
        np.zeros(written, np.float32),
        *(np.int32(s) for s in scalars),
    ]


def _integers() -> list:
    return [np.random.default_rng(3).integers(0, 128, 1500).astype(np.int32), np.zeros(128, np.int32), np.int32(1500)]


CLUSTER: dict[str, Good] = {
    "pass around": Good(_CLUSTER, "pass_around", (8,), (64,), _floats(512, 512, 3)),
    "sum of parts": Good(_CLUSTER, "sum_of_parts", (4, 2), (64,), _floats(700, 700, 350)),
    "split histogram": Good("cooperative.cu", "split_histogram", (4,), (96,), _integers),
    "message": Good(_CLUSTER, "message", (4,), (64,), _floats(256, 128)),
    "counted message": Good(_CLUSTER, "counted_message", (4,), (64,), _floats(256, 256)),
    "two rows": Good(_ASYNCHRONOUS, "two_rows", (3,), (64,), _floats(2048, 2048, 8)),
    "padded rows": Good(_ASYNCHRONOUS, "padded_rows", (2,), (64,), _floats(501, 512, 249)),
    "bulk rows": Good(_ASYNCHRONOUS, "bulk_rows", (3,), (64,), _floats(2560, 2560, 10)),
    "bulk results": Good(_ASYNCHRONOUS, "bulk_results", (3,), (64,), _floats(2048, 2048, 8)),
    "two roles": Good(_ASYNCHRONOUS, "two_roles", (1,), (96,), _floats(1152, 1152, 9)),
    "one row for all": Good(_ASYNCHRONOUS, "one_row_for_all", (4,), (64,), _floats(512, 1024)),
}


def _passed(x: np.ndarray) -> np.ndarray:
    parts = x.reshape(2, 4, 64).astype(np.float64)
    for _ in range(3):
        parts = np.roll(parts[:, :, ::-1] + 1, 1, axis=1)
    return parts


def _of_rows(x: np.ndarray) -> np.ndarray:
    rows = x.reshape(2, 350).astype(np.float64)
    return rows / rows.sum(axis=1, keepdims=True)


def _padded(x: np.ndarray) -> np.ndarray:
    rows = np.zeros((2, 256))
    rows[0, :249], rows[1, :249] = x[:249], x[252:501]
    return rows[:, ::-1]


def _shared_rows(x: np.ndarray) -> np.ndarray:
    return np.repeat(x.reshape(2, 256), 2, axis=0) + np.arange(4)[:, None]


#: What each of them computes, of its first argument, in float64 or integers.
EXPECTED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "pass around": _passed,
    "sum of parts": _of_rows,
    "split histogram": lambda x: np.bincount(x, minlength=128),
    "message": lambda x: 3 * x.reshape(2, 2, 64)[:, 1, ::-1],
    "counted message": lambda x: 3 * x.reshape(2, 2, 64)[:, ::-1, ::-1],
    "two rows": lambda x: 2 * x.reshape(-1, 256)[:, ::-1],
    "padded rows": _padded,
    "bulk rows": lambda x: 3 * x.reshape(-1, 256)[:, ::-1],
    "bulk results": lambda x: 2 * x.reshape(-1, 256)[:, ::-1],
    "two roles": lambda x: 2 * x.reshape(-1, 128)[:, ::-1],
    "one row for all": _shared_rows,
}
