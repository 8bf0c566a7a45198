"""What the assembler made of small kernels, held to what a person reads in their machine code."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.cuda.disassembly import disassemble, find_nvdisasm
from softlab.instruments.control import ControlGraph
from softlab.instruments.listing import listing
from softlab.instruments.scoreboards import waits
from softlab.kernel import Kernel

needs_nvdisasm = pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm")


def run(body: str, *, block: int = 64, parameters: str = "", arguments: tuple = (), elements: int = 1024):
    """Run a kernel ``k(float* in, float* out ...)`` of one block and return (kernel, run)."""
    source = f'extern "C" __global__ void k(const float* in, float* out{parameters}) {{\n{body}\n}}\n'
    kernel = Kernel(source, "k")
    data = np.arange(elements, dtype=np.float32)
    return kernel, kernel.run(1, block, (data, np.zeros_like(data), *arguments))


PAIRS = """
__shared__ float buffer[256];
const int t = threadIdx.x;
buffer[4 * t] = in[t];
buffer[4 * t + 1] = in[t + 64];
buffer[4 * t + 2] = in[t + 128];
buffer[4 * t + 3] = in[t + 192];
__syncthreads();
out[t] = buffer[255 - t];
"""


@needs_nvdisasm
def test_four_stores_side_by_side_are_one_wide_store():
    _, result = run(PAIRS)
    assert result.level == "machine code"
    (fused,) = result.fused
    assert (fused.width, len(fused.parts)) == (16, 4)
    assert fused.text.startswith("STS.128")
    stores = [result.instructions.text[index] for index in fused.parts]
    assert all(text.startswith("st.shared.f32") for text in stores)
    # Two warps, a quarter of each at a time.
    assert result.counters["shared_store_instructions"] == 2
    assert result.counters["shared_store_wavefronts"] == 8
    assert result.counters["bank_conflicts"] == 0
    assert result.counters["shared_load_instructions"] == 2


@needs_nvdisasm
def test_records_have_the_access_as_the_machine_makes_it():
    _, result = run(PAIRS)
    stores = result.shared.select(result.shared.store)
    assert set(stores.width.tolist()) == {16}
    assert stores.address[0].tolist() == [16 * lane for lane in range(32)]
    assert set(stores.instruction.tolist()) == {result.fused[0].carrier}


@needs_nvdisasm
@pytest.mark.parametrize("grid", [1, 3])
def test_an_access_that_differs_between_blocks_is_as_wide(grid):
    source = PAIRS.replace("buffer[256]", "buffer[1024]").replace("buffer[4 * t", "buffer[256 * blockIdx.x + 4 * t")
    source = source.replace("buffer[255 - t]", "buffer[256 * blockIdx.x + 255 - t]")
    kernel = Kernel(f'extern "C" __global__ void k(const float* in, float* out) {{{source}}}', "k")
    numbers = np.arange(1024, dtype=np.float32)
    result = kernel.run(grid, 64, (numbers, np.zeros_like(numbers)), blocks=range(grid))
    assert [len(fused.parts) for fused in result.fused] == [4]
    stores = result.shared.select(result.shared.store)
    assert set(stores.width.tolist()) == {16}
    found = {(int(block), *row.tolist()) for block, row in zip(stores.block, stores.address, strict=True)}
    assert found == {
        (block, *range(1024 * block + 512 * warp, 1024 * block + 512 * warp + 512, 16))
        for block in range(grid)
        for warp in (0, 1)
    }


@needs_nvdisasm
def test_volatile_stores_stay_apart():
    _, result = run(PAIRS.replace("__shared__", "__shared__ volatile"))
    assert result.fused == ()
    assert result.counters["shared_store_instructions"] == 8
    assert result.counters["bank_conflicts"] == 8 * 3


@needs_nvdisasm
def test_a_predicated_access_is_issued_by_every_warp_and_moves_for_its_lanes_alone():
    _, result = run(
        """
        __shared__ float buffer[128];
        const int t = threadIdx.x;
        buffer[t] = in[t];
        __syncthreads();
        if (t < 16) buffer[t] += buffer[t + 64];
        __syncthreads();
        out[t] = buffer[t];
        """,
        block=128,
    )
    # 4 warps: a store and a load each, and two loads and a store that are predicated for 16 lanes of the first warp.
    assert result.counters["shared_load_instructions"] == 4 + 2 * 4
    assert result.counters["shared_load_wavefronts"] == 4 + 2
    assert result.counters["shared_store_instructions"] == 4 + 4
    assert result.counters["shared_store_wavefronts"] == 4 + 1


@needs_nvdisasm
def test_an_access_behind_a_branch_that_stays_is_issued_by_the_warps_that_take_it():
    _, result = run(
        """
        __shared__ float buffer[128];
        const int t = threadIdx.x;
        buffer[t] = in[t];
        __syncthreads();
        if (t < 16) {
          float sum = 0;
          for (int k = 0; k < turns; ++k) sum += sinf(buffer[t + k]) * in[k];
          buffer[t + 64] = sum;
        }
        __syncthreads();
        out[t] = buffer[t];
        """,
        block=128,
        parameters=", int turns",
        arguments=(3,),
    )
    assert result.counters["shared_load_instructions"] == 4 + 3
    assert result.counters["shared_load_wavefronts"] == 4 + 3


@needs_nvdisasm
def test_a_word_loaded_twice_is_loaded_once():
    kernel, result = run(
        """
        __shared__ float buffer[64];
        buffer[threadIdx.x] = in[threadIdx.x];
        __syncthreads();
        const float a = buffer[63 - threadIdx.x];
        float b;
        asm("ld.shared.f32 %0, [%1];" : "=f"(b) : "r"((unsigned)__cvta_generic_to_shared(&buffer[63 - threadIdx.x])));
        out[threadIdx.x] = a + b;
        """
    )
    loads = [
        a for a in kernel._emulated.machine_code.accesses.values() if "ld.shared" in result.instructions.text[a.index]
    ]
    assert len(loads) == 2
    assert result.counters["shared_load_instructions"] == 2 * sum(len(a.machine) for a in loads)


def test_control_dependence_of_a_loop_with_a_condition():
    #  0 -> 1 (head) -> 2 | 5;  2 -> 3 | 4;  3 -> 4;  4 -> 1;  5 -> end
    graph = ControlGraph([(1,), (2, 5), (3, 4), (4,), (1,), (6,)])
    assert graph.parents(3) == {2}
    assert graph.parents(2) == graph.parents(4) == graph.parents(1) == {1}
    assert graph.all_parents(3) == {1, 2}
    assert graph.parents(5) == graph.parents(0) == set()
    assert graph.dominates(1, 5)
    assert not graph.dominates(3, 4)


def test_a_block_that_is_never_reached_hurts_nobody():
    graph = ControlGraph([(1, 2), (2,), (4,), (3,)])  # 3 jumps to itself for ever
    assert graph.parents(1) == {0}
    assert graph.parents(2) == set()


@needs_nvdisasm
def test_the_listing_has_all_three_languages():
    kernel, result = run(PAIRS)
    found = listing(kernel, result)
    assert [line.text for line in found.lines] == kernel.program.source.splitlines()
    store = next(line for line in found.lines if line.text.startswith("buffer[4 * t + 2]"))
    assert "st.shared.f32" in " ".join(found.ptx[n].text for n in store.ptx)
    assert all(found.machine[n].source == store.number for n in store.machine)
    wide = next(line for line in found.machine if line.instruction.text.startswith("STS.128"))
    made = [ptx for ptx in found.ptx if wide in [found.machine[n] for n in ptx.machine]]
    assert [ptx.text.split()[0] for ptx in made] == ["st.shared.f32"]
    assert sum(found.heat("shared_store_instructions")) == result.counters["shared_store_instructions"]
    with pytest.raises(ValueError, match="there is no counter 'heat'"):
        found.heat("heat")


@needs_nvdisasm
def test_the_listing_names_who_sets_a_scoreboard():
    source = """__device__ __noinline__ float far(const float* x, int t) { return x[t] + x[t + 32] * x[t + 64]; }
extern "C" __global__ void k(const float* x, float* y) { y[threadIdx.x] = far(x, threadIdx.x) + far(y, 5); }"""
    kernel = Kernel(source, "k")
    machine = [line for line in listing(kernel).machine if line.waits]
    code, found = disassemble(kernel.program), listing(kernel).machine
    expected = [
        [(wait.scoreboard, [one.text for one in wait.setters]) for wait in waited]
        for function in code.functions
        for _, waited in sorted(waits(function, code.arch).items())
    ]
    told = [[(board, [found[n].instruction.text for n in at]) for board, at in one.waits] for one in machine]
    assert told == expected
    assert len({n for one in machine for _, at in one.waits for n in at}) > 3


def test_the_listing_without_nvdisasm_says_why(monkeypatch):
    monkeypatch.setattr("softlab.cuda.disassembly._tool", lambda: None)
    found = listing(run(PAIRS)[0])
    assert found.machine == ()
    assert "nvidia-cuda-nvdisasm" in found.why_no_machine_code
    assert any(line.ptx for line in found.lines)
