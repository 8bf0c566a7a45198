"""Findings in a run's card and text: kind, line with its source, both places, how often; every text escaped."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import numpy as np

from softlab.findings import Finding
from softlab.kernel import Kernel
from softlab.traces import COUNTERS, InstructionCounters, Run
from softlab.views.findings import MOST_FINDINGS, findings_html, findings_text
from softlab.views.runs import run_report

SOURCE = """extern "C" __global__ void k(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[t] < 5 ? 1 : 2;
  y[t] = s[63 - t];
  y[0] = 7;
}"""


def launch(**how: Any) -> Run:
    x, y = np.zeros(64, np.int32), np.zeros(64, np.int32)
    return Kernel(SOURCE, "k").run(1, 64, (x, y), check="collect", **how)


def words(html: str) -> str:
    """What a reader sees: no tags, single blanks."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def test_a_card_names_both_places_with_their_source() -> None:
    run = launch()
    assert [(f.kind, f.severity) for f in run.findings] == [("race", "error"), ("race", "error"), ("race", "warning")]
    shown = words(run._repr_html_())
    assert "ran, and 2 errors and 1 warning were found" in shown
    first = run.findings[0]
    assert (first.line, first.other_line) == (5, 4)
    assert f"error: race , {first.count} times" in shown
    assert f"line 5 y[t] = s[63 - t]; thread {first.thread}, block (0, 0, 0)" in shown
    assert f"line 4 s[t] = x[t] < 5 ? 1 : 2; thread {first.other_thread}, block (0, 0, 0)" in shown
    assert "Put __syncthreads()" in shown
    assert "x[t] < 5 ? 1 : 2" not in run._repr_html_(), "the source is escaped"
    assert "PTX `" not in shown.partition("CUDA")[0], "the PTX is in the message, not in the card"


def test_lines_of_the_source_are_marked() -> None:
    run = launch()
    text = repr(run_report(run)).partition("line  instr.")[2]
    marked = re.findall(r"^> +(\d)  .*\n((?:      \| .*\n)+)", text, re.M)
    assert [number for number, _ in marked] == ["4", "5", "6"]
    notes = dict(marked)
    assert notes["4"] == "      | the other access of the race in line 5\n"
    assert f"error: race, {run.findings[0].count} times, with line 4" in notes["5"]
    assert words(run._repr_html_()).count("the other access of the race in line 5") == 1


def test_a_warning_is_no_error() -> None:
    source = 'extern "C" __global__ void k(int* c) {\n  c[0] = 1;\n}'
    run = Kernel(source, "k").run(2, 32, (np.zeros(1, np.int32),), check="collect")
    shown = words(run._repr_html_())
    assert "ran, and 1 warning was found" in shown or "ran, and 2 warnings were found" in shown
    assert "error" not in shown.partition("CUDA")[0]


def test_a_run_without_findings_has_the_card_of_before() -> None:
    kernel = Kernel('extern "C" __global__ void k(int* c) { c[threadIdx.x] = 1; }', "k")
    plain = kernel.run(1, 32, (np.zeros(32, np.int32),))
    collected = kernel.run(1, 32, (np.zeros(32, np.int32),), check="collect")
    assert plain._repr_html_() == collected._repr_html_()
    assert repr(plain) == repr(collected)
    assert "found" not in words(plain._repr_html_())


def finding(line: int | None = 1, **fields: Any) -> Finding:
    message = "race: the thread writes c[0]. Put a barrier there\n  at line 1 of k.cu, thread (0, 0, 0), PTX `st;`"
    return Finding(**{"kind": "race", "severity": "error", "message": message, "line": line, "file": "k.cu", **fields})


def test_findings_are_in_the_order_of_the_source() -> None:
    text = findings_text((finding(7), finding(2, severity="warning", kind="trap"), finding(2)), SOURCE, "k.cu")
    assert re.findall(r"^  (\w+): \w+", text, re.M) == ["error", "warning", "error"]
    assert re.findall(r"line (\d)", text) == ["2", "2", "7"]


def test_a_warning_at_the_place_of_an_error_is_not_listed_again() -> None:
    text = findings_text((finding(2, severity="warning"), finding(2), finding(3)), SOURCE, "k.cu")
    assert re.findall(r"^  (\w+): race", text, re.M) == ["error", "error"]
    assert "1 warning on the lines of errors: see run.findings" in text


def test_two_accesses_of_one_line() -> None:
    both = finding(6, other_line=6, other_file="k.cu", thread=(1, 0, 0), other_thread=(2, 0, 0))
    text = findings_text((both,), SOURCE, "k.cu")
    assert "    line 6, thread (1, 0, 0): y[0] = 7;\n    same line, thread (2, 0, 0)" in text


def test_a_text_is_wrapped() -> None:
    text = findings_text((finding(2, message="race: " + "word " * 60),), SOURCE, "k.cu")
    assert max(map(len, text.splitlines())) <= 110


def test_how_often() -> None:
    assert "race, once" in findings_text((finding(),), SOURCE, "k.cu")
    assert "race, 12\u202f345 times" in findings_text((finding(count=12345),), SOURCE, "k.cu")


def test_a_place_in_a_header_and_one_that_is_not_known() -> None:
    text = findings_text((finding(4, header="line 5 of <tile>.cuh"),), SOURCE, "k.cu")
    assert "line 4, in line 5 of <tile>.cuh: s[t] = x[t] < 5 ? 1 : 2;" in text
    text = findings_text((finding(4, file="tile.cuh"),), SOURCE, "k.cu")
    assert "line 4 of tile.cuh" in text
    assert "x[t]" not in text
    assert "line" not in findings_text((finding(None, file=None),), SOURCE, "k.cu")
    assert "line 99" in findings_text((finding(99),), SOURCE, "k.cu")


def test_html_is_escaped() -> None:
    evil = "<script>alert(1)</script>"
    html = findings_html((finding(1, kind=evil, message=f"{evil}: {evil}", header=evil),), f"{evil}\n", "k.cu")
    assert "<script>" not in html
    assert html.count("&lt;script&gt;") == 4


def test_long_lists_end() -> None:
    many = tuple(finding(number) for number in range(1, MOST_FINDINGS + 6))
    for text in (findings_text(many, SOURCE, "k.cu"), words(findings_html(many, SOURCE, "k.cu"))):
        assert "and 5 more in run.findings" in text


def test_what_a_fault_says_at_its_end_is_kept() -> None:
    x = np.zeros(64, np.int32)
    source = 'extern "C" __global__ void k(int* x) { while (threadIdx.x == 5) {}\n x[threadIdx.x] = 1; }'
    run = Kernel(source, "k").run(1, 64, (x,), check="collect")
    assert "The run of the blocks 0 to 0 ends here." in words(run._repr_html_())


def test_a_text_has_at_most_25_lines_with_findings() -> None:
    counts = np.arange(1, len(COUNTERS) + 1)[None]
    counters = InstructionCounters(("x;",), ((("k.cu", 1),),), counts)
    many = tuple(finding(number, other_line=3, other_file="k.cu") for number in range(1, 9))
    run = Run("emulator", (1, 1, 1), (32, 1, 1), "sm_90", "k.cu", "x", instructions=counters, findings=many)
    lines = repr(run).splitlines()
    assert len(lines) <= 25
    assert lines[1] == "  8 errors were found:"
    assert lines[2] == "    error: race, once, line 1 and line 3"
    assert "    and 5 more in run.findings" in lines
    assert any(line.endswith("more counters in run.counters") for line in lines)


def test_warnings_at_the_places_of_errors_are_counted_apart() -> None:
    places = [(number, severity) for number in range(1, 6) for severity in ("error", "warning")]
    many = tuple(finding(number, severity=severity, other_line=3, other_file="k.cu") for number, severity in places)
    run = Run("emulator", (1, 1, 1), (32, 1, 1), "sm_90", "k.cu", "x", findings=many)
    assert "  5 errors were found:" in repr(run)
    assert "    and 2 more, and 5 warnings on the lines of errors in run.findings" in repr(run)
