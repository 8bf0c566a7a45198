"""The wheel and the sdist: built, installed in an environment of its own, and used outside the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.tools.notebooks import NOTEBOOKS

ROOT = Path(__file__).resolve().parents[1]
LESSON = "0-first-kernel.ipynb"

# Building, an installation and a lesson take 20 seconds.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> dict[str, Path]:
    """The wheel and the sdist of this checkout. The wheel is made from the sdist, as an index would get them."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT], check=True, capture_output=True
    )
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return {"wheel": wheel, "sdist": sdist}


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """Run Python with arguments where only the wheel has softlab; what it needs comes from this environment."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    scheme = {"base": str(folder / "venv"), "platbase": str(folder / "venv")}
    packages = Path(sysconfig.get_path("purelib", "venv", scheme))
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if "softlab" not in package.name and package.suffix != ".pth":
            (packages / package.name).symlink_to(package)
    python = folder / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-compile", built["wheel"]], check=True)
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SOFTLAB_CACHE")}
    environment |= {"XDG_STATE_HOME": str(folder / "state"), "XDG_CACHE_HOME": str(folder / "cache")}

    def run(*arguments: object) -> str:
        command = [str(part) for part in (python, *arguments)]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run.folder = folder
    return run


def test_both_hold_what_softlab_looks_up(built):
    with zipfile.ZipFile(built["wheel"]) as wheel:
        names = set(wheel.namelist())
    for folder in ("kernels", "notebooks", "docs"):
        expected = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*") if path.is_file()}
        assert {f"softlab/share/{name}" for name in expected if ".ipynb_checkpoints" not in name} <= names
    assert not any(name.startswith("tests/") for name in names)
    with tarfile.open(built["sdist"]) as sdist:
        inside = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"README.md", "GLOSSARY.md", "constraints.txt", "tests/test_wheel.py", f"notebooks/{LESSON}"} <= inside


def test_softlab_comes_from_the_wheel(installed):
    where = installed("-c", "import softlab; print(softlab.__file__)").strip()
    assert Path(where).is_relative_to(installed.folder)


@pytest.mark.further
def test_doctor(installed):
    found = json.loads(installed("-m", "softlab", "doctor", "--json"))
    assert [item["name"] for item in found if item["essential"] and not item["present"]] == []


def test_a_kernel(installed):
    (installed.folder / "double.cu").write_text("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n")
    said = installed(
        "-m", "softlab", "run", "double.cu", "--grid", 1, "--block", 32, "--args", "x=arange(32)", "--check", "all"
    )
    assert "62" in said


@pytest.mark.further
def test_a_lesson_from_the_wheel(installed):
    said = installed("-m", "softlab", "lab", "--copy-only")
    copies = installed.folder / "softlab-course"
    assert str(copies) in said
    assert {path.name for path in copies.glob("*.ipynb")} == {path.name for path in NOTEBOOKS.glob("*.ipynb")}
    installed("-m", "nbconvert", "--execute", "--to", "notebook", "--output", "done", copies / LESSON)
    cells = json.loads((copies / "done.ipynb").read_text())["cells"]
    assert sum(bool(cell.get("outputs")) for cell in cells) > 5
