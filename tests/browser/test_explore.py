"""The explorers without code: every tab of the app opened, its controls moved, its picture seen to change."""

from __future__ import annotations

import pytest

from softlab.explorers.gallery import catalogue
from tests.browser.pages import REDRAW_SECONDS, Page
from tests.browser.servers import VIEWPORT, exploring
from tests.sampled import sampled

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def app_server(tmp_path_factory):
    with exploring(tmp_path_factory.mktemp("voila")) as running:
        yield running


@pytest.fixture(params=sampled(["light", "dark"], lambda theme: theme == "light"))
def app(request, browser, app_server):
    context = browser.new_context(viewport=VIEWPORT)
    opened = Page(context.new_page())
    opened.page.goto(f"{app_server.url}/?token={app_server.token}&theme={request.param}")
    opened.page.locator(".widget-tab > .lm-TabBar .lm-TabBar-tab").first.wait_for(timeout=REDRAW_SECONDS * 1000)
    yield opened
    context.close()


def test_the_app_wants_its_token(app_server):
    assert app_server.status("/voila/render/explore.ipynb", "wrong") in (302, 403)
    assert app_server.status("/", None) in (302, 403)
    assert app_server.status("/", app_server.token) == 200


def test_the_page_follows_the_readers_system_and_its_tabs_fit(browser, app_server):
    """Dark where the system is dark; the tabs are all on a page of 900 pixels, in the order of the lessons."""
    shades = {}
    for scheme in ("light", "dark"):
        context = browser.new_context(viewport={"width": 900, "height": 800}, color_scheme=scheme)
        page = context.new_page()
        page.goto(f"{app_server.url}/?token={app_server.token}")
        tabs = page.locator(".widget-tab > .lm-TabBar .lm-TabBar-tab")
        tabs.first.wait_for(timeout=REDRAW_SECONDS * 1000)
        shade = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        shades[scheme] = int(shade.removeprefix("rgb(").partition(",")[0])
        boxes = [tab.bounding_box() for tab in tabs.all()]
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= 900 for box in boxes)
        assert tabs.all_inner_texts() == list(catalogue())
        context.close()
    assert shades["dark"] < 64 < 192 < shades["light"]


def test_every_explorer(app):
    tabs = app.page.locator(".widget-tab > .lm-TabBar .lm-TabBar-tab")
    assert tabs.all_inner_texts() == list(catalogue())
    for number, title in enumerate(catalogue()):
        tabs.nth(number).click()
        area = app.page.locator(".widget-tab-contents > :not(.lm-mod-hidden)").first
        # The explorer comes below its first sentence once it is made.
        area.locator(":scope > *").nth(1).wait_for(timeout=REDRAW_SECONDS * 1000)
        # Every control is moved in the notebooks; here it is the first one: that the page and its kernel are connected.
        before = app.settled_picture(area)
        app.operate(app.controls(area)[0])
        assert app.await_other_picture(area, before) < REDRAW_SECONDS, title
    assert app.console == []
    assert app.strangers == []
