"""Builds the site: lessons are run, explorers driven, pages written, and Sphinx makes HTML of them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from softlab.course.catalogue import Lesson, lessons
from softlab.errors import Error
from softlab.site import course_pages, documents, stores
from softlab.site.cache import PAGES, STATES, Cache
from softlab.site.course_pages import LessonPage
from softlab.site.lessons import executed
from softlab.site.links import Links, page_of

_HERE = Path(__file__).parent
T = TypeVar("T")


@dataclass
class Site:
    """A site on its way.

    root: of the project; target: where the site goes; chosen: the lessons that it has;
    jobs: processes at a time; repository: "owner/name" on GitHub, for links to Binder;
    reference: whether the site has the kernels, the documents and the API, or the lessons and the glossary alone.
    """

    root: Path
    target: Path
    chosen: Sequence[Lesson]
    jobs: int = 2
    repository: str = ""
    reference: bool = True
    cache: Cache = field(default_factory=Cache)
    say: Callable[[str], None] = print

    @property
    def source(self) -> Path:
        """Where the pages are written for Sphinx."""
        return self.target.parent / f"{self.target.name}-source"

    def kernels(self) -> list[str]:
        """The files of CUDA source."""
        found = [*self.root.glob("kernels/*.cuh"), *self.root.glob("kernels/gallery/*.cu")] if self.reference else []
        return sorted(str(path.relative_to(self.root)) for path in found)

    def documents(self) -> list[str]:
        """The documents of the project."""
        if not self.reference:
            return ["GLOSSARY.md"]
        return [*documents.DOCUMENTS, *sorted(f"docs/{path.name}" for path in self.root.glob("docs/*.md"))]

    def pages(self) -> frozenset[str]:
        """Every page that links may lead to."""
        notebooks = [f"notebooks/{lesson.notebook}" for lesson in self.chosen]
        return frozenset(page_of(path) for path in (*notebooks, *self.documents(), *self.kernels()))


def build(site: Site) -> None:
    """Build the site.

    Raises:
        Error: a lesson raised, or Sphinx failed.
    """
    for folder in (site.source, site.target):
        shutil.rmtree(folder, ignore_errors=True)
    made, links = _lessons(site), _Collected()
    for lesson, page in zip(site.chosen, made, strict=True):
        _put(site, page_of(f"notebooks/{lesson.notebook}"), page.markdown)
        links.add(_links(site, f"notebooks/{lesson.notebook}"), (site.root / "notebooks" / lesson.notebook).read_text())
    found = _stores(site, made)
    _documents(site, links)
    _sphinx(site)
    for store in found:
        stores.write(store, site.target / "_explorers")
    stores.write_views(found, site.target / "_views")
    site.say(f"{sum(store.states for store in found)} states of {len(found)} explorers")


class _Collected:
    """The files that the pages link to besides pages."""

    def __init__(self) -> None:
        self.sources: set[str] = set()
        self.images: set[str] = set()

    def add(self, links: Links, text: str) -> str:
        """The text with its links rewritten; what it leads to is noted."""
        made = documents.document(links, text)
        self.sources |= links.sources
        self.images |= links.images
        return made


def _links(site: Site, document: str) -> Links:
    return Links(site.root, document, site.pages(), site.reference)


def _put(site: Site, page: str, text: str) -> None:
    path = site.source / f"{page}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# Lessons and explorers


def _lesson_page(lesson: Lesson, links: Links, cache: Cache) -> LessonPage:
    notebook = links.root / links.document
    what = ("lesson", notebook.read_text(encoding="utf-8"), sorted(links.pages), links.with_sources)
    return cache.of(what, PAGES, lambda: course_pages.lesson_page(lesson, executed(notebook), links))


def _store(made: stores.Shared, starts: list[dict[str, Any]], cache: Cache) -> stores.Store:
    return cache.of(("store", made.name, starts), STATES, lambda: stores.store_of(made.name, made.made(), starts))


def _at_a_time(jobs: int, calls: Iterable[tuple[Callable[..., T], tuple[Any, ...]]]) -> list[T]:
    from joblib import Parallel, delayed

    return list(Parallel(n_jobs=jobs)(delayed(function)(*arguments) for function, arguments in calls))


def _lessons(site: Site) -> list[LessonPage]:
    calls = [(one, _links(site, f"notebooks/{one.notebook}"), site.cache) for one in site.chosen]
    return _at_a_time(site.jobs, [(_lesson_page, arguments) for arguments in calls])


def _stores(site: Site, made: Sequence[LessonPage]) -> list[stores.Store]:
    """The stores of the lessons, and those that lessons share; the row of the landing page is always there."""
    wanted = course_pages.with_starts(made)
    wanted.setdefault(stores.Shared("RowExplorer", "{}"), [{}])
    found = _at_a_time(site.jobs, [(_store, (one, starts, site.cache)) for one, starts in wanted.items()])
    return [*found, *(store for page in made for store in page.own)]


# Pages


def _documents(site: Site, links: _Collected) -> None:
    """The landing page, the documents and what they link to."""
    for name in site.documents():
        path = site.root / name
        _put(site, page_of(name), links.add(_links(site, name), path.read_text(encoding="utf-8")))
    row = course_pages.data_block("explorer", {"store": "row", "start": "[]"}, "<p>The picture needs JavaScript.</p>")
    rest = _reference(site, links) if site.reference else {"Reference": ["glossary"]}
    _put(site, "index", documents.landing(site.chosen, row, rest, reference=site.reference))
    for name in sorted(links.images):
        _copy(site, name, name)


def _reference(site: Site, links: _Collected) -> dict[str, list[str]]:
    """The pages of source code and of the API; the sidebar after the lessons."""
    kernels = site.kernels()
    further = sorted(links.sources - set(kernels))
    for name in (*kernels, *further):
        _source_page(site, name)
    for module in documents.MODULES:
        _put(site, f"api/{module}", documents.api_page(module))
    _put(site, "api/index", documents.api_index(documents.MODULES))
    files = [Path(page_of(name)).relative_to("kernels").as_posix() for name in kernels]
    _append(site, "kernels/index", documents.toctree("Files", files))
    if further:
        _append(site, "about", documents.toctree("Files", [page_of(name) for name in further]))
    texts = [page_of(name) for name in site.documents() if name.startswith("docs/")]
    return {
        "Kernels": [page_of(name) for name in ("kernels/README.md", "kernels/LADDER.md", "kernels/FAST.md")],
        "Reference": ["glossary", *texts, "api/index"],
        "Project": ["about", "contributing", "changelog"],
    }


def _append(site: Site, page: str, text: str) -> None:
    path = site.source / f"{page}.md"
    path.write_text(f"{path.read_text(encoding='utf-8')}\n{text}\n", encoding="utf-8")


def _source_page(site: Site, name: str) -> None:
    page = page_of(name)
    _copy(site, name, f"listings/{name}")
    up = "../" * page.count("/")
    _put(site, page, documents.kernel_page(site.root / name, name, f"{up}listings/{name}"))


def _copy(site: Site, name: str, to: str) -> None:
    path = site.source / to
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(site.root / name, path)


def _sphinx(site: Site) -> None:
    shutil.copyfile(_HERE / "conf.py", site.source / "conf.py")
    shutil.copytree(_HERE / "static", site.source / "_static")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        "-j",
        str(site.jobs),
        "-d",
        str(site.source / ".doctrees"),
    ]
    done = subprocess.run([*command, str(site.source), str(site.target)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Error(f"Sphinx failed:\n{done.stderr}")
    about = json.dumps({"repository": site.repository})
    (site.target / "_static" / "about.js").write_text(f"window.softlabSite = {about};\n", encoding="utf-8")
    for path in site.target.rglob("*.html"):
        path.write_text(_with_roles(path.read_text(encoding="utf-8")), encoding="utf-8")
    for rest in (".buildinfo", "objects.inv"):
        (site.target / rest).unlink(missing_ok=True)
    shutil.rmtree(site.target / "_sources", ignore_errors=True)
    (site.target / ".nojekyll").touch()


def _with_roles(page: str) -> str:
    """The page with what Furo leaves out and screen readers need: the level of the sidebar's headings, two names."""
    page = page.replace('class="caption" role="heading">', 'class="caption" role="heading" aria-level="2">')
    page = page.replace('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="All pages">')
    return page.replace('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer')


def chosen_lessons(numbers: Sequence[str]) -> tuple[Lesson, ...]:
    """The lessons of these numbers; all without any.

    Raises:
        Error: there is no such lesson.
    """
    known = {lesson.number: lesson for lesson in lessons()}
    if unknown := [number for number in numbers if number not in known]:
        raise Error(f"no lesson {unknown[0]!r}: there are {', '.join(known)}")
    return tuple(lesson for number, lesson in known.items() if not numbers or number in numbers)
