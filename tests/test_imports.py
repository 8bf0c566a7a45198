"""What the package imports, and what `import softlab` costs. The layers are in pyproject.toml (import-linter)."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import softlab
from softlab.plans import resources

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "softlab"

#: Packages that take long to import; only views and explorers may load one when they are imported themselves.
HEAVY = {"cupy", "plotly", "ipywidgets", "anywidget", "pandas", "tqdm", "rich", "IPython", "matplotlib"}
MAY_LOAD_HEAVY = {"views", "explorers"}


@dataclass(frozen=True)
class Import:
    """An import of `module` (dotted) by a package of softlab; `at_load`: it runs when the package is loaded."""

    package: str
    location: str
    module: str
    at_load: bool


def imports_of(path: Path) -> Iterator[Import]:
    """Every import of a module, those inside functions included; those for type checkers alone left out."""
    relative = path.relative_to(PACKAGE)
    package = relative.parts[0].removesuffix(".py")
    parents = ["softlab", *relative.parts[:-1]]

    def visit(node: ast.AST, at_load: bool) -> Iterator[Import]:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            at_load = False
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = parents[: len(parents) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            # `from softlab import plans` may name a module or an attribute: both begin with the package.
            modules = [f"{origin}.{alias.name}" for alias in node.names] if origin == "softlab" else [origin]
        location = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
        yield from (Import(package, location, module, at_load) for module in modules)
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr):  # an import is a statement
                yield from visit(child, at_load)

    yield from visit(ast.parse(path.read_text()), True)


def all_imports() -> list[Import]:
    return [found for path in sorted(PACKAGE.rglob("*.py")) for found in imports_of(path)]


def test_no_more_than_ten_modules_at_the_root():
    assert len(list(PACKAGE.glob("*.py"))) <= 10


def test_the_layers_cover_every_module_and_are_checked():
    """`make test-style` runs import-linter; here: it has a contract that leaves out nothing."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    assert config["exclude_type_checking_imports"] is False
    assert any(contract["type"] == "layers" and contract["exhaustive"] for contract in config["contracts"])
    assert "lint-imports" in (ROOT / "Makefile").read_text()


def test_heavy_packages_are_imported_late():
    early = [
        f"{entry.location}: {entry.module}"
        for entry in all_imports()
        if entry.at_load and entry.module.split(".")[0] in HEAVY and entry.package not in MAY_LOAD_HEAVY
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
    if "plan(" in use and not resources.shipped().belongs_to("softmax_block_smem.cuh"):
        pytest.skip("the table of registers is stale, so that the plan compiles its kernels")
    code = f"import sys, softlab{use}; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    assert HEAVY & set(in_a_new_python(code).split()) == set()


def test_import_takes_under_300_ms():
    code = "import time; t = time.perf_counter(); import softlab; print(time.perf_counter() - t)"
    # The best of three: the question is what softlab does, not what else the machine is doing.
    assert min(float(in_a_new_python(code)) for _ in range(3)) < 0.3


def test_every_public_name_is_there():
    missing = [name for name in softlab.__all__ if not hasattr(softlab, name)]
    assert missing == []
