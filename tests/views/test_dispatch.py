"""The ladder lights one answer a question, and the consequences are the plans'."""

from __future__ import annotations

import re
from html import unescape

import pytest

from softlab.plans import forced, plan
from softlab.plans.planner import Step
from softlab.views.dispatch import alternatives_bars, consequences_table, ladder
from tests.views.drawn import cells, marks, words


def rungs(html: str) -> list[tuple[str, list[str], str]]:
    """(question, all answers, the lit one) of each step."""
    found = []
    for rung in re.findall(r"<div title.*?</div>", html, re.S):
        texts = re.findall(r"<span[^>]*>([^<]+)</span>", rung)
        lit = re.findall(r'data-lit="1">\N{CHECK MARK} ([^<]+)<', rung)
        assert len(lit) == 1
        found.append((unescape(texts[0]), [text.removeprefix("\N{CHECK MARK} ") for text in texts[1:]], lit[0]))
    return found


@pytest.mark.parametrize(
    ("cols", "dtype"), [(300, "float32"), (1024, "float16"), (4097, "float32"), (13_000, "float64")]
)
def test_one_answer_a_question(cols, dtype):
    made = plan(4096, cols, dtype, device="H200")
    found = rungs(ladder("softmax(x)", made.steps, made))
    assert [question for question, _, _ in found] == [step.question for step in made.steps]
    for (_, answers, lit), step in zip(found, made.steps, strict=True):
        written = ("no", "yes")[step.answer] if isinstance(step.answer, bool) else str(step.answer)
        assert lit == written
        assert lit in answers
        if 1 < len(step.choices) < 9:
            assert len(answers) == len(step.choices)


def test_of_many_answers_the_ends_and_the_neighbours():
    step = Step("How many?", {}, 10, "", tuple(range(2, 33, 2)))
    made = plan(1, 1, device="H200")
    ((_, answers, lit),) = rungs(ladder("f(x)", [step], made))
    assert answers == ["2", "…", "6", "8", "10", "12", "14", "…", "32"]
    assert lit == "10"


def test_text_is_escaped():
    html = ladder("f(<x>)", [Step("a < b?", {"why": '"<"'}, True, "<rule>", (True, False))], plan(1, 1, device="H200"))
    assert "<x>" not in html
    assert "<rule>" not in html
    assert "a &lt; b?" in html


def test_nothing_to_do():
    made = plan(0, 5, device="H200")
    assert "nothing is launched" in ladder("f(x)", made.steps, made)


def test_consequences_side_by_side():
    plans = {"a": plan(4096, 8192, device="H200"), "b": forced(4096, 8192, kernel="block_uncached", device="H200")}
    rows = {row[0]: row[1:] for row in cells(consequences_table(plans, {"a": "fast"}))}
    assert rows["requested from global memory"] == ["268\u202f435\u202f456 bytes", "536\u202f870\u202f912 bytes"]
    assert rows["recorded"] == ["fast", "not recorded"]
    assert rows["kernel"] == ["block_smem, packs of 2", "block_uncached, packs of 2"]


def test_bars_of_the_alternatives():
    others = plan(4096, 8192, device="H200").alternatives()
    drawn = alternatives_bars(others, {("block_smem", 256): 0.9, ("block_uncached", 128): 0.45}, "somewhere")
    bars = marks(drawn, share=None)
    assert [(bar["kernel"], bar["size"], bar["marked"]) for bar in bars] == [
        ("block_smem", "256", "True"),
        ("block_uncached", "128", "False"),
    ]
    assert float(bars[0]["width"]) == pytest.approx(2 * float(bars[1]["width"]))
    texts = words(drawn)
    assert any("at most 1024 columns" in text for text in texts), "why the warp kernel cannot be had"
    assert texts.count("not recorded") == len(others) - 3
