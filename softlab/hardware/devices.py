"""The GPUs: one frozen record of limits each, by name, by compute capability, or the one that is present.

Sources of the limits: CUDA C++ Programming Guide, "Compute Capabilities" (technical specifications table); the
allocation units, sub-partitions and block slots are in NVIDIA's ``cuda_occupancy.h``, the rest also in CCCL's
``cuda/__device/arch_traits.h``, and tests hold this module to both headers. Each named GPU says where its own figures
come from (``Device.source``).
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

KIB = 1024
MIB = 1024 * KIB

#: The GPU to plan and emulate for where none is present and none is named.
DEFAULT_NAME = "H200"
#: Letters and a digit whose names begin with a vowel: "ef", "aitch", "eight".
_LIKE_A_VOWEL = frozenset("AEFHILMNORSX8")


@dataclass(frozen=True)
class Device:
    """What one GPU can hold and do.

    Sizes are in bytes, registers are 32-bit, ``memory_bandwidth`` is in bytes per second. ``smem_per_block`` is what a
    block gets without asking, ``smem_per_block_optin`` what ``cudaFuncAttributeMaxDynamicSharedMemorySize`` can raise
    it to, ``smem_reserved_per_block`` what the driver takes for itself in each block. Registers are handed out to a
    warp in units of ``register_allocation_unit``, from the ``sub_partitions`` of an SM that each own an equal part of
    them; shared memory to a block in units of ``smem_allocation_unit``. ``l2_bytes`` and ``memory_bandwidth`` are None
    where not known.
    """

    name: str
    compute_capability: tuple[int, int]
    sm_count: int
    max_threads_per_sm: int
    max_blocks_per_sm: int
    smem_per_sm: int
    smem_per_block_optin: int
    smem_reserved_per_block: int
    smem_allocation_unit: int
    l2_bytes: int | None = None
    memory_bandwidth: float | None = None
    source: str = ""
    max_threads_per_block: int = 1024
    warp_size: int = 32
    sub_partitions: int = 4
    registers_per_sm: int = 64 * KIB
    registers_per_block: int = 64 * KIB
    max_registers_per_thread: int = 255
    register_allocation_unit: int = 256
    smem_per_block: int = 48 * KIB

    @property
    def arch(self) -> str:
        """The name the compiler knows it by: "sm_90"."""
        return f"sm_{self.compute_capability[0]}{self.compute_capability[1]}"

    @property
    def max_warps_per_sm(self) -> int:
        """Warps that an SM can hold."""
        return self.max_threads_per_sm // self.warp_size

    @staticmethod
    def named(name: str) -> Device:
        """The GPU of that name, in any case and spacing: "H200", "rtx 4090", "NVIDIA A100-SXM4-80GB".

        An architecture such as "sm_80" gives the flagship of that compute capability (the record's name says which),
        since the number of SMs is no property of an architecture.

        Raises:
            ValueError: no such GPU; the message lists the known names and the closest ones.
        """
        if not isinstance(name, str):
            raise TypeError(f"device {name!r} is not a name: give one such as 'H200' or 'sm_80', or a softlab.Device")
        return _named(name)

    @staticmethod
    def present() -> Device | None:
        """The current GPU of this process with the figures that its driver reports.

        None where there is none that softlab can use: no driver, no CuPy, or a compute capability below 7.0.
        """
        if not _cupy_sees_a_gpu():
            return None
        from cupy.cuda import runtime

        return _present(runtime.getDevice())


def names() -> tuple[str, ...]:
    """The names of all known GPUs, oldest architecture first."""
    return tuple(_NAMED)


def with_article(name: str, *, first: bool = False) -> str:
    """ "an H200", "a GH200": a name as it stands in a sentence, as its ``first`` word with a capital. The letters of
    such names are said one by one, so that the article follows from the sound of the first one."""
    article = "an" if name[:1].upper() in _LIKE_A_VOWEL else "a"
    return f"{article.capitalize() if first else article} {name}"


def architectures() -> tuple[str, ...]:
    """The architectures with a flagship, "sm_70" and so on."""
    return tuple(_FLAGSHIPS)


def resolve(device: Device | str | None = None) -> Device:
    """The record of a device given as a record, by name or architecture, or not at all.

    None means the GPU present, and without one "H200".

    Raises:
        ValueError: an unknown name. TypeError: neither a name nor a Device.
    """
    if isinstance(device, Device):
        return device
    if device is None:
        return Device.present() or _NAMED[DEFAULT_NAME]
    return Device.named(device)


# Limits by compute capability: threads, blocks and shared memory per SM (KiB), reserved shared memory per block (KiB),
# allocation unit. A block can opt in to all shared memory of an SM but the reserve.
_LIMITS: dict[tuple[int, int], tuple[int, int, int, int, int]] = {
    (7, 0): (2048, 32, 96, 0, 256),
    (7, 2): (2048, 32, 96, 0, 256),
    (7, 5): (1024, 16, 64, 0, 256),
    (8, 0): (2048, 32, 164, 1, 128),
    (8, 6): (1536, 16, 100, 1, 128),
    (8, 7): (1536, 16, 164, 1, 128),
    (8, 9): (1536, 24, 100, 1, 128),
    (9, 0): (2048, 32, 228, 1, 128),
    (10, 0): (2048, 32, 228, 1, 128),
    (10, 1): (1536, 24, 228, 1, 128),
    (10, 3): (2048, 32, 228, 1, 128),
    (12, 0): (1536, 24, 100, 1, 128),
    (12, 1): (1536, 24, 100, 1, 128),
}


def _device(
    name: str,
    capability: tuple[int, int],
    sm_count: int,
    l2_mib: float | None,
    bandwidth_gb: float | None,
    source: str,
) -> Device:
    threads, blocks, smem, reserved, unit = _LIMITS[capability]
    return Device(
        name=name,
        compute_capability=capability,
        sm_count=sm_count,
        max_threads_per_sm=threads,
        max_blocks_per_sm=blocks,
        smem_per_sm=smem * KIB,
        smem_per_block_optin=(smem - reserved) * KIB,
        smem_reserved_per_block=reserved * KIB,
        smem_allocation_unit=unit,
        l2_bytes=None if l2_mib is None else int(l2_mib * MIB),
        memory_bandwidth=None if bandwidth_gb is None else bandwidth_gb * 1e9,
        source=source,
    )


_NAMED: dict[str, Device] = {
    device.name: device
    for device in (
        _device("V100", (7, 0), 80, 6, 900, "NVIDIA V100 datasheet (SXM2) and Volta whitepaper"),
        _device("AGX Xavier", (7, 2), 8, 0.5, 136.5, "NVIDIA Jetson AGX Xavier datasheet"),
        _device("T4", (7, 5), 40, 4, 320, "NVIDIA T4 datasheet and Turing whitepaper"),
        _device("RTX 2080 Ti", (7, 5), 68, 5.5, 616, "NVIDIA Turing whitepaper"),
        _device("A100", (8, 0), 108, 40, 2039, "NVIDIA A100 datasheet (SXM4, 80 GB) and Ampere whitepaper"),
        _device("A100 40GB", (8, 0), 108, 40, 1555, "NVIDIA A100 datasheet (40 GB) and Ampere whitepaper"),
        _device("A30", (8, 0), 56, 24, 933, "NVIDIA A30 datasheet"),
        _device("A10", (8, 6), 72, 6, 600, "NVIDIA A10 datasheet"),
        _device("A40", (8, 6), 84, 6, 696, "NVIDIA A40 datasheet"),
        _device("RTX A6000", (8, 6), 84, 6, 768, "NVIDIA RTX A6000 datasheet, GA102 whitepaper"),
        _device("RTX 3080", (8, 6), 68, 5, 760, "NVIDIA GA102 whitepaper"),
        _device("RTX 3090", (8, 6), 82, 6, 936, "NVIDIA GA102 whitepaper"),
        _device("AGX Orin", (8, 7), 16, 4, 204.8, "NVIDIA Jetson AGX Orin technical brief"),
        _device("L4", (8, 9), 58, 48, 300, "NVIDIA L4 datasheet, Ada whitepaper"),
        _device("L40S", (8, 9), 142, 96, 864, "NVIDIA L40S datasheet, Ada whitepaper"),
        _device("RTX 6000 Ada", (8, 9), 142, 96, 960, "NVIDIA RTX 6000 Ada datasheet, Ada whitepaper"),
        _device("RTX 4070", (8, 9), 46, 36, 504, "NVIDIA Ada whitepaper"),
        _device("RTX 4080", (8, 9), 76, 64, 716.8, "NVIDIA Ada whitepaper"),
        _device("RTX 4090", (8, 9), 128, 72, 1008, "NVIDIA Ada whitepaper"),
        _device("H100", (9, 0), 132, 50, 3350, "NVIDIA H100 datasheet (SXM5) and Hopper whitepaper"),
        _device("H100 PCIe", (9, 0), 114, 50, 2000, "NVIDIA H100 datasheet (PCIe) and Hopper whitepaper"),
        _device("GH200", (9, 0), 132, None, 4000, "NVIDIA GH200 datasheet (96 GB HBM3)"),
        _device("H200", (9, 0), 132, 60, 4800, "NVIDIA H200 datasheet; L2 as its driver reports it"),
        _device("B200", (10, 0), 148, 126, 8000, "NVIDIA Blackwell datasheet; SMs and L2 as its driver reports them"),
        _device("AGX Thor", (10, 1), 20, None, 273, "NVIDIA Jetson Thor datasheet"),
        _device("B300", (10, 3), 148, None, 8000, "NVIDIA Blackwell Ultra datasheet; SMs as its driver reports them"),
        _device("RTX 5080", (12, 0), 84, 64, 960, "NVIDIA RTX Blackwell whitepaper"),
        _device("RTX 5090", (12, 0), 170, 96, 1792, "NVIDIA RTX Blackwell whitepaper"),
        _device("RTX PRO 6000", (12, 0), 188, 128, 1792, "NVIDIA RTX PRO 6000 Blackwell datasheet"),
        _device("GB10", (12, 1), 48, 24, 273, "NVIDIA DGX Spark datasheet"),
    )
}

#: What other names mean. Keys and values are compared without case, spaces, dashes and the maker's name.
_ALIASES: dict[str, str] = {
    "V100-SXM2-16GB": "V100",
    "V100-SXM2-32GB": "V100",
    "A100-SXM4-80GB": "A100",
    "A100 80GB": "A100",
    "A100-SXM4-40GB": "A100 40GB",
    "H100 SXM": "H100",
    "H100 SXM5": "H100",
    "H100 80GB HBM3": "H100",
    "GH200 480GB": "GH200",
    "RTX 6000 Ada Generation": "RTX 6000 Ada",
    "RTX PRO 6000 Blackwell Workstation Edition": "RTX PRO 6000",
    "RTX PRO 6000 Blackwell Server Edition": "RTX PRO 6000",
    "DGX Spark": "GB10",
}

_FLAGSHIPS: dict[str, str] = {
    "sm_70": "V100",
    "sm_72": "AGX Xavier",
    "sm_75": "T4",
    "sm_80": "A100",
    "sm_86": "RTX 3090",
    "sm_87": "AGX Orin",
    "sm_89": "RTX 4090",
    "sm_90": "H200",
    "sm_100": "B200",
    "sm_101": "AGX Thor",
    "sm_103": "B300",
    "sm_120": "RTX 5090",
    "sm_121": "GB10",
}


def _key(name: str) -> str:
    """The name without what people write differently."""
    return re.sub(r"[^a-z0-9]|nvidia|geforce|tesla|jetson", "", name.casefold())


@lru_cache(maxsize=1)
def _index() -> dict[str, str]:
    """Key of every name and alias -> name."""
    return {_key(name): name for name in _NAMED} | {_key(alias): name for alias, name in _ALIASES.items()}


@lru_cache(maxsize=64)
def _named(name: str) -> Device:
    index = _index()
    key = _key(name)
    if key in index:
        return _NAMED[index[key]]
    if found := re.fullmatch(r"(?:sm|compute)(\d+)[af]?", key):
        return _flagship(name, found.group(1))
    close = dict.fromkeys(index[match] for match in difflib.get_close_matches(key, index, n=6, cutoff=0.5))
    hint = f" Did you mean {' or '.join(list(close)[:3])}?" if close else ""
    raise ValueError(
        f"unknown device {name!r}.{hint} Known: {', '.join(_NAMED)}; or an architecture: {', '.join(_FLAGSHIPS)}."
    )


def _flagship(asked: str, digits: str) -> Device:
    if (arch := f"sm_{digits}") not in _FLAGSHIPS:
        raise ValueError(f"unknown architecture {asked!r}. Known: {', '.join(_FLAGSHIPS)}.")
    return _NAMED[_FLAGSHIPS[arch]]


@lru_cache(maxsize=1)
def _cupy_sees_a_gpu() -> bool:
    """Whether there is a GPU at all. Asked once: finding out that there is no driver takes milliseconds."""
    try:
        import cupy
    except ImportError:
        return False
    return bool(cupy.cuda.is_available())


@lru_cache(maxsize=64)
def _present(index: int) -> Device | None:
    from cupy.cuda import runtime

    name = runtime.getDeviceProperties(index)["name"]
    attributes = {field: runtime.deviceGetAttribute(number, index) for field, number in _ATTRIBUTES.items()}
    return from_attributes(name.decode() if isinstance(name, bytes) else name, attributes)


#: Field -> cudaDeviceAttr. Numbers, since CuPy names only some of them; a test reads them in CUDA's driver_types.h.
_ATTRIBUTES = {
    "major": 75,  # cudaDevAttrComputeCapabilityMajor
    "minor": 76,  # cudaDevAttrComputeCapabilityMinor
    "sm_count": 16,  # cudaDevAttrMultiProcessorCount
    "max_threads_per_sm": 39,  # cudaDevAttrMaxThreadsPerMultiProcessor
    "max_threads_per_block": 1,  # cudaDevAttrMaxThreadsPerBlock
    "max_blocks_per_sm": 106,  # cudaDevAttrMaxBlocksPerMultiprocessor
    "registers_per_sm": 82,  # cudaDevAttrMaxRegistersPerMultiprocessor
    "registers_per_block": 12,  # cudaDevAttrMaxRegistersPerBlock
    "smem_per_sm": 81,  # cudaDevAttrMaxSharedMemoryPerMultiprocessor
    "smem_per_block": 8,  # cudaDevAttrMaxSharedMemoryPerBlock
    "smem_per_block_optin": 97,  # cudaDevAttrMaxSharedMemoryPerBlockOptin
    "smem_reserved_per_block": 111,  # cudaDevAttrReservedSharedMemoryPerBlock
    "l2_bytes": 38,  # cudaDevAttrL2CacheSize
    "memory_clock_khz": 36,  # cudaDevAttrMemoryClockRate
    "memory_bus_bits": 37,  # cudaDevAttrGlobalMemoryBusWidth
}


def from_attributes(name: str, attributes: dict[str, Any]) -> Device | None:
    """The record of a GPU from its name and its driver's attributes (the keys of ``_ATTRIBUTES``).

    What the driver does not tell (allocation units) is that of the compute capability, or, for one that this module
    does not know, of the next older one; ``source`` then says so. None below compute capability 7.0.
    """
    given = dict(attributes)
    capability = (given.pop("major"), given.pop("minor"))
    if capability < (7, 0):
        return None
    known = max(entry for entry in _LIMITS if entry <= capability)
    clock, bus = given.pop("memory_clock_khz"), given.pop("memory_bus_bits")
    named = _NAMED.get(_index().get(_key(name), ""))
    # Two transfers a clock on every memory that these GPUs have (deviceQuery's formula); newer drivers report clock 0.
    measured = 2e3 * clock * bus / 8 or None
    source = (
        "the driver" if known == capability else f"the driver; allocation units assumed as of {known[0]}.{known[1]}"
    )
    return replace(
        _device(name.removeprefix("NVIDIA ").removeprefix("GeForce "), known, 1, None, None, source),
        compute_capability=capability,
        memory_bandwidth=named.memory_bandwidth if named else measured,
        **given,
    )
