"""The static site in the page, with the network cut: pages open, explorers move, answers get their verdicts.

Without ``--site`` a site of two lessons is built. ``make test-site`` builds the whole one.
"""

from __future__ import annotations

import inspect
import json
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from os.path import dirname, join, normpath
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, expect
from playwright.sync_api import Page as BrowserPage

from softlab.course.catalogue import exercise, lessons
from softlab.course.exercises import MultipleChoice, Number
from softlab.site.answers import exercise_data
from softlab.site.build import Site, build, chosen_lessons
from softlab.site.documents import MODULES
from softlab.site.grids import GRIDS
from softlab.site.packing import unpacked
from softlab.site.scenes import snapshot_of
from softlab.site.stores import Shared
from softlab.site.sweeps import put
from softlab.views.progress import verdict_html
from tests.site.test_documents import public

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
#: Cheap lessons, with explorers of all kinds of controls, two of them with JavaScript, and exercises with numbers.
FEW = ("06", "15")
MOST_MB, MOST_FIRST_MB, FIRST_SECONDS = 25, 1.5, 2
#: States that are compared with Python, of the whole site and of two lessons.
MANY_STATES, FEW_STATES = 1000, 20
CONTROLS = (
    "input[type=range]:enabled, select:has(option:nth-child(2)), button[aria-pressed=false], input[type=checkbox]"
)


@pytest.fixture(scope="module")
def folder(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site."""
    if whole := pytestconfig.getoption("--site"):
        return Path(whole).resolve()
    pytest.importorskip("furo", reason="Sphinx is not installed: pip install 'softlab[site]'")
    target = tmp_path_factory.mktemp("site") / "site"
    build(Site(ROOT, target, chosen_lessons(FEW), jobs=1, reference=False))
    return target


@dataclass
class Served:
    """The site on loopback, and how many bytes were asked for."""

    address: str = ""
    sent: int = 0


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    """The site on loopback."""
    found = Served()

    class Counting(SimpleHTTPRequestHandler):
        def copyfile(self, source: Any, outputfile: Any) -> None:
            data = source.read()
            found.sent += len(data)
            outputfile.write(data)

        def log_message(self, *arguments: Any) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Counting, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        found.address = f"http://127.0.0.1:{server.server_port}"
        yield found
        server.shutdown()


@dataclass
class Opened:
    """A page, what it reported as errors, and what it asked for outside of the site."""

    page: BrowserPage
    base: str
    errors: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self._note(request.url))

    def _note(self, url: str) -> None:
        if not url.startswith((self.base, "data:", "blob:")):
            self.strangers.append(url)

    def go(self, path: str) -> None:
        self.page.goto(f"{self.base}/{path}")

    def explorers(self) -> list[Locator]:
        """The explorers of the page, drawn."""
        found = self.page.locator(".softlab-explorer").all()
        for one in found:
            one.scroll_into_view_if_needed()
            expect(one).to_have_attribute("data-ready", "yes")
        return found


@contextmanager
def window(browser: Browser, width: int = 1280, scheme: str = "light", offline: bool = False) -> Iterator[BrowserPage]:
    """A page of its own. offline: without a network; Firefox has none anyway, and tells of no request when offline."""
    firefox = browser.browser_type.name == "firefox"
    by_button = firefox and scheme == "dark"  # as by the page's button: Firefox 153 cannot be told to be dark
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="light" if by_button else scheme,
        offline=offline and not firefox,
    )
    if by_button:
        context.add_init_script("localStorage.setItem('theme', 'dark')")
    yield context.new_page()
    context.close()


@pytest.fixture
def opened(browser: Browser, folder: Path) -> Iterator[Opened]:
    """A page on the folder itself, without a server and without a network."""
    with window(browser, offline=True) as page:
        yield Opened(page, folder.as_uri())


def pages(folder: Path, below: str = "") -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in (folder / below).rglob("*.html"))


class Linked(HTMLParser):
    """What a page links to and shows, and the places in it that links can lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.names.add(value)


def moved(opened: Opened, place: Locator, control: Locator) -> bool:
    """Give a control another value; whether what the page shows, or what it says, is another."""
    before = place.inner_html()
    if control.evaluate("node => node.tagName") == "SELECT":
        control.select_option(index=control.evaluate("node => (node.selectedIndex + 1) % node.options.length"))
    elif control.get_attribute("type") == "range":
        at_end = control.evaluate("node => Number(node.value) >= Number(node.max)")
        control.focus()
        control.press("ArrowLeft" if at_end else "ArrowRight")
    else:
        control.click()
    limit = time.monotonic() + 10
    while place.inner_html() == before and time.monotonic() < limit:
        opened.page.wait_for_timeout(20)
    return place.inner_html() != before


def test_every_page_opens_without_the_network(opened, folder):
    found = pages(folder)
    assert len(found) > 4
    for path in found:
        opened.go(path)
        assert "softlab" in opened.page.title(), path
    print(f"{len(found)} pages were opened")
    assert (opened.errors, opened.strangers) == ([], [])


def test_every_link_leads_somewhere(folder):
    """Each file that a page names is there, and each place in a page that a link leads to."""
    read = {path.relative_to(folder).as_posix(): Linked(path.read_text("utf-8")) for path in folder.rglob("*.html")}
    broken = []
    count = 0
    for page, found in read.items():
        for link in found.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            path = normpath(join(dirname(page), unquote(parts.path))) if parts.path else page
            there = (folder / path).is_file() or (folder / path / "index.html").is_file()
            if not there or (parts.fragment and path in read and unquote(parts.fragment) not in read[path].names):
                broken.append((page, link))
    print(f"{count} links lead to what is there")
    assert broken == []
    assert count > 100


def test_every_public_name_is_on_the_page_of_its_module(folder):
    if not (folder / "api").exists():
        pytest.skip("this site has no API pages: `make test-site` builds them")
    missing = []
    for module in MODULES:
        places = Linked((folder / "api" / f"{module}.html").read_text("utf-8")).names
        names = [name for name, value in public(module).items() if inspect.isclass(value) or inspect.isroutine(value)]
        missing += [f"{module}.{name}" for name in names if f"{module}.{name}" not in places]
    assert missing == []


def test_a_broken_link_is_seen(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html">b</a><p id="here"></p>')
    with pytest.raises(AssertionError, match=r"b\.html"):
        test_every_link_leads_somewhere(tmp_path)


def test_what_leaves_the_folder_and_what_fails_is_seen(opened, tmp_path):
    (tmp_path / "bad.html").write_text("<img src='http://softlab.invalid/x.png'><script>missing()</script>")
    opened.page.goto((tmp_path / "bad.html").as_uri())
    opened.page.wait_for_timeout(100)
    assert "softlab.invalid/x.png" in "".join(opened.strangers)  # Firefox tries https first
    assert any("missing" in error for error in opened.errors)


def test_the_search_finds_a_word_without_a_server(opened):
    opened.go("search.html?q=latency")
    expect(opened.page.locator("#search-results li a").first).to_be_visible()


def test_the_arrow_keys_stay_on_the_page(opened, folder):
    for path in pages(folder, "lessons"):
        opened.go(path)
        opened.explorers()
        if opened.page.locator("[tabindex='0']:not(input)").count():
            break
    opened.page.locator("[tabindex='0']:not(input)").first.focus()
    before = opened.page.url
    for key in ("ArrowRight", "ArrowLeft", "ArrowRight"):
        opened.page.keyboard.press(key)
        opened.page.wait_for_timeout(100)
    assert opened.page.url == before


def test_the_menu_of_a_phone_opens_by_keys(browser, folder):
    with window(browser, 400, offline=True) as page:
        page.goto((folder / "index.html").as_uri())
        menu, lesson = page.locator("#__navigation"), page.locator(".sidebar-tree a").first
        expect(lesson).not_to_be_visible()
        for _ in range(3):
            page.keyboard.press("Tab")
            if menu.evaluate("node => node === document.activeElement"):
                break
        page.keyboard.press("Space")
        expect(lesson).to_be_visible()
        page.keyboard.press("Escape")
        expect(lesson).not_to_be_visible()


def test_every_explorer_moves(opened, folder):
    still: list[str] = []
    count = 0
    for path in ["index.html", *pages(folder, "lessons")]:
        opened.go(path)
        for place in opened.explorers():
            for number in range(place.locator(CONTROLS).filter(visible=True).count()):
                controls = place.locator(CONTROLS).filter(visible=True)
                if number < controls.count():
                    count += 1
                    if not moved(opened, place, controls.nth(number)):
                        still.append(f"{path}: {controls.nth(number).evaluate('node => node.outerHTML')[:120]}")
    print(f"{count} controls were moved")
    assert still == []
    assert count > 4
    assert (opened.errors, opened.strangers) == ([], [])


def test_the_row_is_scrubbed(opened):
    opened.go("index.html")
    (place,) = opened.explorers()
    place.locator("input[type=range]").press("End")
    expect(place.locator(".softlab-stage.softlab-now")).to_have_text("DRAM")
    expect(place.locator(".softlab-memory text").last).not_to_have_text("")


def test_a_value_without_a_state_says_so(opened, folder):
    place = _with_typed_values(opened, pages(folder, "lessons"))
    note, typed = place.locator(".softlab-missing"), place.locator(".softlab-typed").filter(visible=True).first
    typed.clear()
    typed.press_sequentially("123456")
    typed.press("Enter")
    expect(note).to_contain_text("No picture was computed")
    expect(place).to_have_class("softlab-explorer softlab-stale")
    note.locator("button").click()
    expect(note).to_have_text("")


def _with_typed_values(opened: Opened, paths: list[str]) -> Locator:
    """The first explorer with a slider whose value can be typed."""
    for path in paths:
        opened.go(path)
        for place in opened.explorers():
            if place.locator(".softlab-typed").filter(visible=True).count():
                return place
    raise AssertionError("no lesson has such a slider")


def test_predictions_and_exercises_are_judged(opened, folder):
    asked = 0
    for lesson in lessons():
        path = f"lessons/{Path(lesson.notebook).stem}.html"
        if not (folder / path).exists():
            continue
        opened.go(path)
        page = opened.page
        for question in lesson.predictions:
            fieldset = page.locator("fieldset").filter(has=page.get_by_text(question.question, exact=True)).first
            for answer in fieldset.locator("input").all():
                answer.check()
            asked += 1
        verdicts = page.locator(".softlab-verdict > .softlab-verdict-text")
        expect(verdicts).to_have_count(len(lesson.predictions))
        for verdict in verdicts.all():
            expect(verdict).to_contain_text("The experiment shows")
        forms = page.locator("form.softlab-numeric")
        numbers = [one for one in lesson.exercises if isinstance(one, Number)]
        expect(forms).to_have_count(len(numbers))
        for form, one in zip(forms.all(), numbers, strict=True):
            _judged(form, repr(float(exercise(one.id).answer())), "✓")
            _judged(form, "-12345.5", "✗")
            asked += 1
        fieldsets = page.locator("fieldset:has(legend.softlab-hidden-words)")
        choices = [one for one in lesson.exercises if isinstance(one, MultipleChoice) and exercise_data(one)]
        expect(fieldsets).to_have_count(len(choices))
        for fieldset, choice in zip(fieldsets.all(), choices, strict=True):
            for node, answer in zip(fieldset.locator("input").all(), choice.answers, strict=True):
                node.check()
                said = choice.judge(answer)
                mark = next(one for one in "✓✗" if one in verdict_html(said.state, said.message))
                expect(fieldset.locator("xpath=..").locator(".softlab-verdict-text")).to_contain_text(mark)
            asked += 1
    print(f"{asked} predictions and exercises were judged")
    assert asked > 2
    assert opened.errors == []


def _judged(form: Locator, number: str, mark: str) -> None:
    form.locator("input").fill(number)
    form.locator("button").click()
    expect(form.locator("xpath=..").locator(".softlab-verdict-text")).to_contain_text(mark)


def test_random_states_of_the_page_are_those_of_python(opened, folder, pytestconfig):
    whole = pytestconfig.getoption("--site")
    named = {Shared(name, "{}").name: name for name in GRIDS}
    stores = sorted(path.name for path in (folder / "_explorers").iterdir() if path.name in named)
    keys = {store: _keys(folder / "_explorers" / store) for store in stores}
    most = MANY_STATES if whole else FEW_STATES
    opened.go("index.html")
    compared = 0
    # The stores with few states first: those with many make up for them.
    for left, store in zip(range(len(stores), 0, -1), sorted(stores, key=lambda store: len(keys[store])), strict=True):
        grid, explorer = GRIDS[named[store]], Shared(named[store], "{}").made()
        share = -(-(most - compared) // left)
        for key in random.Random(store).sample(keys[store], min(share, len(keys[store]))):
            page = opened.page.evaluate("([name, values]) => softlab.state(name, values)", [store, json.loads(key)])
            where = dict(zip(grid.traits, map(_python, json.loads(key)), strict=True))
            put(explorer, where)
            put(explorer, where)  # what was not taken is asked for last, as on the page: a note tells of it
            python = {slot: value for slot, value in snapshot_of(explorer.widget).items() if value is not None}
            shown = {
                (node, slot): value for node, slot, value in page["shown"] if slot != "stops" and value is not None
            }
            assert _in_sight(shown) == _in_sight(python), (store, key)
            compared += 1
    print(f"{compared} states of {len(stores)} explorers are Python's")
    assert compared == most


def _keys(store: Path) -> list[str]:
    """The states of a store, sorted."""
    return sorted(key for file in store.glob("[0-9]*.js") for key in unpacked(file.read_text().split('"')[3])["states"])


def _in_sight(slots: dict[tuple[int, str], Any]) -> dict[tuple[int, str], Any]:
    """Without hidden controls: how far a hidden slider goes depends on what was shown before."""
    hidden = {node for (node, slot), value in slots.items() if slot == "layout.visibility" and value == "hidden"}
    return {(node, slot): value for (node, slot), value in slots.items() if node not in hidden}


def _python(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def test_budgets(browser, folder, served, pytestconfig):
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    print(f"{size:.1f} MB in all")
    assert size < MOST_MB
    # How long it takes is asked on a machine that does nothing else: `make test-site`.
    times = 3 if pytestconfig.getoption("--site") else 1
    for path in ["index.html", *pages(folder, "lessons")]:
        loads = [load for _ in range(times) if (load := _first_slider(browser, served, path))]
        if loads:
            megabytes, seconds = loads[0][0], min(seconds for _, seconds in loads)
            print(f"{path}: {megabytes:.2f} MB and {seconds:.2f} s before the first slider moves")
            assert 0.1 < megabytes < MOST_FIRST_MB, path
            assert times == 1 or seconds < FIRST_SECONDS, path


def _first_slider(browser: Browser, served: Served, path: str) -> tuple[float, float] | None:
    """Megabytes and seconds until the first explorer of a page can be moved; None without one."""
    with window(browser) as page:
        before, start = served.sent, time.monotonic()
        page.goto(f"{served.address}/{path}")
        if not page.locator(".softlab-explorer").count():
            return None
        place = page.locator(".softlab-explorer").first
        place.scroll_into_view_if_needed()
        expect(place).to_have_attribute("data-ready", "yes")
        return (served.sent - before) / 1e6, time.monotonic() - start


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_is_wider_than_the_page(browser, folder, scheme, width):
    with window(browser, width, scheme, offline=True) as page:
        opened = Opened(page, folder.as_uri())
        for path in pages(folder):
            opened.go(path)
            opened.explorers()
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            assert page.evaluate("document.body.dataset.jpThemeLight") == str(scheme == "light").lower(), path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_axe_finds_nothing_serious(browser, folder, scheme, width, pytestconfig):
    axe = pytestconfig.getoption("--axe")
    if axe is None:
        pytest.skip("no axe-core: `make test-site` fetches it")
    found = {}
    with window(browser, width, scheme, offline=True) as page:
        opened = Opened(page, folder.as_uri())
        for path in pages(folder):
            opened.go(path)
            opened.explorers()
            page.add_script_tag(path=axe)
            violations = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then(one => one.violations)")
            serious = [(one["id"], one["nodes"][0]["html"][:200], len(one["nodes"])) for one in violations
                       if one["impact"] in ("serious", "critical")]  # fmt: skip
            if serious:
                found[path] = serious
    assert found == {}
