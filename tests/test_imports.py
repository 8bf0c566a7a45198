"""The table "Rooms" of CONTRIBUTING.md against the imports that are really there, and what `import softlab` costs."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import softlab

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "softlab"

#: Packages that take long to import; only views and explorers may load one when they are imported themselves.
HEAVY = {"cupy", "plotly", "ipywidgets", "anywidget", "pandas", "tqdm", "rich", "IPython", "matplotlib"}
HEAVY_ROOMS = {"views", "explorers"}
#: `import softlab` and `python -m softlab`: they only hand on.
ENTRANCES = {"__init__", "__main__"}
#: What a room may import without the table saying so.
ALWAYS = {"errors"}


@dataclass(frozen=True)
class Import:
    """One import of `module` (dotted) in a room, and whether it runs when the importing module is loaded."""

    room: str
    place: str
    module: str
    at_load: bool


def public_rooms() -> set[str]:
    """What the table calls the public API: the modules that softlab's public names come from."""
    return {*softlab._EXPORTS.values(), *softlab._MODULES}


def allowed_imports() -> dict[str, set[str]]:
    """Room -> rooms that it may import, read from CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    table: dict[str, set[str]] = {}
    for line in text.partition("## Rooms")[2].partition("\n## ")[0].splitlines():
        if not line.startswith("| `"):
            continue
        rooms, _, may = (cell.strip() for cell in line.strip("|").split("|"))
        names = [
            name.removeprefix("softlab/").rstrip("/").removesuffix(".py") for name in re.findall("`([^`]+)`", rooms)
        ]
        listed = {word.strip(" `") for word in may.split(",")} - {"-"}
        for name in names:
            table[name] = listed
    return table


def imports_of(path: Path) -> Iterator[Import]:
    """Every import of a module, those inside functions included; those for type checkers alone left out."""
    relative = path.relative_to(PACKAGE)
    room = relative.parts[0].removesuffix(".py")
    package = ["softlab", *relative.parts[:-1]]

    def visit(node: ast.AST, at_load: bool) -> Iterator[Import]:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            at_load = False
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            # `from softlab import plans` may name a module or an attribute: the room is the second part either way.
            modules = [f"{origin}.{alias.name}" for alias in node.names] if origin == "softlab" else [origin]
        place = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
        yield from (Import(room, place, module, at_load) for module in modules)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, at_load)

    yield from visit(ast.parse(path.read_text()), True)


def all_imports() -> list[Import]:
    return [found for path in sorted(PACKAGE.rglob("*.py")) for found in imports_of(path)]


def forbidden(imports: list[Import], allowed: dict[str, set[str]], public: set[str]) -> list[str]:
    """The imports between rooms that the table does not allow, as "place: room -> room"."""
    found = []
    for entry in imports:
        parts = entry.module.split(".")
        if parts[0] != "softlab" or entry.room in ENTRANCES:
            continue
        may = allowed[entry.room]
        # `import softlab` and `softlab.plan` reach the public names; only a room that may use them all may write it.
        target = parts[1] if len(parts) > 1 else "public API"
        target = softlab._EXPORTS.get(target, target)
        within = target in ALWAYS or target in may or target == entry.room or target == "__version__"
        if not within and not ("public API" in may and target in public):
            found.append(f"{entry.place}: {entry.room} -> {target}")
    return found


def test_every_room_is_in_the_table():
    rooms = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in PACKAGE.rglob("*.py")} - ENTRANCES
    assert rooms - set(allowed_imports()) == set()


def test_rooms_import_only_what_the_table_allows():
    assert forbidden(all_imports(), allowed_imports(), public_rooms()) == []


def test_the_table_has_no_circle():
    table = {room: may - {"public API", room} for room, may in allowed_imports().items()}
    done: set[str] = set()
    while layer := {room for room in set(table) - done if table[room] <= done}:
        done |= layer
    assert set(table) - done == set()


def test_a_wrong_import_is_found(tmp_path, monkeypatch):
    """The check above sees imports in functions, relative ones, and those of `softlab` itself."""
    (tmp_path / "softlab" / "views").mkdir(parents=True)
    wrong = {
        "traces.py": "def load():\n    from softlab.kernel import Kernel\n",
        "views/lanes.py": "from ..gpu import launch\nfrom . import colours\n",
        "devices.py": "import softlab\n",
        "gpu.py": "from softlab import plans, errors\n",
        "plans.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from softlab.kernel import Kernel\n",
    }
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    monkeypatch.setattr(f"{__name__}.PACKAGE", tmp_path / "softlab")
    for name, text in wrong.items():
        (tmp_path / "softlab" / name).write_text(text)
    table = {"traces": set(), "views": {"traces"}, "devices": set(), "gpu": {"traces"}, "plans": set()}
    assert forbidden(all_imports(), table, {"plans"}) == [
        "softlab/devices.py:1: devices -> public API",
        "softlab/gpu.py:1: gpu -> plans",
        "softlab/traces.py:2: traces -> kernel",
        "softlab/views/lanes.py:1: views -> gpu",
    ]


def test_heavy_packages_are_imported_late():
    early = [
        f"{entry.place}: {entry.module}"
        for entry in all_imports()
        if entry.at_load and entry.module.split(".")[0] in HEAVY and entry.room not in HEAVY_ROOMS
    ]
    assert early == []


def in_a_new_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout


@pytest.mark.parametrize(
    "use",
    [
        "",
        "; softlab.softmax, softlab.trace, softlab.Kernel, softlab.functional",
        "; softlab.plan(8, 2048, device='H200')",
    ],
    ids=["import", "every public module", "a plan"],
)
def test_no_heavy_package_is_loaded(use):
    code = f"import sys, softlab{use}; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    assert HEAVY & set(in_a_new_python(code).split()) == set()


def test_import_takes_under_300_ms():
    code = "import time; t = time.perf_counter(); import softlab; print(time.perf_counter() - t)"
    # The best of three: the question is what softlab does, not what else the machine is doing.
    assert min(float(in_a_new_python(code)) for _ in range(3)) < 0.3


def test_every_public_name_is_there():
    missing = [name for name in softlab.__all__ if not hasattr(softlab, name)]
    assert missing == []
