"""Source with heat: what is beside each line, and that nothing of a learner's text becomes markup."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from softlab.cuda.control_codes import ControlCode
from softlab.cuda.machine_instructions import MachineInstruction
from softlab.instruments.listing import Listing, MachineLine, PtxLine, SourceLine
from softlab.traces import COUNTERS
from softlab.views.control_codes import control_words
from softlab.views.source import (
    MOST_SHOWN,
    Note,
    annotated_source,
    annotated_text,
    columns_of,
    source_data,
    source_view,
)

SOURCE = "int a<b>(); // \"&\"\n\tx[i] = 1;\n\n<script>alert('1')</script>\n"
BY_LINE = {
    1: dict.fromkeys(COUNTERS, 0) | {"instructions": 50},
    2: dict.fromkeys(COUNTERS, 0)
    | {"instructions": 200, "global_store_requests": 8, "global_store_sectors": 1234, "bank_conflicts": 3},
}


class Cells(HTMLParser):
    """The table as text, and what is wrong with the nesting."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.lines: list[str | None] = []
        self.styles: dict[tuple[str, int], str] = {}
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        values = dict(attributes)
        if tag != "br":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
            self.lines.append(values.get("data-line"))
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.cell = values
        if tag == "div" and "data-counter" in getattr(self, "cell", {}):
            self.styles[self.cell["data-counter"], int(self.lines[-1])] = values["style"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.rows[-1][-1] += data

    def of_line(self, line: int) -> list[str]:
        return self.rows[self.lines.index(str(line))]


def test_lines_and_figures():
    cells = Cells(annotated_source(SOURCE, BY_LINE))
    assert cells.rows[0] == ["line", "CUDA", "instructions", "global store sectors", "bank conflicts"]
    assert cells.of_line(1) == ["1", 'int a<b>(); // "&"', "50", "", ""]
    assert cells.of_line(2) == ["2", "\tx[i] = 1;", "200", "1\u202f234", "3"]
    assert cells.of_line(3) == ["3", "", "", "", ""]
    assert cells.of_line(4)[1] == "<script>alert('1')</script>"


def test_the_text_never_becomes_markup():
    html = annotated_source(SOURCE, BY_LINE, notes=[Note(2, "<img src=x> & <b>")])
    assert Cells(html).tags <= {"table", "thead", "tbody", "tr", "th", "td", "div", "br"}
    assert "<img" not in html


def test_a_bar_is_the_share_of_the_largest():
    styles = Cells(annotated_source(SOURCE, BY_LINE)).styles
    assert "25%" in styles["instructions", 1]
    assert "100%" in styles["instructions", 2]


def test_colours_follow_the_theme():
    html = annotated_source(SOURCE, BY_LINE, notes=[Note(1, "a")])
    inks = set(re.findall(r"(?<![-\w])color:([^;\"]*)", html))
    assert inks
    assert all(ink.startswith("var(--jp-") for ink in inks)


def test_a_note_stands_below_its_line():
    cells = Cells(annotated_source(SOURCE, {}, notes=[Note(2, "global-out-of-bounds: ...\n(thread 3)")]))
    assert cells.rows[0] == ["line", "CUDA"]
    at = cells.lines.index("2")
    assert cells.rows[at + 1] == ["", "global-out-of-bounds: ...(thread 3)"]
    assert cells.lines[at + 2] == "3"


def test_only_columns_that_count():
    assert columns_of(BY_LINE) == ("instructions", "global_store_sectors", "bank_conflicts")
    assert columns_of({}) == ()
    cells = Cells(annotated_source(SOURCE, BY_LINE, counters=["barriers"]))
    assert cells.rows[0] == ["line", "CUDA", "barriers"]
    assert cells.of_line(2)[2] == ""


def test_plain_text():
    text = annotated_text("a;\nb;", {2: {"instructions": 12345}}, notes=[Note(1, "wrong\nreally")])
    assert text.splitlines() == [
        "  line  instr.  CUDA",
        ">    1          a;",
        "      | wrong",
        "      | really",
        "     2   12345  b;",
    ]


def test_plain_text_without_counters():
    assert annotated_text("a;\n\nb;", {}).splitlines() == ["  line  CUDA", "     1  a;", "     2", "     3  b;"]


def instruction(text: str) -> MachineInstruction:
    return MachineInstruction(0, text, text.split()[0].split(".")[0], (), "", False, (), (), 0, ())


def hand_made(machine: bool = True) -> Listing:
    """Line 2 has 20 PTX instructions, and number 15 loads; line 0 belongs to no line."""
    loads = {"instructions": 4, "global_load_sectors": 16}
    ptx = [PtxLine(0, 1, "ld.param.u64 %rd1, [p];", 0, {"instructions": 4}, ())]
    for number in range(1, 21):
        counters = loads if number == 15 else {"instructions": 4}
        text = "ld.global.f32 %f1, [%rd1];" if number == 15 else f"mov.u32 %r{number}, {number};"
        ptx.append(PtxLine(number, number + 1, text, 2, counters, (1,) if number == 15 else ()))
    sass = (MachineLine(instruction("MOV R1, <c>"), 2), MachineLine(instruction("LDG.E R2, [R4]"), 2))
    made = (0, 1) if machine else ()
    lines = (
        SourceLine(1, "__global__ void f()", {}, (), ()),
        SourceLine(2, "  x = *p;", {"instructions": 80, "global_load_sectors": 16}, tuple(range(1, 21)), made),
    )
    why = "" if machine else "nvdisasm is not found"
    return Listing("kernel.cu", "sm_90", lines, tuple(ptx), sass if machine else (), why)


def test_three_languages_side_by_side():
    cells = Cells(source_view(hand_made(), counter="global_load_sectors"))
    assert cells.rows[0] == ["line", "CUDA", "global load sectors", "PTX", "SASS"]
    number, code, figure, ptx, sass = cells.of_line(2)
    assert (number, code, figure) == ("2", "  x = *p;", "16")
    assert "16ld.global.f32 %f1, [%rd1];" in ptx
    assert sass == "MOV R1, <c>LDG.E R2, [R4]"


def test_what_counts_is_shown_and_the_rest_unfolds():
    html = source_view(hand_made(), counter="global_load_sectors")
    folded = "".join(re.findall(r"<details>.*?</details>", html))
    assert "ld.global" in html
    assert "ld.global" not in folded
    assert folded.count("mov.u32") == 19
    folded = "".join(re.findall(r"<details>.*?</details>", source_view(hand_made())))
    assert folded.count("</div>") == 20 - MOST_SHOWN


def test_machine_code_that_cannot_be_had():
    cells = Cells(source_view(hand_made(machine=False)))
    assert cells.rows[0] == ["line", "CUDA", "instructions", "PTX"]
    assert cells.rows[-1] == ["", "No machine code: nvdisasm is not found"]


def test_data_of_the_panes():
    data = json.loads(json.dumps(source_data(hand_made())))
    assert [entry["name"] for entry in data["counters"]] == ["global_load_sectors", "instructions"]
    assert data["lines"][1] == {
        "text": "  x = *p;",
        "line": 2,
        "counts": {"instructions": 80, "global_load_sectors": 16},
    }
    assert (len(data["ptx"]), data["ptx"][0]["line"]) == (21, 0)
    assert data["sass"] == [
        {"text": "MOV R1, <c>", "line": 2, "counts": {}},
        {"text": "LDG.E R2, [R4]", "line": 2, "counts": {"instructions": 4, "global_load_sectors": 16}},
    ]


def with_control_codes() -> Listing:
    """Line 2 loads into scoreboard 2 and waits for itself; both instructions have control codes."""
    listing = hand_made()
    load = ControlCode(1, True, 2, None, 0, 0)
    use = ControlCode(4, False, None, None, 0b000100, 0)
    first, second = (line.instruction for line in listing.machine)
    machine = (
        MachineLine(replace(second, control=load), 2),
        MachineLine(replace(first, control=use), 2, ((2, (0,)),)),
    )
    return replace(listing, machine=machine)


def test_control_codes_in_words():
    listing = with_control_codes()
    assert control_words(listing, 0) == "sets scoreboard 2"
    assert control_words(listing, 1) == "waits for the load of line 2, stalls 4 cycles"
    assert control_words(hand_made(), 0) == ""
    cells = Cells(source_view(listing))
    assert cells.rows[0][-1] == "SASS and its control codes"
    assert cells.of_line(2)[-1] == (
        "LDG.E R2, [R4]sets scoreboard 2MOV R1, <c>waits for the load of line 2, stalls 4 cycles"
    )
    data = source_data(listing)
    assert data["controls"]
    assert data["sass"][0]["control"] == "sets scoreboard 2"


def test_a_wait_until_registers_are_read():
    listing = with_control_codes()
    store = ControlCode(1, True, None, 2, 0, 0)
    setter = replace(
        listing.machine[0], instruction=replace(instruction("STG.E [R2], R4"), control=store, opcode="STG")
    )
    listing = replace(listing, machine=(setter, listing.machine[1]))
    assert control_words(listing, 0) == "sets scoreboard 2 until its registers are read"
    assert control_words(listing, 1) == "waits until the store of line 2 has read, stalls 4 cycles"


def test_control_codes_that_are_not_known_are_said():
    assert Cells(source_view(hand_made())).rows[-1] == ["", "The control codes of sm_90 are not known."]


def test_an_unknown_counter():
    with pytest.raises(ValueError, match="'sectors' is no counter; there are shared_load"):
        source_view(hand_made(), counter="sectors")
    with pytest.raises(ValueError, match="'time' is no counter"):
        annotated_source("a", {}, counters=["time"])
