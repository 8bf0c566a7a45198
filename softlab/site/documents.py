"""The pages that are no lessons: the landing page, the documents, the glossary, the kernels and the API."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from softlab.course.catalogue import Lesson, lessons
from softlab.course.glossary import parsed
from softlab.site.links import Links, anchor_of, page_of

#: Modules whose docstrings are pages.
MODULES = (
    "softlab", "softlab.functional", "softlab.fused", "softlab.torch", "softlab.course", "softlab.explorers",
    "softlab.views", "softlab.bench", "softlab.bench.caches", "softlab.bench.claims", "softlab.bench.claims_seen",
    "softlab.bench.fusing", "softlab.bench.ladder", "softlab.bench.predictions", "softlab.bench.record.live",
    "softlab.bench.recordings", "softlab.hardware", "softlab.hardware.atlas", "softlab.hardware.devices",
    "softlab.hardware.occupancies", "softlab.instruments", "softlab.workbench", "softlab.errors",
)  # fmt: skip
DOCUMENTS = ("README.md", "GLOSSARY.md", "CONTRIBUTING.md", "CHANGELOG.md", "kernels/README.md", "kernels/FAST.md",
             "kernels/LADDER.md")  # fmt: skip
_LANGUAGES = {".cuh": "cuda", ".cu": "cuda", ".py": "python", ".toml": "toml", ".yml": "yaml", ".json": "json"}
_PICTURES = (
    ("softmax-h200", "Softmax on an H200: policy fast and its peers over the row length"),
    ("sweep-h100", "Policy fast on an H100 at 440 row lengths drawn at random"),
    ("sweep-h200", "Policy fast on an H200 at 440 row lengths drawn at random"),
)
_WAYS = """
## Start

- **Here, without an installation**: open the [first lesson](lessons/{first}.md). Pictures move, predictions and most
  exercises with a number are judged on the page. Kernels are not run here.
- **On your machine**: Linux, Python 3.11 or newer, make. In a clone of the repository, `make lab` starts JupyterLab on
  your copies of the lessons. No GPU is needed. [More ways](about.md#quick-start)
- **With your own kernel**: `softlab check my.cu` says what is wrong with it, line by line.
  [The workbench](docs/workbench.md)
"""
_INTRODUCTION = """# softlab: a laboratory for GPU kernels

**Move the slider.** A row of 32 numbers goes from memory into the 32 lanes of a warp, becomes its softmax through ten
shuffles, and goes back.

{explorer}

softlab opens up one real GPU design, row softmax in three CUDA kernels, down to each lane, memory bank and block. The
pictures come from runs of the real CUDA source in an emulator that counts what an NVIDIA GPU would count. The course
needs some Python and a little C, and no GPU.
"""


def toctree(caption: str, pages: Iterable[str], *, hidden: bool = True) -> str:
    """A list of pages for the sidebar."""
    options = [":hidden:"] if hidden else []
    return "\n".join(["```{toctree}", f":caption: {caption}", ":maxdepth: 1", *options, "", *pages, "```"])


def landing(
    lessons: Sequence[Lesson], explorer: str, rest: Mapping[str, Sequence[str]], *, reference: bool = True
) -> str:
    """The first page.

    explorer: the scrubbed row; rest: caption -> pages of the sidebar after the lessons; reference: whether there are
    documents to link to.
    """
    pages = [page_of(f"notebooks/{lesson.notebook}") for lesson in lessons]
    table = ["| | lesson | minutes |", "|---|---|---|"]
    table += [
        f"| {one.number} | [{one.title}]({page}.md) | {one.minutes} |" for one, page in zip(lessons, pages, strict=True)
    ]
    ways = _WAYS.format(first=pages[0].rpartition("/")[2])
    ways = ways if reference else re.sub(r"\s*\[[^\]]*\]\((?!lessons)[^)]*\)", "", ways)
    named = [f"{one.number} {one.title} <{page}>" for one, page in zip(lessons, pages, strict=True)]
    trees = [toctree("Lessons", named), *(toctree(caption, found) for caption, found in rest.items())]
    parts = [
        _INTRODUCTION.format(explorer=explorer),
        ways,
        "## The lessons",
        "\n".join(table),
        *trees,
    ]
    return "\n\n".join(parts) + "\n"


def document(links: Links, text: str) -> str:
    """A document of the project with links between pages."""
    if links.document == "GLOSSARY.md":
        text = _with_lessons(_with_anchors(text))
    if links.document == "README.md":
        text = text.replace(text.partition("\n")[0], "# About softlab", 1)
    if links.document == "docs/speed.md":
        text = _with_pictures(text)
    return links.rewritten(text)


def _with_anchors(text: str) -> str:
    """Each entry of the glossary gets an anchor, which the words of the lessons lead to."""
    for word in parsed(text):
        head = f"- **{', '.join(word.terms)}**:"
        text = text.replace(head, f'- <span id="{anchor_of(word.terms[0])}"></span>{head[2:]}', 1)
    return text


def _with_lessons(text: str) -> str:
    """The lessons behind an entry of the glossary, "(lesson 00, 06)", as links."""
    files = {lesson.number: lesson.notebook for lesson in lessons()}

    def linked(found: re.Match[str]) -> str:
        return "(lesson " + re.sub(r"\d+", lambda one: f"[{one[0]}](notebooks/{files[one[0]]})", found[1]) + ")"

    return re.sub(r"\(lesson ([\d, ]+)\)", linked, text)


def _with_pictures(text: str) -> str:
    title, _, rest = text.partition("\n")
    pictures = "\n\n".join(f"![{words}](../notebooks/images/{name}.svg)" for name, words in _PICTURES)
    return f"{title}\n\n{pictures}\n{rest}"


def kernel_page(path: Path, file: str, copy: str) -> str:
    """A file of source code as a page. copy: where it stands, relative to the page."""
    language = _LANGUAGES.get(path.suffix, "text")
    head = re.match(r"(?:// .*\n)+", path.read_text(encoding="utf-8"))
    first = head[0].splitlines()[0].removeprefix("// ") if head and language == "cuda" else ""
    lines = [f"# {path.name}", *([escape(first)] if first else []), f"`{file}`"]
    include = [f"```{{literalinclude}} {copy}", f":language: {language}", ":linenos:", ":force:", "```"]
    return "\n\n".join([*lines, "\n".join(include)]) + "\n"


def api_page(module: str) -> str:
    """The page of a module, filled from its docstrings."""
    names = getattr(importlib.import_module(module), "__all__", None)
    options = [
        ":members:",
        *([":imported-members:"] if names else []),
        ":member-order: groupwise",
        ":show-inheritance:",
    ]
    lines = [f"# {module}", "", "```{eval-rst}", f".. automodule:: {module}", *(f"   {one}" for one in options), "```"]
    return "\n".join(lines) + "\n"


def api_index(modules: Iterable[str]) -> str:
    """The list of modules."""
    text = "# API\n\nThe modules that lessons and programs import from. The pages are made from docstrings.\n\n"
    return text + toctree("Modules", modules, hidden=False) + "\n"
