"""Print constraints.txt: the version of every package that softlab's extras installed in this environment.

Names and versions only, no hosts and no paths, so that it means the same with every index. `make constraints` runs it
in a fresh environment; see there.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import distributions

#: pip and setuptools come with the environment (of some Python versions); softlab is what is being installed.
LEFT_OUT = {"pip", "setuptools", "softlab"}

HEADER = """\
# The exact versions that `make lab` and `make test` install. Written by `make constraints`; do not edit by hand.
"""


def canonical(name: str) -> str:
    """The name as package indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def constraints() -> str:
    """The text of constraints.txt for the environment that runs this."""
    versions = {canonical(found.metadata["Name"]): found.version for found in distributions()}
    pins = [f"{name}=={versions[name]}" for name in sorted(versions) if name not in LEFT_OUT]
    return HEADER + "\n".join(pins) + "\n"


if __name__ == "__main__":
    sys.stdout.write(constraints())
