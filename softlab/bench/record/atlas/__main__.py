"""Record the atlas of a GPU; see :mod:`softlab.bench.record.atlas`."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """One of the commands, and its paths. Each imports only what it needs: ``measure`` runs on a bare machine."""
    command, *arguments = sys.argv[1:] or ["help"]
    paths = list(map(Path, arguments))
    if command == "prepare" and paths:
        from softlab.bench.record.atlas.prepare import prepare

        prepare(paths[0], arguments[1:] or [""])
    elif command == "measure" and len(paths) == 2:
        from softlab.bench.record.atlas.measure import measure

        measure(paths[0], paths[1])
    elif command == "rows" and len(paths) == 3:
        from softlab.bench.record.atlas.measure import rows

        rows(paths[0], paths[1], int(arguments[2]))
    elif command == "collect" and len(paths) in (1, 2):
        from softlab.bench.record.atlas.collect import collect

        collect(*paths)
    elif command == "add" and len(paths) == 1:
        from softlab.bench.record.atlas.collect import add

        add(paths[0])
    else:
        raise SystemExit(
            "python -m softlab.bench.record.atlas prepare FOLDER [KEY..] | measure FOLDER OUT | "
            "collect OUT [WITHHELD] | add OUT"
        )


if __name__ == "__main__":
    main()
