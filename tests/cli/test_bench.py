"""``softlab bench``, without a GPU: a recording made by hand, a GPU that is only said to be there."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from softlab.bench import recordings
from softlab.bench.record import fast
from softlab.cli import doctor
from softlab.errors import Error
from softlab.hardware.devices import Device
from tests.bench.test_standings import made
from tests.cli.test_cli import run

PICTURE = Path(__file__).parents[2] / "notebooks" / "images" / "softmax-h200.svg"


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch):
    monkeypatch.setattr(Device, "present", staticmethod(lambda: None))


@pytest.fixture
def path(tmp_path) -> str:
    """A small recording in a file."""
    recordings.write(tmp_path / "made.json", made(), fast.TABLE_KEYS)
    return str(tmp_path / "made.json")


@pytest.fixture
def gpu(monkeypatch) -> list:
    """A GPU whose recorder gives the small recording; the selections that it was asked for."""
    asked = []

    def recorded(name, command, selection, slow_cols, report):
        asked.append((command, selection))
        report("float32: fast 4000")
        return made(name, first=1024)

    monkeypatch.setattr(Device, "present", staticmethod(lambda: Device.named("H200")))
    monkeypatch.setattr(fast, "recorded", recorded)
    return asked


def test_without_a_gpu_the_recorded_result_is_shown_as_recorded(capsys):
    status, out, err = run(capsys, "bench")
    shipped = recordings.load("fast_h200")
    assert (status, err) == (0, "")
    flat = " ".join(out.split())
    assert f"{shipped.stamp}; by {shipped.command}" in flat
    assert "log_softmax_backward" in out
    assert "1048576" in out


def test_everything_of_a_recording(capsys, path):
    _, out, _ = run(capsys, "bench", path)
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if "│" in line]
    assert ["softmax", "float32", "0.80  0.90", "0.80  1.90", "1 of 2"] in lines
    assert ["softmax", "float16", "0.50  0.50", "", "0 of 0"] in lines
    assert ["softmax, few rows", "float32", "0.50  0.62", "0.50  1.25", "1 of 2"] in lines
    assert ["64", "0.80 0.80 oneflow", "0.50"] in lines
    assert ["1023", "1.00 3.00 quack", ""] in lines


def test_one_dtype_is_shown_with_times_and_kernels(capsys, path):
    _, out, _ = run(
        capsys, "bench", path, "--op", "softmax", "--dtype", "float32", "--cols", "1023", "--peers", "torch"
    )
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if "│" in line]
    assert rows == [["1023", "7", "1.00", "1000", "1.00", "4.00", "torch", "fast_warp"]]


def test_few_rows(capsys, path):
    _, out, _ = run(capsys, "bench", path, "--few")
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if "│" in line]
    assert [row[:2] + row[4:7] for row in rows] == [
        ["64", "1", "0.75", "2.00", "torch"],
        ["64", "8", "0.50", "0.50", "torch"],
    ]


def test_selected_rows_as_json(capsys, path, tmp_path):
    status, out, _ = run(capsys, "bench", path, "--few", "--json")
    assert status == 0
    assert list(json.loads(out)["tables"]) == ["few"]
    to = tmp_path / "few.json"
    assert run(capsys, "bench", path, "--few", "--json", to)[0] == 0
    assert to.read_text() == out
    assert "0.75" in run(capsys, "bench", to)[1]


def test_compare(capsys, path, tmp_path):
    faster = Path(path).read_text().replace('"of":["softmax","float32","fast","fast_warp"],"rows":[[64,9,1.25', (
        '"of":["softmax","float32","fast","fast_stream"],"rows":[[64,9,5.0'
    ))  # fmt: skip
    assert faster != Path(path).read_text()
    (tmp_path / "old.json").write_text(faster)
    status, out, _ = run(
        capsys,
        "bench",
        path,
        "--op",
        "softmax",
        "--dtype",
        "float32",
        "--cols",
        "64",
        "--compare",
        tmp_path / "old.json",
    )
    assert status == 0
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if "│" in line]
    assert rows[0][:7] == ["softmax", "float32", "9", "64", "5.00", "1.25", "4.000"]
    assert rows[0][-1] == "fast_warp (was fast_stream)"
    assert "4.000 times as fast in the geometric mean" in out


def test_with_a_gpu_it_is_measured(capsys, gpu, tmp_path):
    status, out, err = run(capsys, "bench", "--json", tmp_path / "mine.json", "--picture", tmp_path / "mine.svg")
    assert (status, err) == (0, "float32: fast 4000\n")
    ((command, selection),) = gpu
    assert selection.dtypes == ("float32",)
    assert len(selection.cols) == 5
    assert {"fast", "oneflow", "torch"} <= set(selection.peers)
    assert "--cols 256,1024,4096" in command
    assert "measured just now on NVIDIA H200" in out
    assert recordings.opened(str(tmp_path / "mine.json")).device == "NVIDIA H200"
    assert "measured just now" in (tmp_path / "mine.svg").read_text()


def test_what_is_measured_can_be_chosen(capsys, gpu):
    run(capsys, "bench", "--op", "softmax_backward", "--dtype", "float32", "--cols", "1024", "--peers", "torch,quack")
    run(capsys, "bench", "--few")
    (_, gradient), (_, few) = gpu
    assert (gradient.ops, gradient.cols, gradient.peers) == (("softmax_backward",), (1024,), ("fast", "torch", "quack"))
    assert (few.tables, few.cols) == (("few",), ())


def test_recorded_or_named_nothing_is_measured(capsys, gpu, path):
    assert run(capsys, "bench", "--recorded", "--cols", "32")[0] == 0
    assert run(capsys, "bench", path)[0] == 0
    assert gpu == []


def test_a_gpu_without_torch_is_an_error_that_says_what_to_do(capsys, gpu, monkeypatch):
    def missing(*_):
        raise Error("measuring takes PyTorch")

    monkeypatch.setattr(fast, "recorded", missing)
    status, out, err = run(capsys, "bench")
    assert (status, out, err) == (2, "", "softlab bench: measuring takes PyTorch\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--op", "softmin"), "no operator 'softmin': there are softmax, log_softmax"),
        (("--dtype", "float8"), "no dtype 'float8'"),
        (("--cols", "many"), "cols = many: whole numbers"),
        (("--peers", "tourch"), "Did you mean 'torch'?"),
        (("--cols", "33"), 'fast_h200 has nothing of policy "fast" for that; it has op log_softmax'),
        (("--few", "--op", "log_softmax"), "has nothing"),
        (("nothing_h200",), "no recording 'nothing_h200'; there are: bounds_h200"),
        (("cache_h200",), "softlab bench shows recordings of softlab.bench.record.fast and"),
        (("nothing.json",), "nothing.json cannot be read"),
        (("--compare", "nothing.json"), "nothing.json cannot be read"),
        (("--json", "claims_h200"), "--json claims_h200: a name that ends in .json"),
        (("--picture", "a.gif"), "--picture a.gif: a name that ends in .svg, .png, .html"),
        (("--picture", "no/such/folder.svg"), "no/such/folder.svg cannot be written"),
        (("claims_h200", "--op", "softmax"), "claims_h200 holds only the reference design: the one"),
    ],
)  # fmt: skip
def test_wrong_values_are_one_line_and_status_2(capsys, arguments, message):
    status, _, err = run(capsys, "bench", *arguments)
    assert status == 2
    assert err.count("\n") == 1
    assert message in err


def test_recordings_of_the_reference_design_are_still_shown(capsys):
    status, out, _ = run(capsys, "bench", recordings.folder() / "claims_h200.json")
    assert status == 0
    assert "recorded on NVIDIA H200" in out
    assert "Column storage in shared memory: at least 20 %: does not hold" in out
    record = json.loads(run(capsys, "bench", "claims_h200", "--json")[1])
    assert record["recorded"].startswith("recorded on NVIDIA H200, 2026-")
    assert len(record["claims"]) == 6
    assert {row["dtype"] for row in record["speeds"]} == {"float32", "float16"}
    assert f" {record['device_copy_gb_per_second']}" in out


def test_pictures(capsys, path, tmp_path):
    pytest.importorskip("plotly")
    assert run(capsys, "bench", path, "--op", "softmax", "--picture", tmp_path / "a.svg")[0] == 0
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"softmax, float32", "softmax, float16", "QuACK", "Row softmax on NVIDIA H200"} <= set(texts)
    assert run(capsys, "bench", path, "--picture", tmp_path / "a.html")[0] == 0
    page = (tmp_path / "a.html").read_text()
    assert "softlab, fast" in page
    assert 'src="http' not in page, "it needs no network"


def test_a_png_needs_a_browser(capsys, path, tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "chromium", lambda: None)
    status, _, err = run(capsys, "bench", path, "--picture", tmp_path / "a.png")
    assert (status, "a PNG needs Chromium" in err) == (2, True)


@pytest.mark.browser
def test_a_png_is_the_svg_twice_as_large(capsys, path, tmp_path):
    if doctor.chromium() is None:
        pytest.skip("no Chromium")
    assert run(capsys, "bench", path, "--picture", tmp_path / "a.png")[0] == 0
    run(capsys, "bench", path, "--picture", tmp_path / "a.svg")
    head = (tmp_path / "a.png").read_bytes()[:24]
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(head[16:20], "big") == 2 * int(root.get("width"))


def test_the_readmes_picture_is_what_the_recording_gives(capsys, tmp_path):
    """After a new recording: softlab bench --recorded --picture notebooks/images/softmax-h200.svg"""
    assert run(capsys, "bench", "--recorded", "--picture", tmp_path / "again.svg")[0] == 0
    assert (tmp_path / "again.svg").read_bytes() == PICTURE.read_bytes()
    assert PICTURE.stat().st_size < 60_000


@pytest.mark.parametrize("gpu", ["h200", "h100"])
def test_the_readmes_pictures_of_the_sweeps_are_what_the_recordings_give(capsys, tmp_path, gpu):
    """After a new recording: softlab bench sweep_h200 --picture notebooks/images/sweep-h200.svg"""
    status, out, _ = run(capsys, "bench", f"sweep_{gpu}", "--picture", tmp_path / "again.svg")
    assert status == 0
    assert (tmp_path / "again.svg").read_bytes() == PICTURE.with_name(f"sweep-{gpu}.svg").read_bytes()
    cells = recordings.load(f"sweep_{gpu}").tables["cells"]
    doubles = cells["share"][(cells["dtype"] == "float64") & (cells["cols"] < 256)]
    assert f"{doubles.min():.2f}" in out
    status, _, err = run(capsys, "bench", "sweep_h200", "--cols", "64")
    assert status
    assert "takes --picture OUT.svg alone" in err


@pytest.mark.parametrize("changed", [True, False])
@pytest.mark.parametrize(
    ("name", "options"),
    [("fast_h200", ("--recorded", "--op", "softmax", "--cols", "1024")), ("sweep_h200", ()), ("sweep_h100", ()),
     ("claims_h200", ())],
)  # fmt: skip
def test_a_recording_of_other_kernels_is_marked(capsys, monkeypatch, name, options, changed):
    recorded = recordings.load(name).sources
    monkeypatch.setattr("softlab.cuda.compile.sources_digest", lambda: "other" if changed else recorded)
    status, out, _ = run(capsys, "bench", *(options or (name,)))
    assert status == 0
    assert ("The kernels have changed since then" in out) is changed


@pytest.mark.further
def test_predictions_beside_the_recording(capsys, monkeypatch):
    import softlab
    from softlab.bench import predict
    from softlab.bench.recordings import load, select

    planned = []
    monkeypatch.setattr(predict, "plan", lambda *args, **more: planned.append(args) or softlab.plan(*args, **more))
    status, out, _ = run(capsys, "bench", "--predict", "--cols", "1024,256", "--op", "softmax", "--dtype", "float16")
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in out.splitlines() if "│ softmax" in line]
    assert status == 0
    assert [row[2] for row in rows] == ["256", "1024"]
    assert sorted(cols for _, cols, _ in planned) == [256, 1024], "no plan of a cell that is not shown"
    for _, dtype, cols, count, recorded, predicted, error, bound, _ in rows:
        found = softlab.estimate(softlab.plan(int(count), int(cols), dtype, policy="fast", device="H200"))
        assert (predicted, bound) == (f"{found.microseconds:.2f}", found.bound)
        (measured,) = select(
            load("fast_h200").tables["forward"], op=["softmax"], dtype=[dtype], peer=["fast"], cols=[int(cols)]
        )["microseconds"]
        assert recorded == f"{measured:.2f}"
        assert float(error.rstrip("%")) == pytest.approx(100 * (found.microseconds / measured - 1), abs=0.06)
    assert "2 cells: off by " in out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("claims_h200",), "shows the recording fast_h200 alone"),
        (("--json",), "leave out the other options"),
        (("--peers", "torch"), "leave out the other options"),
        (("--cols", "7"), 'has nothing of policy "fast" for that'),
    ],
)
def test_wrong_options_of_predict(capsys, options, words):
    status, _, error = run(capsys, "bench", "--predict", *options)
    assert status == 2
    assert words in error
