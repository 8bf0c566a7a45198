"""Record the speed at random lengths; see :mod:`softlab.bench.record.sweep`."""

from __future__ import annotations

import sys
from pathlib import Path

USAGE = "python -m softlab.bench.record.sweep prepare FOLDER [SEED] | measure FOLDER OUT | collect OUT FILE.json"


def main() -> None:
    """One of the commands, and its arguments. Each imports only what it needs."""
    command, *given = sys.argv[1:] or ["help"]
    if command == "prepare" and (len(given) == 1 or (len(given) == 2 and given[1].isdecimal())):
        from softlab.bench.record.sweep.prepare import prepare

        prepare(Path(given[0]), *map(int, given[1:]))
    elif command == "measure" and len(given) == 2:
        from softlab.bench.record.sweep.measure import measure

        measure(Path(given[0]), Path(given[1]))
    elif command == "collect" and len(given) == 2:
        from softlab.bench.record.sweep.collect import collect

        collect(Path(given[0]), Path(given[1]))
    else:
        raise SystemExit(USAGE)


if __name__ == "__main__":  # the worker processes of `prepare` import this module, too
    main()
