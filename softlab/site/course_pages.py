"""A lesson as a page: Markdown for Sphinx, its outputs as HTML, places for explorers, predictions and exercises."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from softlab.course import catalogue
from softlab.course.grading import asked
from softlab.site import answers, stores
from softlab.site.lessons import OBJECT, Executed, LessonCell
from softlab.site.links import Links

_SVG, _HTML, _TEXT = "image/svg+xml", "text/html", "text/plain"


@dataclass
class LessonPage:
    """What one lesson gives the site: its Markdown, the stores that it alone has, and how to make the shared ones."""

    number: str
    markdown: str
    own: list[stores.Store] = field(default_factory=list)
    shared: list[tuple[stores.Shared, dict[str, Any]]] = field(default_factory=list)


def fenced(kind: str, text: str, *options: str) -> str:
    """A fenced block of MyST, with a fence that the text does not have."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}{{{kind}}}", *options, "", text, fence])


def raw(html: str) -> str:
    """HTML that goes into the page as it is."""
    return fenced("raw", html).replace("{raw}", "{raw} html", 1)


def data_block(name: str, data: Mapping[str, Any], inside: str = "") -> str:
    """A place that the runtime fills: an element with its data, and what stands there until then."""
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    return raw(f'<div class="softlab-{name}"><script type="application/json">{text}</script>{inside}</div>')


class Writer:
    """Writes the page of one executed lesson."""

    def __init__(self, lesson: catalogue.Lesson, executed: Executed, links: Links) -> None:
        self.lesson, self.executed, self.links = lesson, executed, links
        self.page = LessonPage(lesson.number, "")
        self._predictions = {question.question: question.id for question in lesson.predictions}

    def written(self) -> LessonPage:
        """The whole page."""
        parts = [part for cell in self.executed.cells for part in self._cell(cell)]
        self.page.markdown = "\n\n".join(parts) + "\n"
        return self.page

    def _cell(self, cell: LessonCell) -> list[str]:
        if cell.kind == "markdown":
            return [self.links.rewritten(cell.source)]
        ids = asked(cell.source)
        parts = [_code(cell)]
        judged = [data for name in ids if (data := answers.exercise_data(catalogue.exercise(name)))]
        if judged:
            return [*parts, *(data_block("question", data) for data in judged)]
        parts += [part for output in cell.outputs if (part := self._output(output))]
        return [*parts, *(_elsewhere(name, self.lesson) for name in ids)]

    def _output(self, output: Mapping[str, Any]) -> str:
        if OBJECT in output:
            return self._object(output[OBJECT])
        if _SVG in output:
            title = str(output.get(_TEXT, "")) or "a chart"
            head = f'<div class="softlab-output softlab-still" role="img" aria-label="{escape(title)}">'
            return raw(f"{head}{output[_SVG]}</div>")
        if _HTML in output:
            return raw(
                f'<div class="softlab-output" tabindex="0" role="region" aria-label="output">{output[_HTML]}</div>'
            )
        text = str(output.get(_TEXT, "")).rstrip("\n")
        return raw(f'<pre class="softlab-output" tabindex="0">{escape(text)}</pre>') if text else ""

    def _object(self, number: int) -> str:
        shown, start = self.executed.objects[number]
        kind = type(shown).__name__
        if kind == "Prediction":
            return data_block("question", answers.prediction_data(self._id(shown), shown, shown.measured))
        if kind == "Verdict":
            return data_block("verdict", {"id": self._id(shown.prediction)})
        return self._explorer(shown, start, number)

    def _id(self, prediction: Any) -> str:
        return self._predictions[prediction.question]

    def _explorer(self, shown: Any, start: dict[str, Any], number: int) -> str:
        made = stores.shared(shown) if hasattr(shown, "_made_with") else None
        if made:
            name = made.name
            self.page.shared.append((made, start))
        else:
            name = f"{type(shown).__name__.removesuffix('Explorer').lower()}-{self.lesson.number}-{number}"
            twin = stores.again(shown) if hasattr(shown, "_made_with") else stores.Lone(shown)
            self.page.own.append(stores.store_of(name, twin, [start], stores.grid_of(shown)))
        about = {"store": name, "start": stores.key_at(start)}
        return data_block("explorer", about, "<p>The picture is drawn by JavaScript, which is switched off here.</p>")


def _code(cell: LessonCell) -> str:
    cuda = cell.source.startswith(("%%cuda", "%%exercise"))
    block = fenced("code-block", cell.source, ":force:").replace(
        "{code-block}", f"{{code-block}} {'cuda' if cuda else 'ipython3'}", 1
    )
    if not cell.hidden:
        return block
    head = "The code that imports what this lesson uses" if "import" in cell.source else "The code"
    return "\n\n".join([raw(f'<details class="softlab-hidden"><summary>{head}</summary>'), block, raw("</details>")])


def _elsewhere(name: str, lesson: catalogue.Lesson) -> str:
    """Where to work on an exercise that needs Python."""
    kind = "function" if "Function" in type(catalogue.exercise(name)).__name__ else "kernel"
    kind = "answer" if "Judged" in type(catalogue.exercise(name)).__name__ else kind
    command = f"softlab lab --notebook {lesson.number}"
    return raw(
        f'<div class="softlab-elsewhere"><p>A page cannot run your {kind}. Open this lesson in JupyterLab, write it '
        f"there, and run the cell: it is graded at once, with a hint.</p><pre>{command}</pre>"
        f'<p class="softlab-binder" data-notebook="notebooks/{escape(lesson.notebook)}"></p></div>'
    )


def lesson_page(lesson: catalogue.Lesson, executed: Executed, links: Links) -> LessonPage:
    """The page of a lesson after its run, with the stores of explorers that only this lesson has."""
    return Writer(lesson, executed, links).written()


def notebook_of(folder: Path, lesson: catalogue.Lesson) -> Path:
    """The file of a lesson."""
    return folder / lesson.notebook


def with_starts(pages: Sequence[LessonPage]) -> dict[stores.Shared, list[dict[str, Any]]]:
    """Every shared explorer of some pages with the states that they show first."""
    found: dict[stores.Shared, list[dict[str, Any]]] = {}
    for page in pages:
        for made, start in page.shared:
            starts = found.setdefault(made, [])
            if start not in starts:
                starts.append(start)
    return found
