"""Occupancy against NVIDIA's own arithmetic (``cuda_occupancy.h``), and what it says of bad input."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

import softlab
from softlab.cuda import compile as compiler
from softlab.hardware import devices, occupancies
from softlab.hardware.devices import Device
from softlab.plans import instantiations
from tests import nvidia_occupancy

DEVICES = [Device.named(name) for name in devices.names()]


@pytest.fixture(scope="session")
def oracle(tmp_path_factory):
    try:
        return nvidia_occupancy.Oracle(tmp_path_factory.mktemp("oracle"), DEVICES)
    except nvidia_occupancy.Unavailable as reason:
        pytest.skip(str(reason))


def random_cases(n: int, seed: int):
    """Device, threads, registers, static and dynamic shared memory, opt-in; half of them near an edge."""
    rng = np.random.default_rng(seed)
    which = rng.integers(0, len(DEVICES), n)
    threads = np.where(rng.random(n) < 0.5, rng.integers(1, 1025, n), 32 * rng.integers(1, 33, n))
    registers = np.where(rng.random(n) < 0.5, rng.integers(0, 270, n), 8 * rng.integers(0, 34, n))
    edges = np.array(
        [0, 1, 16 << 10, 32 << 10, 48 << 10, 64 << 10, 96 << 10, 99 << 10, 163 << 10, 164 << 10, 227 << 10]
    )
    near = np.maximum(0, rng.choice(edges, n) + rng.integers(-300, 301, n))
    smem = np.where(rng.random(n) < 0.5, rng.integers(0, 240 << 10, n), near)
    fixed = np.minimum(smem, rng.integers(0, 2, n) * rng.integers(0, 49 << 10, n))
    return which, threads, registers, fixed, smem - fixed, rng.integers(0, 2, n)


def test_a_million_cases_equal_nvidias_header(oracle):
    which, threads, registers, fixed, dynamic, opt_in = random_cases(1_000_000, seed=20)
    expected = oracle.ask(which, threads, registers, fixed, dynamic, opt_in)
    fields = occupancies.columns(DEVICES)
    gathered = SimpleNamespace(**{name: getattr(fields, name)[which] for name in LIMIT_FIELDS})
    found = occupancies.limits(gathered, threads, registers, fixed + dynamic, opt_in)
    for name, ours, theirs in zip(occupancies.LIMITERS, found, expected[:, 1:5].T, strict=True):
        wrong = np.flatnonzero(ours != theirs)
        assert not len(wrong), (
            name,
            [(int(a[k]), DEVICES[which[k]].name) for k in wrong[:1] for a in (threads, theirs)],
        )
    assert (np.minimum.reduce(found) == expected[:, 0]).all()
    assert 0.2 < (expected[:, 0] > 0).mean() < 0.95


LIMIT_FIELDS = (
    "warp_size", "max_threads_per_block", "max_threads_per_sm", "register_allocation_unit", "sub_partitions",
    "registers_per_block", "registers_per_sm", "smem_reserved_per_block", "smem_allocation_unit",
    "smem_per_block_optin", "smem_per_block", "smem_per_sm", "max_blocks_per_sm",
)  # fmt: skip


def test_the_public_record_equals_nvidias_header(oracle):
    cases = random_cases(5000, seed=21)
    expected = oracle.ask(*cases)
    bits = {"threads": 1, "registers": 2, "smem": 4, "blocks": 8}
    for (which, threads, registers, fixed, dynamic, opt_in), row in zip(np.array(cases).T, expected, strict=True):
        device = DEVICES[which]
        found = softlab.occupancy(
            device, threads=threads, registers=registers, smem=fixed + dynamic, opt_in=bool(opt_in)
        )
        assert found.blocks_per_sm == row[0]
        assert list(found.limits.values()) == list(row[1:5])
        assert sum(bits[name] for name in found.limiters) == row[5] & 15
        warps = -(-int(threads) // 32)
        assert found.warps_per_sm == row[0] * warps <= device.max_threads_per_sm // 32
        assert found.fraction == row[0] * warps / (device.max_threads_per_sm / 32)
        assert bool(found.reason) == (row[0] == 0)


def test_best_block_size_equals_nvidias_header(oracle):
    rng = np.random.default_rng(22)
    for _ in range(300):
        device = DEVICES[rng.integers(len(DEVICES))]
        registers, smem = int(rng.integers(0, 256)), int(rng.choice([0, 0, 3000, 20_000, 48 << 10, 60_000]))
        grid, block = oracle.best(device, registers, smem)
        found = occupancies.table(device, registers=registers, smem=smem)
        assert occupancies.best_block_size(found) == block
        if block:
            assert found["blocks_per_sm"][found["threads"] == block] * device.sm_count == grid


def test_known_example():
    """A100, 256 threads of 64 registers: 8 warps of 2048 registers; 65536 / 16384 = 4 blocks, half of the warps."""
    found = softlab.occupancy("A100", threads=256, registers=64)
    assert (found.blocks_per_sm, found.warps_per_sm, found.fraction, found.limiters) == (4, 32, 0.5, ("registers",))
    assert found.registers_per_block == 16384
    assert "4 blocks, 32 of 64 warps (50%), limited by registers" in str(found)


def test_all_limiters_that_bind_are_named():
    found = softlab.occupancy("H200", threads=64, registers=32, smem=6 << 10)
    assert found.limiters == ("threads", "registers", "smem", "blocks")
    assert found.blocks_per_sm == 32


def test_a_resource_that_is_not_used_has_no_limit():
    found = softlab.occupancy("T4", threads=32, registers=0)
    assert found.limits["registers"] == found.limits["smem"] == occupancies.UNLIMITED
    assert found.record()["limits"] == {"threads": 32, "registers": None, "smem": None, "blocks": 16}
    assert "smem no limit" in str(found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"threads": 0, "registers": 32}, r"threads = 0: a block of H200 has 1 to 1024 threads, 1 too few"),
        ({"threads": 2000, "registers": 32}, r"threads = 2000: .* 1 to 1024 threads, 976 too many"),
        ({"threads": -3, "registers": 32}, r"threads = -3: .* 4 too few"),
        ({"threads": 32, "registers": -1}, r"registers = -1: .* 1 too few"),
        ({"threads": 32, "registers": 32, "smem": -512}, r"smem = -512: .* 512 too few"),
    ],
)
def test_impossible_values_say_which_limit_and_by_how_much(arguments, message):
    with pytest.raises(ValueError, match=message):
        softlab.occupancy("H200", **arguments)


@pytest.mark.parametrize("value", [True, 2.0, "32", None])
def test_values_must_be_integers(value):
    for name in ("threads", "registers", "smem"):
        with pytest.raises(TypeError, match=f"{name}"):
            softlab.occupancy("H200", **{"threads": 32, "registers": 32, "smem": 0, name: value})


def test_unknown_device():
    with pytest.raises(ValueError, match=r"unknown device 'H2000'\. Did you mean H200"):
        softlab.occupancy("H2000", threads=32, registers=32)


@pytest.mark.parametrize(
    ("arguments", "limiters", "reason"),
    [
        (
            {"threads": 1024, "registers": 70},
            ("registers",),
            "73728 of a block's 65536: 8192 .* 64 per thread",
        ),
        ({"threads": 32, "registers": 300}, ("registers",), "300 per thread, at most 255: 45 too many"),
        (
            {"threads": 32, "registers": 9, "smem": 232_449},
            ("smem",),
            "232449 bytes per block, at most 232448: 1 too many",
        ),
        (
            {"threads": 32, "registers": 9, "smem": 49_200, "opt_in": False},
            ("smem",),
            "49152; with opt-in 232448: 48 too",
        ),
        ({"threads": 1024, "registers": 255, "smem": 1 << 20}, ("registers", "smem"), "registers: .* smem: "),
    ],
)
def test_what_does_not_fit_says_why(arguments, limiters, reason):
    found = softlab.occupancy("H200", **arguments)
    assert (found.blocks_per_sm, found.fraction, found.limiters) == (0, 0.0, limiters)
    assert re.search(reason, found.reason)
    assert "does not fit" in str(found)


def test_the_registers_named_in_the_reason_do_fit():
    for threads in range(1, 1025, 13):
        found = softlab.occupancy("H200", threads=threads, registers=255)
        if found.reason:
            most = int(found.reason.split("at most ")[1].split()[0])
            assert softlab.occupancy("H200", threads=threads, registers=most).blocks_per_sm > 0
            assert softlab.occupancy("H200", threads=threads, registers=most + 1).blocks_per_sm == 0


def test_occupancy_of_compiled_kernels():
    program = SimpleNamespace(arch="sm_90", registers=40, static_smem_bytes=1024)
    alone = softlab.occupancy("H200", threads=256, registers=40, smem=9 << 10)
    assert softlab.occupancy(program, threads=256, smem=8 << 10) == alone
    assert softlab.occupancy(SimpleNamespace(program=program), threads=256, smem=8 << 10) == alone
    for arguments, message in (({}, "give threads="), ({"threads": 32, "registers": 9}, "leave registers out")):
        with pytest.raises(TypeError, match=message):
            softlab.occupancy(program, **arguments)
    with pytest.raises(TypeError, match="not list"):
        softlab.occupancy([1], threads=32, registers=32)


def test_table_agrees_with_single_queries_and_is_made_for_pandas():
    columns = occupancies.table("RTX 4090", threads=[32, 100, 1024], registers=[0, 40, 128], smem=[0, 30_000])
    assert {len(column) for column in columns.values()} == {18}
    for k in range(18):
        case = {name: int(columns[name][k]) for name in ("threads", "registers", "smem")}
        single = softlab.occupancy("RTX 4090", **case)
        assert columns["blocks_per_sm"][k] == single.blocks_per_sm
        assert columns["fraction"][k] == single.fraction
        assert tuple(n for n in occupancies.LIMITERS if columns[f"limited_by_{n}"][k]) == single.limiters
        assert {n: columns[f"limit_{n}"][k] for n in occupancies.LIMITERS} == single.limits
    frame = pytest.importorskip("pandas").DataFrame(columns)
    assert frame.loc[frame.blocks_per_sm == 0, "threads"].tolist() == [1024, 1024]


def test_table_checks_its_values():
    with pytest.raises(ValueError, match="threads = 2000"):
        occupancies.table("H200", threads=[32, 2000])


@pytest.mark.gpu
def test_ten_thousand_cases_equal_the_driver():
    """Our real kernels on the GPU present, with and without opt-in, against the driver's own query."""
    from cupy.cuda import driver
    from cupy.cuda.function import Module

    device = Device.present()
    rng = np.random.default_rng(23)
    kernels = list(instantiations.tabulated())
    chosen = [kernels[k] for k in rng.choice(len(kernels), 25, replace=False)]
    most_dynamic, checked = 8, 0  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    for kernel in chosen:
        source = compiler.kernel_sources()[kernel.file]
        program = compiler.compile_program(source, kernel.name, arch=device.arch, file=kernel.file)
        module = Module()
        module.load(program.cubin)
        function = module.get_function(program.entry).ptr
        bound = driver.funcGetAttribute(0, function)  # CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
        for opt_in in (False, True):
            if opt_in:
                room = device.smem_per_block_optin - program.static_smem_bytes
                driver.funcSetAttribute(function, most_dynamic, room)
            for threads in rng.integers(1, bound + 1, 200).tolist():
                dynamic = int(rng.integers(0, 230_000 if opt_in else 60_000))
                held = softlab.occupancy(
                    device,
                    threads=threads,
                    registers=program.registers,
                    smem=program.static_smem_bytes + dynamic,
                    opt_in=opt_in,
                )
                answer = driver.occupancyMaxActiveBlocksPerMultiprocessor(function, threads, dynamic)
                assert held.blocks_per_sm == answer, (kernel.name, threads, dynamic, opt_in)
                checked += 1
    assert checked == 10_000


@pytest.mark.parametrize(
    ("device", "threads", "registers", "smem", "registers_per_block", "allocated", "per_sm"),
    [
        ("H200", 128, 33, 1000, 4 * 1280, 2048, 1536),  # 40 registers per thread; 1024 bytes for the driver
        ("H200", 100, 40, 0, 4 * 1280, 1024, 1200),  # 12 blocks of 4 warps
        ("T4", 256, 32, 1000, 8 * 1024, 1024, 1024),  # compute capability 7.5: units of 256 bytes, no byte reserved
    ],
)
def test_what_a_block_gets_after_rounding(
    device: str, threads: int, registers: int, smem: int, registers_per_block: int, allocated: int, per_sm: int
) -> None:
    found = softlab.occupancy(device, threads=threads, registers=registers, smem=smem)
    assert (found.registers_per_block, found.smem_allocated) == (registers_per_block, allocated)
    assert found.threads_per_sm == per_sm


def test_a_table_of_cases_has_the_blocks_of_each() -> None:
    h200 = Device.named("H200")
    threads, smem = np.array([[32], [128], [1024]]), np.array([0, 50_000, 200_000])
    found = occupancies.blocks(h200, threads, 40, smem)
    one_by_one = [
        [softlab.occupancy(h200, threads=int(t), registers=40, smem=int(s)).blocks_per_sm for s in smem]
        for t in threads[:, 0]
    ]
    assert found.tolist() == one_by_one == [[32, 4, 1], [12, 4, 1], [1, 1, 1]]
