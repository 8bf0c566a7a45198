"""The counters of the emulator beside those that Nsight Compute recorded on a GPU, as a table.

``python -m tests.hardware.compare [text]``: all cases, or those that have the text in their name. The exit status says
whether all agree.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

from softlab.traces import Run
from tests.hardware.cases import CounterCase, all_cases
from tests.hardware.record import METRICS, WAVEFRONT_OPCODES, recording

#: The counters compared, in the order of the table.
COMPARED = (*METRICS, *WAVEFRONT_OPCODES)
_TITLES = {
    "shared_load_instructions": "LDS",
    "shared_store_instructions": "STS",
    "shared_load_wavefronts": "LDS waves",
    "shared_store_wavefronts": "STS waves",
    "global_load_requests": "LDG",
    "global_load_sectors": "LDG sectors",
    "global_store_requests": "STG",
    "global_store_sectors": "STG sectors",
}


@dataclass(frozen=True)
class CounterComparison:
    """One case: counter -> (emulator, hardware)."""

    name: str
    level: str
    counters: dict[str, tuple[int, int]]

    def differing(self, tolerance: float = 0.0) -> dict[str, tuple[int, int]]:
        """The counters that differ by more than this part of the hardware's."""
        return {name: pair for name, pair in self.counters.items() if abs(pair[0] - pair[1]) > tolerance * pair[1]}


def emulate(case: CounterCase) -> Run:
    """Run a case on the emulator."""
    how = case.launch()
    return how.made().run(how.grid, how.block, case.arguments(), smem=how.smem, check=False)


def comparisons(text: str = "") -> Iterator[CounterComparison]:
    """Every case that has a recording, run and compared."""
    recorded = recording()["cases"]
    for case in all_cases():
        if text in case.name and case.name in recorded:
            run = emulate(case)
            found = {name: (run.counters[name], recorded[case.name][name]) for name in COMPARED}
            yield CounterComparison(case.name, run.level, found)


def main() -> None:
    """Print the table: each counter as the emulator has it, with the hardware's in brackets where it differs."""
    print("case".ljust(52), *(_TITLES[name].rjust(14) for name in COMPARED))
    cases = equal = 0
    for found in comparisons(" ".join(sys.argv[1:])):
        cells = [f"{a}" if a == b else f"{a} [{b}]" for a, b in found.counters.values()]
        print(found.name.ljust(52), *(cell.rjust(14) for cell in cells), flush=True)
        cases += 1
        equal += not found.differing()
    print(f"{equal} of {cases} cases equal in all {len(COMPARED)} counters")
    sys.exit(equal != cases)


if __name__ == "__main__":
    main()
