"""Plans and records are frozen: nobody changes what another one keeps."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

import softlab

ROOT = Path(softlab.__file__).parent
#: Opcodes are registered once, so their modules cannot run a second time.
MODULES = sorted(path for path in ROOT.rglob("*.py") if "\n@dataclass" in path.read_text() and
                 path.parent.name != "opcodes")  # fmt: skip
#: What changes while something runs.
STATES = {
    "softlab.bench.record.fast._Session",
    "softlab.cuda.file_items.File",
    "softlab.cuda.file_items.Item",
    "softlab.cuda.outlines._Braces",
    "softlab.cuda.outlines._Group",
    "softlab.emulator.machine.group_registers._State",
    "softlab.emulator.machine.region_runs._Calls",
    "softlab.emulator.machine.schedule._Arrival",
    "softlab.emulator.memory.bulk_copies._ToGlobal",
    "softlab.emulator.memory.copies.Fetch",
    "softlab.emulator.ptx.calls._SharedCopy",
    "softlab.emulator.ptx.tokens.Token",
    "softlab.findings.FaultSink",
    "softlab.instruments.barrier_bypass._Waiting",
    "softlab.instruments.cluster_hazards._LastRemoteAccess",
    "softlab.instruments.early_arrivals._Passed",
    "softlab.instruments.happens_before._Far",
    "softlab.instruments.lone_accesses._Found",
    "softlab.instruments.parts_of_warps._Part",
    "softlab.instruments.patterns._Repeated",
    "softlab.kernel.mangled_names._Reader",
    "softlab.sass.loop_code._Stage",
    "softlab.sass.machine.Run",
    "softlab.site.build.Site",
    "softlab.site.course_pages.LessonPage",
    "softlab.site.lessons.Executed",
    "softlab.site.links.Links",
    "softlab.site.sweeps.Sweep",
    "softlab.timing.residents.SmRun",
    "softlab.timing.slowest.Waits",
}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_records_are_frozen(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module runs anew, under another name."""
    name = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
    spec = importlib.util.spec_from_file_location(f"{name}_anew", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == spec.name]
    states = {
        f"{name}.{kind.__name__}"
        for kind in kinds
        if "__dataclass_params__" in vars(kind) and not kind.__dataclass_params__.frozen
    }
    assert states == {state for state in STATES if state.rpartition(".")[0] == name}
