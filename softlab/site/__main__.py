"""``python -m softlab.site``: build the site (``make site``)."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from softlab.errors import Error
from softlab.site.build import Site, build, chosen_lessons
from softlab.site.cache import Cache


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the site in a checkout; 1 if it fails."""
    parser = argparse.ArgumentParser(prog="python -m softlab.site", description="Build the course as a static site.")
    parser.add_argument(
        "target", type=Path, nargs="?", default=Path("build/site"), help="the folder (default: %(default)s)"
    )
    parser.add_argument("--lessons", nargs="*", default=[], metavar="NUMBER", help="only these lessons")
    parser.add_argument("--no-reference", action="store_true", help="without the kernels, the documents and the API")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (default: %(default)s)")
    parser.add_argument(
        "--keep", type=Path, help="a folder that keeps what lessons and explorers gave, for the next build"
    )
    parser.add_argument("--repository", default="", metavar="OWNER/NAME", help="on GitHub, for links to Binder")
    options = parser.parse_args(arguments)
    start, root = time.perf_counter(), Path.cwd()
    try:
        chosen, kept = chosen_lessons(options.lessons), Cache(options.keep and options.keep.resolve())
        site = Site(
            root, options.target.resolve(), chosen, options.jobs, options.repository, not options.no_reference, kept
        )
        build(site)
    except Error as error:
        print(error, file=sys.stderr)
        return 1
    size = sum(path.stat().st_size for path in site.target.rglob("*") if path.is_file())
    print(f"{site.target}: {size / 1e6:.1f} MB in {time.perf_counter() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
