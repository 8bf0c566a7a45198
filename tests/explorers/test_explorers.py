"""The explorers' state without a browser: what a control sets, what a trait takes, what the picture is drawn from.

The kernel is real in ``test_real_kernel.py``; here a fake one writes a row as the named layout would.
"""

from __future__ import annotations

import re

import numpy as np
import plotly.graph_objects as go
import pytest
from traitlets import TraitError

from softlab.errors import CompileError
from softlab.explorers import BankExplorer, PlanExplorer, Prediction, show
from softlab.plans import Plan
from softlab.traces import COUNTERS, Accesses, InstructionCounters, Run, Trace
from softlab.views import grouped_bars

SOURCE = "first line\nwrite(pack);\nread(word);\n"


class Tracer:
    """A fake emulator: element i of pack p is stored at its layout's offset, one element at a time."""

    def __init__(self) -> None:
        self.plans: list[Plan] = []

    def __call__(self, plan: Plan, x: np.ndarray) -> Trace:
        self.plans.append(plan)
        pack, packs = plan.pack_size, plan.cols // plan.pack_size
        address, active, line = [], [], []
        for start in range(0, packs, 32):
            lane = start + np.arange(32)
            for i in range(pack):
                index = i * packs + lane if plan.layout == "column" else lane * pack + i
                address.append(index * 4)
                active.append(lane < packs)
                line.append(2)
        address.append(np.arange(32) * 4)
        active.append(np.arange(32) < 32)
        line.append(3)
        n = len(line)
        lines = np.array(line)
        shared = Accesses(
            line=lines.astype(np.int32), instruction=lines - 2, store=lines == 2, width=np.full(n, 4),
            block=np.zeros(n, np.int64), warp=np.zeros(n, np.int32), step=np.arange(n),
            address=np.array(address, np.uint64), active=np.array(active),
        )  # fmt: skip
        counts = np.arange(2 * len(COUNTERS)).reshape(2, -1)
        instructions = InstructionCounters(
            ("st.shared.f32 [%rd1], %f1;", "ld.shared.f32 %f1, [%rd1];"), ((), ()), counts
        )
        run = Run(
            "emulator", (1, 1, 1), (128, 1, 1), "sm_90", "k.cuh", SOURCE, instructions=instructions, shared=shared
        )
        return Trace(output=x, plan=plan, run=run)


@pytest.fixture
def banks() -> BankExplorer:
    return BankExplorer(cols=256, pack=2, layout="row_scalar", tracer=Tracer())


def test_summary_is_of_the_line_and_the_access(banks):
    assert banks.summary["code"] == "write(pack);"
    assert banks.summary["instructions"] == 8
    assert banks.summary["wavefronts"] == 16
    assert banks.summary["bank_conflicts"] == 8
    assert banks.summary["ptx"] == "st.shared.f32 [%rd1], %f1;"
    assert banks.summary["lanes"] == 32


def test_a_switch_redraws(banks):
    before = banks.diagram.data
    banks.layout_buttons.value = "column"
    assert banks.layout == "column"
    assert banks.summary["bank_conflicts"] == 0
    assert banks.diagram.data != before
    assert "the least possible" in banks.message.value


def test_traits_move_the_controls(banks):
    banks.cols, banks.pack, banks.layout, banks.dtype = 512, 4, "row", "float16"
    assert (banks.cols_slider.value, banks.pack_buttons.value) == (512, 4)
    assert (banks.layout_buttons.value, banks.dtype_menu.value) == ("row", "float16")
    assert banks.summary["bank_conflicts"] == 4 * 4 * 3, "4 warps' stores of 4 elements meet 4 times in a bank"


def test_columns_come_in_whole_packs(banks):
    banks.cols_slider.value = 255
    assert banks.cols == 254
    assert banks.cols_slider.value == 254
    assert "255" in banks.note
    assert "255" in banks.message.value
    banks.cols = 256
    assert banks.note == ""


def test_a_pack_is_at_most_16_bytes(banks):
    banks.dtype = "float16"
    banks.pack = 8
    banks.dtype = "float32"
    assert banks.pack == 4
    banks.pack_buttons.value = 8
    assert (banks.pack, banks.pack_buttons.value) == (4, 4)
    assert "16 bytes" in banks.message.value


def test_a_larger_pack_rounds_the_columns(banks):
    banks.cols = 250
    banks.pack = 4
    assert banks.cols == 248


def test_choosing_a_line_and_an_access(banks):
    banks.line_menu.index = 1
    assert banks.access_line == 1
    assert banks.summary["code"] == "read(word);"
    assert banks.access_slider.max == 0
    banks.access_line = 0
    banks.access_slider.value = 7
    assert banks.access == 7
    banks.cols = 64
    assert banks.access == banks.access_slider.max == 1


def test_the_chosen_lane_goes_to_the_view_and_back(banks):
    banks.diagram.lane = 5
    assert banks.lane == 5
    banks.lane = 9
    assert banks.diagram.lane == 9


def test_each_problem_runs_once():
    tracer = Tracer()
    explorer = BankExplorer(cols=256, pack=2, tracer=tracer)
    explorer.layout = "row"
    explorer.layout = "column"
    explorer.access = 1
    assert [plan.layout for plan in tracer.plans] == ["column", "row"]


def test_unknown_layouts_are_refused(banks):
    with pytest.raises(TraitError):
        banks.layout = "diagonal"


def test_a_short_text_stands_for_the_widget(banks):
    bundle = banks._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert data["text/plain"] == "BankExplorer(cols=256, dtype='float32', layout='row_scalar', pack=2)"
    assert "application/vnd.jupyter.widget-view+json" in data


def test_plan_explorer_follows_its_controls():
    explorer = PlanExplorer(rows=32, cols=1023, tracer=Tracer())
    assert explorer.summary["kernel"] == "warp"
    explorer.cols_slider.value = 1024
    assert explorer.summary["kernel"] == "block_smem"
    explorer.dtype_menu.value = "float64"
    assert explorer.summary["kernel"] == "block_uncached"
    assert "block_uncached" in explorer.launch.value
    assert explorer.plan.steps[0].question in explorer.steps.value


def test_what_stands_below_a_text_does_not_move_with_it():
    """The questions of a plan are more for one kernel than for another: they have space for all. A question takes 24
    pixels, the call a line of 22 above them, and the launch two below."""
    explorer = PlanExplorer(cols=1024)
    found = []
    for cols in (1, 64, 1000, 1024, 8192, 12_273, 65_536):
        explorer.cols = cols
        found.append(explorer.steps.value.count("data-step="))
    assert len(set(found)) > 1
    assert int(explorer.steps.layout.min_height.removesuffix("px")) >= 24 * max(found) + 3 * 22
    assert explorer.widget.children[0].layout.flex_flow == "row wrap", (
        "on a narrow page a control goes to the next line"
    )


def test_the_slider_of_row_lengths_ends_where_the_cell_says():
    explorer = PlanExplorer(cols=65_536, policy="fast", most_cols=1 << 20)
    explorer.cols_slider.value = 1_000_003
    assert (explorer.cols, explorer.cols_slider.max) == (1_000_003, 1 << 20)
    assert PlanExplorer().cols_slider.max == 16_384


def test_plan_explorer_takes_more_than_its_sliders_show():
    explorer = PlanExplorer(rows=100_000, cols=50_257, tracer=Tracer())
    assert explorer.rows_slider.value == 100_000
    assert explorer.plan.rows == 100_000


def test_plan_explorer_counts_few_rows_and_says_so():
    tracer = Tracer()
    explorer = PlanExplorer(rows=4097, cols=4096, tracer=tracer)
    explorer.run_button.click()
    assert explorer.counters["shared_load_instructions"] == len(COUNTERS)
    assert tracer.plans[-1].rows == 15, "odd, as 4097 is"
    assert "the first 15 of 4097 rows" in explorer.counted.value
    explorer.rows = 2
    assert explorer.counters == {}
    assert explorer.counted.value == ""


def test_plan_explorer_runs_the_launch_of_all_rows():
    tracer = Tracer()
    explorer = PlanExplorer(rows=4096, cols=8192, dtype="float16", policy="fast", tracer=tracer)
    assert explorer.summary["kernel"] == "fast_block"
    explorer.run_button.click()
    assert (tracer.plans[-1].kernel, tracer.plans[-1].rows) == ("fast_block", 8), "8 rows alone would have a cluster"
    explorer.cols = 65_536
    assert explorer.summary["cluster"] == explorer.plan.cluster > 1
    explorer.policy_buttons.value = "oneflow"
    assert explorer.summary["kernel"] == "block_uncached"
    assert "cluster" not in explorer.summary


def test_a_prediction_becomes_a_verdict_in_its_widget(capsys):
    prediction = Prediction("How many?", {"1": "One by itself.", "2 <of them>": "That counts it twice."})
    prediction.radio.value = "2 <of them>"
    assert prediction.choice == "2 <of them>"
    assert "Noted: 2 &lt;of them&gt;" in prediction.answer.value
    prediction.compare("1")
    assert capsys.readouterr().out == "The experiment shows: 1. You predicted: 2 <of them>.\n"
    shown = prediction.answer.value
    assert "softlab-wrong" in shown
    assert "You predicted: 2 &lt;of them&gt;. That counts it twice. One by itself." in shown
    assert prediction.radio.disabled, "a prediction that can be changed afterwards is none"


def test_a_right_prediction_is_confirmed_with_its_reason(capsys):
    prediction = Prediction("How many?", {"1": "One by itself.", "2": "That counts it twice."})
    prediction.choice = "1"
    assert prediction.radio.value == "1"
    prediction.compare("1")
    assert "You predicted just that." in capsys.readouterr().out
    assert "softlab-right" in prediction.answer.value
    assert "One by itself." in prediction.answer.value
    assert "twice" not in prediction.answer.value


def test_without_a_choice_the_experiment_speaks_alone_and_can_be_answered_later(capsys):
    prediction = Prediction("How many?", ["1", "2"])
    prediction.compare("1")
    assert capsys.readouterr().out == "The experiment shows: 1.\n"
    assert "softlab-unanswered" in prediction.answer.value
    assert not prediction.radio.disabled
    prediction.radio.value = "2"
    assert "softlab-wrong" in prediction.answer.value


def test_a_prediction_takes_its_answers_only():
    prediction = Prediction("How many?", ["1", "2"])
    with pytest.raises(ValueError, match="none of the answers"):
        prediction.choice = "3"
    with pytest.raises(ValueError, match="'3' is none of the answers: 1, 2"):
        prediction.compare("3")


def test_what_the_kernel_cannot_do_is_shown():
    def fails(plan, x):
        raise CompileError("NVRTC <is> missing")

    with pytest.raises(CompileError):
        BankExplorer(tracer=fails)
    explorer = PlanExplorer(rows=4, cols=64, tracer=fails)
    with pytest.raises(CompileError):
        explorer.execute()
    assert "NVRTC &lt;is&gt; missing" in explorer.counted.value


def test_a_failing_switch_says_why():
    tracer = Tracer()

    def fails_on_rows(plan, x):
        if plan.layout == "row":
            raise CompileError("no such kernel")
        return tracer(plan, x)

    explorer = BankExplorer(cols=256, tracer=fails_on_rows)
    with pytest.raises(CompileError):
        explorer.layout = "row"
    assert "no such kernel" in explorer.message.value
    explorer.layout = "column"
    assert "the least possible" in explorer.message.value


def shown_by(monkeypatch, picture) -> list:
    found = []
    monkeypatch.setattr("softlab.explorers.display.display", lambda *what, **how: found.append((*what, how)))
    show(picture)
    return found


def test_a_figure_is_shown_without_a_copy_of_plotly(monkeypatch):
    ((data, how),) = shown_by(monkeypatch, go.Figure(go.Bar(y=[1, 2]), {"title": {"text": "bars"}}))
    assert set(data) == {"application/vnd.plotly.v1+json", "text/plain"}
    assert data["text/plain"] == "bars"
    assert data["application/vnd.plotly.v1+json"]["data"][0]["type"] == "bar"
    assert how == {"raw": True, "metadata": {}}


def test_a_chart_has_a_still_picture_for_pages_without_plotly(monkeypatch):
    bars = grouped_bars((1, 2), {"one": [3, 4]}, title="Speed", x="columns", y="percent", stamp="recorded")
    ((data, _),) = shown_by(monkeypatch, bars)
    assert {"Speed", "columns", "recorded"} <= set(re.findall(r">([^<>]+)</text>", data["image/svg+xml"]))


def test_a_diagram_is_shown_as_a_widget(monkeypatch):
    data = {"title": "Words", "legend": [], "panels": []}
    ((diagram, _),) = shown_by(monkeypatch, data)
    assert diagram.data == data
    assert repr(diagram) == "GridDiagram('Words')"


def test_only_pictures_are_shown():
    with pytest.raises(TypeError, match="cannot show a int"):
        show(3)


def test_the_plan_explorer_shows_one_kernel_as_taken():
    """Shared memory is tried first for a row that does not fit, and the picture says so."""
    explorer = PlanExplorer(rows=4096, cols=12_273)
    shown = explorer.steps.value
    lit = re.findall(r'data-lit="1">\S+ ([^<]+)<', shown)
    assert [answer for answer in lit if answer.startswith("block_")] == ["block_uncached"]
    assert "block_smem: tried, and it does not fit" in shown
    explorer.cols = 1024
    assert "tried" not in explorer.steps.value.partition("</style>")[2]
