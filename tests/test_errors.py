"""The errors: every one survives pickling, as a process pool needs, and carries its fields."""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from softlab.cuda.disassembly import DisassemblyError
from softlab.emulator.memory.allocations import ReadOnlyArray
from softlab.errors import (
    CompileError,
    Error,
    EstimateError,
    FaultSite,
    KernelFault,
    PlanError,
    UnsupportedInstruction,
    first_line,
)
from softlab.magics.command import UsageError
from softlab.sass.faults import MachineFault
from softlab.sass.streams import Space
from softlab.timing.program import UnknownInstruction

SITE = FaultSite(line=3, thread=(1, 2, 3), block=(4, 5, 6), address=-8, argument=1)
OF_MACHINE_CODE = MachineFault("misaligned", "the thread reads", SITE)
OF_MACHINE_CODE.space = Space.SHARED
ERRORS = (
    Error("a", 1),
    CompileError("it does not compile", log="kernel.cu(1): error"),
    PlanError("1025 threads per block"),
    UnsupportedInstruction("not known", instruction="wgmma", line=7),
    KernelFault("misaligned", "the thread reads", SITE),
    OF_MACHINE_CODE,
    DisassemblyError("nvdisasm is missing"),
    UsageError("--grid is no number"),
    EstimateError("no estimate of a kernel for sm_80"),
    UnknownInstruction("no pipe for HMMA"),
    ReadOnlyArray("the kernel writes to argument 0"),
)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_round_trips_through_pickle(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert again.args == error.args
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_every_error_of_the_package_is_tried():
    def below(kind):
        return {kind}.union(*map(below, kind.__subclasses__()))

    assert below(Error) <= {type(error) for error in ERRORS}


def test_errors_come_back_from_a_process():
    """As from a parameter sweep: an error that cannot be restored hangs or breaks the pool."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool, pytest.raises(KernelFault) as caught:
        pool.submit(_fail).result(timeout=60)
    assert (caught.value.kind, caught.value.line) == ("misaligned", 3)


def _fail():
    raise KernelFault("misaligned", "the thread reads", SITE)


def test_a_fault_has_the_fields_of_its_site():
    fault = KernelFault("misaligned", "the thread reads", SITE)
    assert {name: getattr(fault, name) for name in vars(SITE)} == vars(SITE)


def test_the_first_line_of_a_fault_has_the_line_of_the_source():
    fault = KernelFault("misaligned", "misaligned: it reads\n  at line 3", SITE)
    assert first_line(fault) == "misaligned: it reads (line 3)"
    assert first_line(KernelFault("misaligned", "misaligned: it reads.")) == "misaligned: it reads"
    assert first_line(ValueError("odd.\nmore")) == "odd"


def test_an_unknown_kind_of_fault_is_refused():
    with pytest.raises(ValueError, match="'typo' is not one of"):
        KernelFault("typo", "what")
