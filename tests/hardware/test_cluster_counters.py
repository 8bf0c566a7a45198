"""Clusters, asynchronous copies and mbarriers: the emulator beside what an H200 computed and counted, no tolerance."""

from __future__ import annotations

import json

import numpy as np
import pytest

from softlab.cuda.disassembly import find_nvdisasm
from softlab.kernel import Kernel
from tests.hardware.cluster_cases import RECORDING, ClusterCase, cluster_cases
from tests.sampled import each

CASES = {case.name: case for case in cluster_cases()}
#: softlab's counter -> the metric of Nsight Compute.
METRICS = {
    "shared_load_instructions": "smsp__inst_executed_op_shared_ld.sum",
    "shared_store_instructions": "smsp__inst_executed_op_shared_st.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "dshared_load_requests": "l1tex__t_requests_pipe_lsu_mem_dshared_op_ld.sum",
    "dshared_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_dshared_op_ld.sum",
    "dshared_store_requests": "l1tex__t_requests_pipe_lsu_mem_dshared_op_st.sum",
    "dshared_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_dshared_op_st.sum",
}
#: Where the machine code does what cannot be told from it: a float addition there is a loop of a load and a
#: compare-and-swap.
NOT_COMPARED = {"add words": {"dshared_load_requests", "dshared_load_sectors"}}
needs_nvdisasm = pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")


@pytest.fixture(scope="module")
def recording():
    with np.load(RECORDING) as file:
        return dict(file)


@pytest.fixture(scope="module")
def counted(recording) -> dict[str, dict[str, int]]:
    return json.loads(bytes(recording["about"]))["cases"]


def test_every_case_has_a_recording(counted):
    assert set(counted) == set(CASES)
    assert all(set(METRICS.values()) <= set(case) for case in counted.values())


@needs_nvdisasm
@pytest.mark.parametrize("case", each(2, CASES.values()), ids=CASES)
def test_results_and_counters_are_those_of_the_hardware(case: ClusterCase, recording, counted):
    arguments = case.arguments()
    run = Kernel.from_program(case.compile()).run(case.grid, case.block, arguments, case.smem)
    for number, array in enumerate(a for a in arguments if a.ndim):
        assert array.tobytes() == recording[f"{case.name} {number}"].tobytes()
    assert run.level == "machine code"
    compared = set(METRICS) - NOT_COMPARED.get(case.name, set())
    ours = {name: run.counters[name] for name in compared}
    assert ours == {name: counted[case.name][METRICS[name]] for name in compared}
