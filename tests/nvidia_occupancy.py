"""NVIDIA's own occupancy arithmetic as an oracle: ``cuda_occupancy.h`` of the CUDA wheel, compiled as host C++."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from softlab.hardware.devices import Device

ORACLE = r"""
#include <cuda_occupancy.h>

struct Limits { int blocks, warps, registers, smem, slots, factors; };

// One row of `table` is one device: the fields that cudaGetDeviceProperties gives.
static cudaOccDeviceProp device(const long long* row) {
    cudaOccDeviceProp p;
    p.computeMajor = row[0]; p.computeMinor = row[1]; p.numSms = row[2];
    p.maxThreadsPerMultiprocessor = row[3]; p.maxThreadsPerBlock = row[4]; p.regsPerMultiprocessor = row[5];
    p.regsPerBlock = row[6]; p.warpSize = row[7]; p.sharedMemPerMultiprocessor = row[8];
    p.sharedMemPerBlock = row[9]; p.sharedMemPerBlockOptin = row[10]; p.reservedSharedMemPerBlock = row[11];
    return p;
}

static cudaOccFuncAttributes kernel(long long registers, long long fixed, long long dynamic, int opt_in) {
    cudaOccFuncAttributes a;
    a.maxThreadsPerBlock = 1024; a.numRegs = registers; a.sharedSizeBytes = fixed; a.numBlockBarriers = 1;
    a.shmemLimitConfig = opt_in ? FUNC_SHMEM_LIMIT_OPTIN : FUNC_SHMEM_LIMIT_DEFAULT;
    a.maxDynamicSharedSizeBytes = dynamic;
    return a;
}

extern "C" int occupancy(long long n, const long long* table, const int* which, const int* threads,
                         const int* registers, const int* fixed, const int* dynamic, const int* opt_in, Limits* out) {
    for (long long k = 0; k < n; ++k) {
        cudaOccDeviceProp p = device(table + 12 * which[k]);
        cudaOccFuncAttributes a = kernel(registers[k], fixed[k], dynamic[k], opt_in[k]);
        cudaOccDeviceState state;
        cudaOccResult r;
        cudaOccError e = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &a, &state, threads[k], dynamic[k]);
        if (e != CUDA_OCC_SUCCESS) return int(e);
        out[k] = Limits{r.activeBlocksPerMultiprocessor, r.blockLimitWarps, r.blockLimitRegs, r.blockLimitSharedMem,
                        r.blockLimitBlocks, int(r.limitingFactors)};
    }
    return 0;
}

extern "C" int best(const long long* row, int registers, int smem, int* grid, int* block) {
    cudaOccDeviceProp p = device(row);
    cudaOccFuncAttributes a = kernel(registers, 0, smem, 1);
    cudaOccDeviceState state;
    return cudaOccMaxPotentialOccupancyBlockSize(grid, block, &p, &a, &state, smem);
}
"""


class Unavailable(Exception):
    """Why the header cannot be compiled here."""


class Oracle:
    """The header, compiled into ``folder``, for cases that name one of ``devices`` by its index."""

    def __init__(self, folder: Path, devices: Sequence[Device]) -> None:
        compiler = shutil.which("g++") or shutil.which("clang++") or shutil.which("c++")
        include = header_folder()
        if compiler is None or include is None:
            raise Unavailable("needs a C++ compiler and NVIDIA's cuda_occupancy.h (pip: nvidia-cuda-runtime-cu12)")
        source, library = folder / "oracle.cpp", folder / "oracle.so"
        source.write_text(ORACLE)
        command = [compiler, "-O2", "-w", "-shared", "-fPIC", f"-I{include}", str(source), "-o", str(library)]
        subprocess.run(command, check=True, capture_output=True, text=True)
        self._library = ctypes.CDLL(str(library))
        self._table = np.array([properties(device) for device in devices], dtype=np.int64)

    def ask(self, which, threads, registers, fixed, dynamic, opt_in) -> np.ndarray:
        """(n, 6) int32: blocks; the limits by warps, registers, shared memory, block slots; the limiting factors' bits.

        Each argument is (n,) integers: index of the device, threads per block, registers per thread, static and dynamic
        shared memory, whether the kernel opted in to more than 48 KiB.
        """
        inputs = [np.ascontiguousarray(a, dtype=np.int32) for a in (which, threads, registers, fixed, dynamic, opt_in)]
        out = np.zeros((len(inputs[0]), 6), dtype=np.int32)
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (self._table, *inputs, out)]
        error = self._library.occupancy(ctypes.c_longlong(len(out)), *pointers)
        if error:
            raise ValueError(f"cuda_occupancy.h answers error {error}")
        return out

    def best(self, device: Device, registers: int, smem: int) -> tuple[int, int]:
        """(grid, block) of cudaOccMaxPotentialOccupancyBlockSize."""
        row = np.array(properties(device), dtype=np.int64)
        grid, block = ctypes.c_int(), ctypes.c_int()
        error = self._library.best(
            ctypes.c_void_p(row.ctypes.data), registers, smem, ctypes.byref(grid), ctypes.byref(block)
        )
        if error:
            raise ValueError(f"cuda_occupancy.h answers error {error}")
        return grid.value, block.value


def header_folder() -> Path | None:
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations if spec else ():
        for header in sorted(Path(root).glob("*/include/cuda_occupancy.h")):
            return header.parent
    return None


def properties(device: Device) -> list[int]:
    """In the order that the oracle reads them."""
    return [
        *device.compute_capability,
        device.sm_count,
        device.max_threads_per_sm,
        device.max_threads_per_block,
        device.registers_per_sm,
        device.registers_per_block,
        device.warp_size,
        device.smem_per_sm,
        device.smem_per_block,
        device.smem_per_block_optin,
        device.smem_reserved_per_block,
    ]
