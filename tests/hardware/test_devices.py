"""The devices against NVIDIA's own header of limits, and the names that each has."""

from __future__ import annotations

import re
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

import softlab
from softlab.hardware import devices
from softlab.hardware.devices import Device, resolve, with_article
from tests import nvidia_occupancy

KNOWN = [Device.named(name) for name in devices.names()]

# CCCL's figures, as compile-time checks of ours: the source compiles exactly when every number agrees.
TRAITS = """
#include <cuda/devices>
constexpr auto t{arch} = cuda::arch_traits_for(cuda::arch_id::sm_{arch});
static_assert(t{arch}.max_threads_per_multiprocessor == {max_threads_per_sm}, "threads per SM");
static_assert(t{arch}.max_threads_per_block == {max_threads_per_block}, "threads per block");
static_assert(t{arch}.max_blocks_per_multiprocessor == {max_blocks_per_sm}, "blocks per SM");
static_assert(t{arch}.max_registers_per_multiprocessor == {registers_per_sm}, "registers per SM");
static_assert(t{arch}.max_registers_per_block == {registers_per_block}, "registers per block");
static_assert(t{arch}.max_registers_per_thread == {max_registers_per_thread}, "registers per thread");
static_assert(t{arch}.max_shared_memory_per_multiprocessor == {smem_per_sm}, "shared memory an SM");
static_assert(t{arch}.max_shared_memory_per_block == {smem_per_block}, "shared memory a block");
static_assert(t{arch}.max_shared_memory_per_block_optin == {smem_per_block_optin}, "shared memory with opt-in");
static_assert(t{arch}.reserved_shared_memory_per_block == {smem_reserved_per_block}, "shared memory reserved");
static_assert(t{arch}.warp_size == {warp_size}, "warp");
"""
# CCCL names neither; 10.1 is what CUDA 13 calls 11.0.
WITHOUT_TRAITS = {"sm_72": None, "sm_101": "110"}


def test_limits_equal_cccls_arch_traits():
    compile_ = pytest.importorskip("softlab.cuda.compile")
    try:
        compile_.nvrtc_version()
    except softlab.CompileError as error:
        pytest.skip(str(error))
    source = "".join(
        TRAITS.format(arch=number, **vars(device))
        for device in {device.arch: device for device in KNOWN}.values()
        if (number := WITHOUT_TRAITS.get(device.arch, device.arch[3:]))
    )
    assert source.count("warp_size") == 12
    program = compile_.compile_program(source + 'extern "C" __global__ void k() {}', "k", arch="sm_90")
    assert program.entry == "k"
    wrong = source.replace("max_blocks_per_multiprocessor == 24", "max_blocks_per_multiprocessor == 23")
    with pytest.raises(softlab.CompileError, match="blocks per SM"):
        compile_.compile_program(wrong + 'extern "C" __global__ void k() {}', "k", arch="sm_90")


@pytest.mark.parametrize(
    ("name", "capability", "sm_count"),
    [
        ("V100", (7, 0), 80),
        ("T4", (7, 5), 40),
        ("A100", (8, 0), 108),
        ("RTX 3090", (8, 6), 82),
        ("RTX 4090", (8, 9), 128),
        ("L4", (8, 9), 58),
        ("L40S", (8, 9), 142),
        ("H100", (9, 0), 132),
        ("H200", (9, 0), 132),
        ("GH200", (9, 0), 132),
        ("B200", (10, 0), 148),
        ("RTX 5090", (12, 0), 170),
    ],
)
def test_named(name, capability, sm_count):
    device = Device.named(name)
    assert (device.name, device.compute_capability, device.sm_count) == (name, capability, sm_count)
    assert device.source


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("h200", "H200"),
        (" rtx4090 ", "RTX 4090"),
        ("NVIDIA GeForce RTX 3090", "RTX 3090"),
        ("Tesla T4", "T4"),
        ("NVIDIA A100-SXM4-80GB", "A100"),
        ("NVIDIA A100-SXM4-40GB", "A100 40GB"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("sm_80", "A100"),
        ("SM_90a", "H200"),
        ("compute_120", "RTX 5090"),
    ],
)
def test_other_spellings_of_a_name(asked, name):
    assert Device.named(asked).name == name


def test_every_architecture_has_a_flagship_of_that_architecture():
    assert {device.arch for device in KNOWN} == set(devices.architectures())
    for arch in devices.architectures():
        assert Device.named(arch).arch == arch


def test_plausible_figures():
    """Whole-machine figures: a slip of a digit or a unit would leave these ranges."""
    for device in KNOWN:
        assert 8 <= device.sm_count <= 200
        assert device.memory_bandwidth is None or 1e11 < device.memory_bandwidth < 1e13
        assert device.l2_bytes is None or 2**19 <= device.l2_bytes <= 2**28
        assert device.max_warps_per_sm * device.warp_size == device.max_threads_per_sm


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("H2OO", r"unknown device 'H2OO'\. Did you mean H200"),
        ("rtx 4091", "Did you mean RTX 4090"),
        ("banana", r"unknown device 'banana'\. Known: V100, .*or an architecture: sm_70, "),
        ("sm_61", "unknown architecture 'sm_61'. Known: sm_70"),
        ("", "unknown device ''"),
    ],
)
def test_unknown_names_list_what_is_known(asked, message):
    with pytest.raises(ValueError, match=message):
        Device.named(asked)


@pytest.mark.parametrize("asked", [90, 9.0, b"H200", ["H200"]])
def test_what_is_no_name(asked):
    with pytest.raises(TypeError, match="is not a name"):
        resolve(asked)


def test_resolve():
    h200 = Device.named("H200")
    assert resolve(h200) is h200
    assert resolve("sm_90") is h200
    with pytest.raises(FrozenInstanceError):
        h200.sm_count = 1


def test_without_a_gpu_the_default_is_the_h200(monkeypatch):
    monkeypatch.setattr(devices, "_cupy_sees_a_gpu", lambda: False)
    assert Device.present() is None
    assert resolve(None).name == "H200"


def test_without_cupy_there_is_no_gpu(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert devices._cupy_sees_a_gpu.__wrapped__() is False


H200_ATTRIBUTES = {
    "major": 9,
    "minor": 0,
    "sm_count": 132,
    "max_threads_per_sm": 2048,
    "max_threads_per_block": 1024,
    "max_blocks_per_sm": 32,
    "registers_per_sm": 65536,
    "registers_per_block": 65536,
    "smem_per_sm": 233472,
    "smem_per_block": 49152,
    "smem_per_block_optin": 232448,
    "smem_reserved_per_block": 1024,
    "l2_bytes": 62914560,
    "memory_clock_khz": 3_201_000,
    "memory_bus_bits": 6144,
}


def test_the_attributes_numbers_are_cudas():
    """The numbers that the driver is asked by, against CUDA's own header."""
    folder = nvidia_occupancy.header_folder()
    if folder is None:
        pytest.skip("needs CUDA's headers (pip: nvidia-cuda-runtime-cu12)")
    header = (folder / "driver_types.h").read_text()
    ours = Path(devices.__file__).read_text()
    named = dict(re.findall(r'"(\w+)": \d+,  # (cudaDevAttr\w+)', ours))
    assert named.keys() == devices._ATTRIBUTES.keys() == H200_ATTRIBUTES.keys()
    for field, constant in named.items():
        assert re.search(rf"{constant}\s*=\s*{devices._ATTRIBUTES[field]},", header), constant


def test_a_gpu_is_what_its_driver_says():
    device = devices.from_attributes("NVIDIA H200", H200_ATTRIBUTES)
    named = Device.named("H200")
    assert {**vars(device), "source": ""} == {**vars(named), "source": ""}


def test_a_slice_of_a_gpu_has_its_own_number_of_sms():
    device = devices.from_attributes("NVIDIA H200 MIG 1g.18gb", {**H200_ATTRIBUTES, "sm_count": 16})
    assert (device.sm_count, device.name) == (16, "H200 MIG 1g.18gb")
    assert device.memory_bandwidth == pytest.approx(4.917e12, rel=1e-3)


def test_a_newer_gpu_says_what_is_assumed():
    device = devices.from_attributes("NVIDIA X", {**H200_ATTRIBUTES, "major": 13, "minor": 0, "memory_clock_khz": 0})
    assert (device.arch, device.memory_bandwidth) == ("sm_130", None)
    assert "assumed as of 12.1" in device.source


def test_an_older_gpu_is_none():
    assert devices.from_attributes("NVIDIA GeForce GTX 1080", {**H200_ATTRIBUTES, "major": 6, "minor": 1}) is None


@pytest.mark.gpu
def test_the_gpu_present():
    device = Device.present()
    assert device is not None
    assert resolve(None) == device
    assert device.sm_count > 0
    named = next((d for d in KNOWN if d.name == device.name), None)
    if named:
        assert {**vars(device), "source": ""} == {**vars(named), "source": ""}


def test_a_name_has_the_article_of_its_first_letter_as_it_is_said():
    with_an = {device.name for device in KNOWN if with_article(device.name).startswith("an ")}
    assert with_an == {device.name for device in KNOWN if device.name[0] in "AHLR"}
    assert with_article("GH200") == "a GH200"
    assert with_article("H100 PCIe", first=True) == "An H100 PCIe"
    assert with_article("B200", first=True) == "A B200"
