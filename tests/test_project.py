"""The project as files: nothing of one machine in it, versions pinned, notebooks as stored, true documents."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import softlab
from softlab import course
from tests.conftest import SLOW
from tests.tools import notebooks
from tests.tools.constraints import canonical

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("cuda12", "lab", "test")
TEXT_KINDS = {".py", ".md", ".cuh", ".cu", ".toml", ".txt", ".yml", ".json", ".ipynb", ".js", ".css", ".csv", ""}
DOCUMENTS = (
    *(
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "GLOSSARY.md",
        "kernels/README.md",
        "kernels/FAST.md",
        "kernels/LADDER.md",
    ),
    *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")),
)


@cache
def files() -> tuple[Path, ...]:
    """The project's files: what git tracks, or, where there is no git, what the folder has."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        paths = [ROOT / name for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        built = {".venv", "build", "dist", "__pycache__"}
        paths = [
            path
            for path in ROOT.rglob("*")
            if not any(part in built or part.endswith("_cache") for part in path.relative_to(ROOT).parts)
        ]
    return tuple(path for path in sorted(paths) if path.is_file())


def texts() -> list[tuple[str, str]]:
    """Name and text of every text file."""
    return [(str(path.relative_to(ROOT)), path.read_text("utf-8")) for path in files() if path.suffix in TEXT_KINDS]


def first_of(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found.group(0) if found else ""


# A folder of some person's machine, a temporary file of a kernel. Written so that this file does not hold one.
MACHINE_PATH = r"(?<![\w.])/(?:home|Users|root|work|opt|mnt)/[\w.-]+|/tmp/ipykernel_\d+|\b[A-Z]:\\\\?Users\b"


def test_no_path_of_a_machine():
    assert [(name, found) for name, text in texts() if (found := first_of(MACHINE_PATH, text))] == []


@pytest.mark.parametrize("path", ["/ho" + "me/ada/x.py", "/ro" + "ot/.cache", "/tm" + "p/ipykernel_12/3.py"])
def test_a_path_of_a_machine_is_found(path):
    assert first_of(MACHINE_PATH, f"File {path!r}")
    assert not first_of(MACHINE_PATH, "https://example.org/home/ada, docs/rooted/x, $HOME/.cache")


def test_files_are_small():
    """A file in git is there for ever. What is worth it is a recording of what hardware did, and the compiled programs,
    without which no lesson runs on a Mac."""
    most = {"softlab/cuda/data/programs.zip": 2_000_000}
    sizes = {path.relative_to(ROOT).as_posix(): path.stat().st_size for path in files()}
    assert {name: size for name, size in sizes.items() if size > most.get(name, 600_000)} == {}


def test_top_level_folders():
    folders = {path.relative_to(ROOT).parts[0] for path in files() if len(path.relative_to(ROOT).parts) > 1}
    assert folders <= {"softlab", "kernels", "notebooks", "tests", "docs", ".ci", ".github"}


#: Names with one meaning each: one class or type has the name, and nothing else does.
ONE_MEANING = ("Request", "Program", "Launch", "Launcher", "Cell", "Turn", "Step", "Place", "RowFragment", "ArrayInfo")


def definitions(source: str) -> list[str]:
    """The classes of a module, and the types that it gives a name at its top level."""
    tree = ast.parse(source)
    aliases = [node.targets[0] for node in tree.body if isinstance(node, ast.Assign)]
    classes = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return classes + [target.id for target in aliases if isinstance(target, ast.Name)]


def test_one_meaning_per_name():
    found = [(name, path) for path, text in texts() if path.startswith("softlab/") and path.endswith(".py")
             for name in definitions(text) if name in ONE_MEANING]  # fmt: skip
    places = {name: [path for other, path in found if other == name] for name in ONE_MEANING}
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_a_second_meaning_is_found():
    assert definitions("class Step:\n    class Turn: ...\nCell = tuple[int, str]\n") == ["Step", "Turn", "Cell"]


#: Functions of softlab with more than 40 lines, the docstring counted: fewer than ten.
LONG, MOST_LONG = 40, 9


def long_functions(text: str) -> list[str]:
    """The names of the functions of more than ``LONG`` lines."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    return [node.name for node in functions if (node.end_lineno or 0) - node.lineno >= LONG]


def test_few_functions_are_long():
    found = [
        (path, name)
        for path, text in texts()
        if path.startswith("softlab/") and path.endswith(".py")
        for name in long_functions(text)
    ]
    assert len(found) <= MOST_LONG, found


def test_a_long_function_is_found():
    lines = "".join("    x = 1\n" for _ in range(LONG - 1))
    assert long_functions(f"def fits():\n{lines}") == []
    assert long_functions(f"def long():\n{lines}    x = 1\n") == ["long"]


# Versions -------------------------------------------------------------------------------------------------------------


def pins() -> dict[str, str]:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("==") for line in lines)


def test_constraints_are_names_and_versions_only():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    wrong = [line for line in lines if not re.fullmatch(r"#.*|[a-z0-9][a-z0-9-]*==[0-9][\w.+!]*", line)]
    assert wrong == []
    assert list(pins()) == sorted(pins())


def test_every_package_that_softlab_needs_is_pinned():
    """All that softlab's extras lead to in this environment, through every dependency, has a line in constraints."""
    needed, queue = set(), [Requirement(f"softlab[{','.join(EXTRAS)}]")]
    while queue:
        requirement = queue.pop()
        key = (canonical(requirement.name), frozenset(requirement.extras))
        if key in needed:
            continue
        try:
            found = distribution(requirement.name)
        except PackageNotFoundError:
            continue  # of an extra that is not installed here: the environment of `make lab` has no test tools
        needed.add(key)
        for text in found.requires or ():
            further = Requirement(text)
            if further.marker is None or any(further.marker.evaluate({"extra": e}) for e in requirement.extras or {""}):
                queue.append(further)
    names = {name for name, _ in needed} - {"softlab"}
    assert {"numpy", "jupyterlab"} <= names
    assert sorted(names - set(pins())) == []


def test_environment_yml_takes_the_same_versions():
    text = (ROOT / "environment.yml").read_text()
    assert "-c constraints.txt" in text
    assert "-e .[cuda12,lab]" in text


def test_the_version_is_in_the_changelog():
    headings = re.findall(r"^## \[?([\w.]+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert softlab.__version__ in headings or headings[0] == "Unreleased"


# Notebooks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(notebooks.NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.name)
def test_notebook_is_in_its_stored_form(path):
    assert notebooks.problems(path) == []


#: What a lesson may import from, besides the standard library and what it shows: each lists its names in ``__all__``.
OFFERED = (
    "softlab", "softlab.bench", "softlab.course", "softlab.explorers", "softlab.hardware", "softlab.instruments",
    "softlab.plans.sweeps", "softlab.views", "softlab.workbench",
)  # fmt: skip


def taken_from_softlab(source: str) -> Iterator[tuple[str, str]]:
    """(module, name) of what a cell imports from softlab, and of the attributes of ``softlab`` that it reads."""
    code = "\n".join("" if re.match(r"\s*[%!]", line) else line for line in source.splitlines())
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "softlab":
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((a.name, "") for a in node.names if a.name.startswith("softlab."))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "softlab":
            yield "softlab", node.attr


def is_offered(module: str, name: str) -> bool:
    """Whether a lesson may take ``name`` from ``module``."""
    return module in OFFERED and (name in importlib.import_module(module).__all__ or f"{module}.{name}" in OFFERED)


@pytest.mark.parametrize("path", sorted(notebooks.NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.name)
def test_notebooks_import_only_what_softlab_offers(path):
    """A lesson uses documented names, so that what it shows is what a reader can write."""
    cells = [cell.source for cell in notebooks.read(path.read_text("utf-8")).cells if cell.cell_type == "code"]
    found = [pair for cell in cells if not cell.startswith("%%") for pair in taken_from_softlab(cell)]
    assert [pair for pair in found if not is_offered(*pair)] == []
    assert found


@pytest.mark.parametrize(
    "code", ["from softlab.views.tables import table", "import softlab.plans.fast as fast", "softlab.cuda.compile"]
)
def test_a_deep_import_of_a_lesson_is_found(code):
    assert [pair for pair in taken_from_softlab(f"%load_ext softlab\n{code}") if not is_offered(*pair)]


def test_what_softlab_offers_is_there():
    for module in map(importlib.import_module, OFFERED):
        assert [name for name in module.__all__ if not hasattr(module, name)] == []


# Documents ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_of_documents_lead_somewhere(name):
    document = ROOT / name
    targets = re.findall(r"\]\(([^)#\s]+)", document.read_text())
    local = [target for target in targets if "://" not in target and not target.startswith("mailto:")]
    assert [target for target in local if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_files_that_documents_name_exist(name):
    """Every `path/with.ending` in backquotes is a file of the project (a bare name may be anywhere in it)."""
    known = {str(path.relative_to(ROOT)) for path in files()}
    bare = {path.name for path in files()}
    named = re.findall(r"`([\w./-]+\.(?:py|md|cuh|toml|txt|yml|ipynb|json|js))`", (ROOT / name).read_text())
    lost = [
        file for file in named if not (file in known or (ROOT / name).parent.joinpath(file).is_file() or file in bare)
    ]
    assert lost == []


def test_make_targets_that_documents_name_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        target
        for name in DOCUMENTS
        for target in re.findall(r"\bmake ([a-z][a-z-]+)\b", code((ROOT / name).read_text()))
    }
    assert named - targets == set()
    assert {"lab", "test"} <= named


def code(text: str) -> str:
    """Only what is in backquotes and code blocks."""
    return "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL))


def test_every_make_target_is_phony_and_explained():
    text = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))
    assert targets == set(re.findall(r"^\.PHONY: ([a-z-]+)$", text, re.MULTILINE))
    assert targets == set(re.findall(r"^([a-z-]+):.*## \S", text, re.MULTILINE))


def test_public_names_are_in_the_readme():
    readme = (ROOT / "README.md").read_text()
    errors = {"KernelFault", "CompileError", "UnsupportedInstruction", "PlanError"}
    names = {name for name in softlab.__all__ if not name.startswith("_")} - {
        "Run",
        "Step",
        "Plan",
        "Trace",
        "Occupancy",
    }
    assert sorted(name for name in names | errors if f"softlab.{name}" not in readme) == []


def test_the_readmes_example_runs(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(example, "README.md", "exec"), names)
    # 32 neighbouring floats are in 4 sectors of 32 bytes.
    assert names["run"].counters["global_load_sectors"] == 4
    assert capsys.readouterr().out.count("\n") == len(names["plan"].steps)


def test_the_first_screen_of_the_readme_has_one_picture():
    first_screen = (ROOT / "README.md").read_text().partition("## Quick start")[0]
    assert first_screen.count("![") == 1
    assert first_screen.count("\n") < 30


def test_the_first_screen_of_the_readme_leads_to_the_site():
    """To its address once pyproject.toml has one, else to how it is published."""
    first_screen = (ROOT / "README.md").read_text().partition("## Quick start")[0]
    address = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"].get("urls", {}).get("Site")
    assert f"[The course as a web page]({address or 'docs/site.md#publish'})" in first_screen
    assert address or "## Publish\n" in (ROOT / "docs/site.md").read_text()


def test_every_document_of_the_docs_folder_is_linked_from_the_readme():
    readme = (ROOT / "README.md").read_text()
    assert [path.name for path in (ROOT / "docs").glob("*.md") if f"(docs/{path.name})" not in readme] == []


def test_the_teachers_table_is_the_course():
    rows = re.findall(
        r"\| \[(.+?)\]\(\.\./notebooks/(.+?)\) \| (\d+) \| (\d+) \|", (ROOT / "docs/teaching.md").read_text()
    )
    assert rows == [
        (f"{lesson.number} {lesson.title}", lesson.notebook, str(lesson.minutes), str(len(lesson.exercises)))
        for lesson in course.lessons()
    ]


def test_prose_is_wrapped():
    """A line of a document is read in a diff. Tables, code and pictures stay on their lines."""
    long = []
    for name in set(DOCUMENTS) - {"kernels/README.md"}:
        prose = re.sub(r"```.*?```", "", (ROOT / name).read_text(), flags=re.DOTALL)
        long += [(name, line) for line in prose.splitlines() if len(line) > 120 and line[:1] not in "|!"]
    assert long == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_python_of_a_document_is_python(name):
    """Code that was wrapped as prose is none."""
    for code in re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), flags=re.DOTALL):
        ast.parse(code)


def test_extras_are_those_of_the_readme():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = set(re.findall(r"softlab\[([\w,]+)\]", (ROOT / "README.md").read_text()))
    assert {extra for group in named for extra in group.split(",")} <= set(extras)


@pytest.mark.parametrize("start", SLOW)
def test_what_make_check_leaves_out_is_there(start: str) -> None:
    path, _, name = start.partition("::")
    assert (ROOT / path).exists()
    assert not name or f"def {name.rpartition('::')[2]}" in (ROOT / path).read_text()
