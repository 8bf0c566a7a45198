"""The table of edges: what softlab, PyTorch and CuPy give where a softmax can go wrong, side by side.

    python -m tests.hardware.edges [OUT.json]       # on a GPU; prints Markdown, and records into OUT.json
    python -m tests.hardware.edges show             # the recorded table as Markdown; needs no GPU

Each library works in a process of its own. One that brings its process or its GPU context down is noted with that, and
goes on with the next edge in a new process.
"""

from __future__ import annotations

import datetime
import json
import os
import selectors
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.edge_cases import EDGES, LIBRARIES, RIGHT, verdict

RECORDING = Path(__file__).parent.parent / "data" / "edges_h200.json"
#: Seconds for one edge; the first of a process has the import and the first compilation with it.
_PATIENCE = 90.0
_EMULATOR = "softlab, emulator"
_COMMAND = (sys.executable, "-m", "tests.hardware.edges", "--work")


def table(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """EdgeCase -> library -> verdict."""
    columns = {name: _column(name) for name in names}
    return {edge.name: {name: columns[name][edge.name] for name in names} for edge in EDGES}


def _column(library: str) -> dict[str, str]:
    found: dict[str, str] = {}
    while len(found) < len(EDGES):
        for name, said in _worked(library, len(found)):
            found[name] = said
    return found


def _worked(library: str, start: int) -> Iterator[tuple[str, str]]:
    """(edge, verdict) for the edges from a number on, until the process ends; for the edge that ended it, how."""
    with subprocess.Popen(
        [*_COMMAND, library, str(start)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    ) as process:
        done = start
        for line in _lines(process):
            answer = json.loads(line)
            yield answer["edge"], answer["verdict"]
            done += 1
            if answer["context_lost"]:
                process.kill()
                return
        if done < len(EDGES):
            killed = process.poll() is None
            process.kill()
            _, errors = process.communicate()
            last = (errors.decode(errors="replace").strip().splitlines() or [""])[-1]
            how = f"no answer in {_PATIENCE:.0f} s" if killed else f"process ended with {process.returncode}: {last}"
            yield EDGES[done].name, how[:200]


def _lines(process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """The lines that a process writes, until it ends or is silent for too long."""
    assert process.stdout
    kept = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while selector.select(_PATIENCE):
            chunk = os.read(process.stdout.fileno(), 1 << 16)
            if not chunk:
                process.wait()
                return
            *whole, kept = (kept + chunk).split(b"\n")
            yield from whole


def work(library: str, start: int) -> None:
    """Answer for each edge from a number on: a line of JSON on standard output."""
    made = LIBRARIES[library]()
    for edge in EDGES[start:]:
        said = "not run: too big" if edge.big and library == _EMULATOR else verdict(edge, made)
        lost = library != _EMULATOR and not _context_is_alive()
        answer = {"edge": edge.name, "verdict": said, "context_lost": lost}
        print(json.dumps(answer), flush=True)


def _context_is_alive() -> bool:
    """Whether the GPU still answers; and its memory is given back for the next edge."""
    import cupy

    try:
        cupy.cuda.runtime.deviceSynchronize()
        cupy.get_default_memory_pool().free_all_blocks()
    except cupy.cuda.runtime.CUDARuntimeError:
        return False
    if "torch" in sys.modules:
        sys.modules["torch"].cuda.empty_cache()
    return True


def markdown(found: dict[str, dict[str, str]]) -> str:
    """The table as Markdown."""
    names = list(next(iter(found.values())))
    lines = ["| edge | " + " | ".join(names) + " |", "|" + "---|" * (len(names) + 1)]
    for edge, verdicts in found.items():
        cells = [verdicts[name].replace("|", "\\|") for name in names]
        lines.append("| " + " | ".join([edge, *cells]) + " |")
    totals = [sum(verdicts[name].startswith(RIGHT) for verdicts in found.values()) for name in names]
    lines.append("| **right** | " + " | ".join(f"{total} of {len(found)}" for total in totals) + " |")
    return "\n".join(lines)


def _versions() -> dict[str, Any]:
    import cupy
    import torch
    from cupy.cuda import runtime

    return {
        "device": runtime.getDeviceProperties(runtime.getDevice())["name"].decode(),
        "versions": {"CuPy": cupy.__version__, "PyTorch": torch.__version__, "CUDA": runtime.runtimeGetVersion()},
    }


def main(arguments: Sequence[str]) -> int:
    """The command line."""
    if arguments[:1] == ["--work"]:
        work(arguments[1], int(arguments[2]))
        return 0
    if arguments[:1] == ["show"]:
        print(markdown(json.loads(RECORDING.read_text())["edges"]))
        return 0
    found = table(list(LIBRARIES))
    print(markdown(found))
    if arguments:
        about = "What softlab, PyTorch and CuPy give at the edges of row softmax"
        head = {"about": about, "date": datetime.date.today().isoformat(), "command": "python -m tests.hardware.edges"}
        Path(arguments[0]).write_text(json.dumps({**head, **_versions(), "edges": found}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
