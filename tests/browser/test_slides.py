"""Slides of lessons in Chromium: nothing is below the edge, and nothing is asked of the network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from softlab.course.slides import slides

pytestmark = pytest.mark.browser

#: The numbers of the slides that scroll, in a window of 1280 x 720.
_SCROLL = """slides.map((slide, k) => { show(k); return slide.scrollHeight > slide.clientHeight + 4 ? k + 1 : 0 })
    .filter((number) => number)"""


@pytest.mark.parametrize("lesson", ["01", "11", "18"])
def test_each_slide_fits_the_window(context: BrowserContext, tmp_path: Path, lesson: str):
    (path,) = Path("notebooks").glob(f"{lesson}-*.ipynb")
    file = tmp_path / "slides.html"
    file.write_text(slides(json.loads(path.read_text("utf-8")), path.stem), "utf-8")
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(file.as_uri())
    assert page.evaluate("slides.length") > 15
    assert page.evaluate(_SCROLL) == []
    assert asked == [file.as_uri()]
    page.keyboard.press("End")
    assert page.locator("section.shown").count() == 1
    assert page.evaluate("now === slides.length - 1")
    page.close()
