"""The report on a launch: its page and its record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from softlab import cli
from tests.workbench.kernels import TRANSPOSE

OPTIONS = ["--grid", "4,4", "--block", "32,8", "--args", "x=random((128,128)), y=zeros((128,128)), n=128"]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a transpose without padding."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "plain.cu").write_text(TRANSPOSE.format(width=32))
    out = folder / "out.html"
    assert cli.main(["run", str(folder / "plain.cu"), *OPTIONS, "--report", str(out)]) == 0
    return out


def test_the_page_says_what_and_where(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(text) < 2 << 20
    assert '<a href="#line-8">line 8</a>: 32-way bank conflict' in text
    assert 'id="line-8"' in text
    assert "Estimated" in text
    assert "Roofline of an H200" in text
    assert "all shared loads" in text
    assert 'src="' not in text
    assert "@import" not in text


def test_the_command_says_what_to_change(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", str(page.with_name("plain.cu")), *OPTIONS]) == 0
    assert "To change: line 8: 32-way bank conflict" in capsys.readouterr().out


def test_the_record_has_the_same(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = page.with_suffix(".json")
    assert cli.main(["run", str(page.with_name("plain.cu")), *OPTIONS, "--report", str(out)]) == 0
    record = json.loads(out.read_text())
    assert record["counters"]["bank_conflicts"] == 15872
    (advice,) = record["advice"]
    assert (advice["rule"], advice["line"]) == ("bank-conflicts", 8)
    (read,) = [one for one in record["accesses"] if one["space"] == "shared" and not one["store"]]
    assert (read["per_request"], read["least_per_request"]) == (32, 1)
    assert record["estimate"]["device"] == "H200"
    assert record["estimate"]["share_by_line"]["8"] > 0.1
    assert cli.main(["run", str(page.with_name("plain.cu")), *OPTIONS, "--report", "out.txt"]) == 2
    assert "ends in .html or .json" in capsys.readouterr().err


def test_without_checks_a_race_goes_unseen_and_the_command_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wrong.cu"
    file.write_text("__global__ void race(float* x) { x[0] += 1; }\n__global__ void far(float* x) { x[32] = 1; }\n")
    options = ["--grid", "1", "--block", "32", "--args", "x=arange(32)"]
    for kernel, check, status, sentence in (
        ("race", "all", 1, "error: race"),
        ("race", "none", 0, "The run did not look for races: --check none."),
        ("far", "none", 1, "line 2 of wrong.cu"),
    ):
        assert cli.main(["run", str(file), "--kernel", kernel, *options, "--check", check]) == status
        assert sentence in capsys.readouterr().out, (kernel, check)


@pytest.mark.browser
def test_a_click_on_a_line_shows_its_accesses(page: Path, chromium: Path) -> None:
    """In Chromium, from the file: no request, no error, two pictures for the line of the bank conflict."""
    from playwright.sync_api import sync_playwright

    from tests.browser.servers import launch

    with sync_playwright() as playwright:
        browser = launch(playwright, chromium)
        tab = browser.new_page()
        requests: list[str] = []
        problems: list[str] = []
        tab.on("request", lambda request: requests.append(request.url))
        tab.on("console", lambda message: problems.append(message.text))
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.goto(page.as_uri())
        tab.locator('tr#line-8[data-line="8"]').click()
        assert tab.locator("#access svg").count() == 2
        assert tab.locator("#access svg").nth(1).locator('[data-role="conflict"]').count() >= 31
        tab.locator("#line-5").focus()
        tab.keyboard.press("Enter")
        assert "Line 5" in tab.locator("#access p").first.inner_text()
        assert (requests, problems) == ([page.as_uri()], [])
        browser.close()
