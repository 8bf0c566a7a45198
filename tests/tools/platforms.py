"""Whether constraints.txt can be installed from wheels on every platform that README names.

    python -m tests.tools.platforms UV      (make test-platforms; UV: the program)

Nothing is installed. The resolver reads what the index says about each package.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: uv's names of Macs with Apple's and Intel's processors, Windows, and Linux on Arm and x86-64.
PLATFORMS = ("aarch64-apple-darwin", "x86_64-apple-darwin", "x86_64-pc-windows-msvc", "aarch64-manylinux_2_28",
             "x86_64-manylinux_2_28")  # fmt: skip


def problem(uv: str, platform: str) -> str:
    """Why the packages of ``make lab`` cannot be installed there; "" if they can."""
    command = [uv, "pip", "compile", "pyproject.toml", "--extra", "cuda12", "--extra", "lab", "--quiet"]
    command += ["--constraint", "constraints.txt", "--python-version", "3.11", "--python-platform", platform]
    done = subprocess.run([*command, "--only-binary", ":all:"], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stderr.strip() or "no reason given" if done.returncode else ""


def main(uv: str) -> int:
    """Try every platform; 1 where one fails."""
    failed = 0
    for platform in PLATFORMS:
        why = problem(uv, platform)
        print(f"{platform}: {why or 'every package has a wheel'}")
        failed += bool(why)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "uv"))
