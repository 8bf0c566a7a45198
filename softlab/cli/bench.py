"""``softlab bench``: the speed of policy "fast" beside a device copy and other libraries, recorded or measured now."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from softlab.cli import swept
from softlab.cli.output import print_json, print_table, print_text, width
from softlab.cli.registry import command
from softlab.errors import Error

#: The recording that ships with softlab, and the defaults of a measurement (some seconds) and of a picture (one page).
SHIPPED = "fast_h200"
LIVE = {"tables": "forward", "ops": "softmax", "dtypes": "float32", "cols": "256,1024,4096,32768,131072"}
LIVE_PEERS = "fast,oneflow,torch,triton"
DRAWN = {"tables": "forward", "ops": "softmax", "dtypes": "float32,bfloat16"}
#: Characters of a row length and of a cell in a table, borders included.
_SHAPE_WIDTH, _CELL_WIDTH = 10, 21
#: The title of each table of a recording.
TABLE_TITLES = {"forward": "256 MiB of input", "gradients": "256 MiB of each input", "few": "few rows"}


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        'Compare policy "fast" with a device copy and with other libraries. On a machine with a GPU it measures there, '
        "in some seconds. Without a GPU, or with a recording named, it shows what was recorded on an H200."
    )
    parser.epilog = "To measure everything, in some minutes: python -m softlab.bench.record.fast OUT.json"
    parser.add_argument(
        "recording",
        nargs="?",
        help="a name (fast_h200; claims_h200: the reference design; sweep_h200: random lengths), or a file",
    )
    parser.add_argument("--recorded", action="store_true", help=f"show {SHIPPED}, even on a machine with a GPU")
    parser.add_argument("--op", default="", metavar="A,B", help="softmax, log_softmax, or either with _backward")
    parser.add_argument("--dtype", default="", metavar="A,B", help="float32, float16, bfloat16, float64")
    parser.add_argument(
        "--cols", default="", metavar="N,M", help="row lengths: those in the recording, or any to measure"
    )
    parser.add_argument("--peers", default="", metavar="A,B", help="oneflow, torch, inductor, triton, cudnn, ...")
    parser.add_argument("--few", action="store_true", help="few rows (1 to 128) instead of 256 MiB")
    parser.add_argument(
        "--json",
        nargs="?",
        const="-",
        metavar="OUT.json",
        help="write the selected rows as a recording (default: print)",
    )
    parser.add_argument(
        "--picture", metavar="OUT", help="write a picture: OUT.svg, OUT.png (needs Chromium) or OUT.html"
    )
    parser.add_argument(
        "--predict", action="store_true", help=f"put the timing model's estimates beside the recording {SHIPPED}"
    )
    parser.add_argument("--compare", metavar="OLD", help="show how many times as fast as in another recording")


@command("bench", 'Compare policy "fast" with a copy and other libraries: recorded, or measured here.', _arguments)
def _bench(options: argparse.Namespace) -> int:
    from softlab.bench import recordings, standings
    from softlab.hardware.devices import Device

    _check_outputs(options)
    asked = _asked(options)
    if options.predict:
        return _predicted(options, asked)
    old = recordings.opened(options.compare) if options.compare else None
    live = not (options.recorded or options.recording or Device.present() is None)
    if live:
        asked = ({} if options.few else LIVE) | {"peers": LIVE_PEERS} | asked
        recording = _measured(asked, Path(options.json or "-").stem)
    else:
        recording = recordings.opened(options.recording or SHIPPED)
    if "timings" in recording.tables:
        return _claims(recording, options, asked)
    if "ceiling" in recording.tables and "share" in recording.tables.get("cells", ()):
        return swept.show(recording, options)
    selection = _selection(asked)
    cells = standings.comparisons(recording, selection)
    if not cells:
        raise ValueError(f'{recording.name} has nothing of policy "fast" for that{_contents(recording)}')
    if options.json == "-":
        sys.stdout.write(_text(recording, selection))
        return 0
    when = recording.stamp.replace("recorded", "measured just now", 1) if live else recording.stamp
    stamp = f"{when}; by {recording.command}"
    if old is not None:
        _print_changes(standings.speedups(standings.comparisons(old, selection), cells), old.stamp, stamp)
    else:
        _print_cells(cells, stamp, whole=not asked)
    if recording.warning:
        print_text(recording.warning)
    _write_outputs(options, recording, asked, stamp)
    return 0


def _predicted(options: argparse.Namespace, asked: dict[str, str]) -> int:
    """The recorded times of policy "fast" beside the model's; the selection is that of a measurement by default."""
    from softlab.bench import predict
    from softlab.bench.recordings import load

    if options.recording not in (None, SHIPPED) or any((options.json, options.picture, options.compare, options.peers)):
        raise ValueError(f"--predict shows the recording {SHIPPED} alone, as a table: leave out the other options")
    selection = _selection({**({} if options.few else LIVE), "dtypes": "float32", **asked})
    left_out: Counter[str] = Counter()

    def wanted(group: str, op: str, dtype: str, cols: int) -> bool:
        taken = group.startswith("fast ") and selection.takes(group.removeprefix("fast "), op, dtype)
        return taken and (not selection.cols or cols in selection.cols)

    chosen = list(predict.cells(left_out, wanted))
    refused: Counter[str] = Counter()
    found = list(predict.predictions(chosen, refused))
    if not found:
        raise ValueError(f'{SHIPPED} has nothing of policy "fast" for that')
    rows = [
        (one.cell.plan.op, one.cell.plan.dtype, one.cell.plan.cols, one.cell.plan.rows, f"{one.cell.microseconds:.2f}",
         f"{one.microseconds:.2f}", f"{one.error:+.1%}", one.bound, one.cell.plan.kernel)
        for one in sorted(found, key=lambda one: (one.cell.plan.op, one.cell.plan.dtype, one.cell.plan.cols))
    ]  # fmt: skip
    head = ("operator", "dtype", "columns", "rows", "recorded us", "predicted us", "error", "bound by", "kernel")
    print_table("The timing model beside the recording", head, rows)
    errors = sorted(abs(one.error) for one in found)
    print_text(
        f"{_cells(len(found))}: off by {statistics.median(errors):.1%} in the median and by {errors[-1]:.1%} at most; "
        f"{load(SHIPPED).stamp}."
    )
    for why, count in refused.items():
        print_text(f"No estimate of {_cells(count)}: {why}")
    for why, count in left_out.items():
        print_text(f"No estimate of {_cells(count, 'recorded ')} of {why}.")
    return 0


def _cells(count: int, kind: str = "") -> str:
    """Their number in words."""
    return f"{count} {kind}cell{'' if count == 1 else 's'}"


def _check_outputs(options: argparse.Namespace) -> None:
    """Refuse a wrong file name before anything is measured."""
    if options.json not in (None, "-") and not options.json.endswith(".json"):
        raise ValueError(f"--json {options.json}: a name that ends in .json (to print: --json as the last word)")
    if options.picture and Path(options.picture).suffix not in _WRITERS:
        raise ValueError(f"--picture {options.picture}: a name that ends in {', '.join(_WRITERS)}")


def _write_outputs(options: argparse.Namespace, recording: Any, asked: dict[str, str], stamp: str) -> None:
    """The files of ``--json`` and ``--picture``."""
    from softlab.bench import standings

    if options.json:
        _write(options.json, lambda path: path.write_text(_text(recording, _selection(asked))))
    if options.picture:
        drawn = standings.comparisons(recording, _selection(asked or DRAWN))
        _write(options.picture, lambda path: _WRITERS[path.suffix](path, drawn, recording.device, stamp))


def _asked(options: argparse.Namespace) -> dict[str, str]:
    """The selection that the options give, by the names of :class:`Selection`."""
    given = {"ops": options.op, "dtypes": options.dtype, "cols": options.cols, "peers": options.peers}
    if options.few:
        given["tables"] = "few"
    elif options.op or options.dtype or options.cols:
        given["tables"] = "forward,gradients"
    return {name: words for name, words in given.items() if words}


def _selection(asked: dict[str, str]) -> Any:
    """A Selection. It always holds "fast", which is compared with each peer."""
    from softlab.bench.selections import Selection

    peers = f"fast,{asked['peers']}" if asked.get("peers") else ""
    return Selection.of(**{**asked, "peers": peers})


def _measured(asked: dict[str, str], name: str) -> Any:
    from softlab.bench.record import fast

    words = " ".join(f"--{name} {value}" for name, value in asked.items())
    how = f"python -m softlab.bench.record.fast OUT.json {words}"
    return fast.recorded(name, how, _selection(asked), (), lambda line: print(line, file=sys.stderr, flush=True))


def _contents(recording: Any) -> str:
    """The end of an error message: what the recording has."""
    tables = [table for name, table in recording.tables.items() if name in TABLE_TITLES]
    if not tables:
        return "; softlab bench shows recordings of softlab.bench.record.fast and softlab.bench.record.claims"
    has = {
        field: sorted({value for table in tables for value in table[field].tolist()})
        for field in ("op", "dtype", "cols")
    }
    return "; it has " + "; ".join(f"{field} {', '.join(map(str, values))}" for field, values in has.items())


# Tables ---------------------------------------------------------------------------------------------------------------


def _print_cells(cells: Sequence[Any], stamp: str, *, whole: bool) -> None:
    """``whole``: the summary of everything and softmax in each dtype. Otherwise each cell of the selection."""
    from softlab.bench import standings

    if whole:
        head = ("operator", "dtype", "of a copy", "times the best peer", "ahead of it")
        rows = [
            (f"{s.op}, few rows" if s.table == "few" else s.op, s.dtype,
             f"{_part(s.least_of_copy)}  {_part(s.median_of_copy)}",
             f"{_part(s.least_times_best)}  {_part(s.median_times_best)}", f"{s.ahead} of {s.compared}")
            for s in standings.summaries(cells)
        ]  # fmt: skip
        print_table('Policy "fast" beside a device copy and its fastest peer: least, median of all cells', head, rows)
        cells = [cell for cell in cells if (cell.table, cell.op) == ("forward", "softmax")] or cells
    for (table, op), group in groupby(cells, key=lambda cell: (cell.table, cell.op)):
        same = list(group)
        if len({cell.dtype for cell in same}) == 1:
            _print_each(op, table, same)
        else:
            _print_side_by_side(op, table, same)
    print_text(f"{stamp}.")
    if whole:
        print_text("Each cell: softlab bench --op softmax --dtype float32; see softlab bench --help.")


def _print_each(op: str, table: str, cells: Sequence[Any]) -> None:
    head = ("columns", "rows", "us", "GB/s", "of a copy", "times the best", "best peer", "kernel")
    rows = []
    for cell in cells:
        ours = cell.peers["fast"]
        speed = f"{ours.gb_per_second:.0f}"
        parts = (_part(cell.of_copy()), _part(cell.times_best))
        rows.append((cell.cols, cell.rows, f"{ours.microseconds:.2f}", speed, *parts, cell.best_peer, ours.kernel))
    print_table(f"{op}, {cells[0].dtype}, {TABLE_TITLES[table]}", head, rows)


def _print_side_by_side(op: str, table: str, cells: Sequence[Any]) -> None:
    few = table == "few"
    shapes = list(dict.fromkeys((cell.cols, cell.rows if few else 0) for cell in cells))
    found = {(cell.dtype, cell.cols, cell.rows if few else 0): cell for cell in cells}
    dtypes = list(dict.fromkeys(cell.dtype for cell in cells))
    at_once = max(1, (width() - 2 * _SHAPE_WIDTH) // _CELL_WIDTH)  # tables next to each other
    for first in range(0, len(dtypes), at_once):
        some = dtypes[first : first + at_once]
        rows = [
            (cols, rows or None, *(_short(found.get((dtype, cols, rows))) for dtype in some)) for cols, rows in shapes
        ]
        print_table(
            f"{op}, {TABLE_TITLES[table]}: part of a copy, times the best peer", ("columns", "rows", *some), rows
        )


def _short(cell: Any) -> str:
    return (
        "" if cell is None else f"{_part(cell.of_copy()):4} {_part(cell.times_best):>4} {cell.best_peer or ''}".rstrip()
    )


def _part(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _print_changes(changes: Sequence[Any], before: str, after: str) -> None:
    if not changes:
        raise ValueError("the two recordings have no problem in common")
    rows = [
        (c.new.op, c.new.dtype, c.new.rows, c.new.cols, f"{c.old.peers['fast'].microseconds:.2f}",
         f"{c.new.peers['fast'].microseconds:.2f}", f"{c.times:.3f}", _part(c.old.of_copy()), _part(c.new.of_copy()),
         _kernels(c))
        for c in changes
    ]  # fmt: skip
    head = (
        "operator",
        "dtype",
        "rows",
        "columns",
        "old us",
        "new us",
        "times as fast",
        "old of a copy",
        "new",
        "kernel",
    )
    print_table('Policy "fast", new beside old', head, rows)
    times = [change.times for change in changes]
    mean, least, most = statistics.geometric_mean(times), min(times), max(times)
    print_text(f"{len(times)} problems: {mean:.3f} times as fast in the geometric mean, {least:.3f} to {most:.3f}.")
    print_text(f"Old: {before}.\nNew: {after}.")


def _kernels(change: Any) -> str:
    old, new = change.old.peers["fast"].kernel, change.new.peers["fast"].kernel
    return new if old == new else f"{new} (was {old})"


def _claims(recording: Any, options: argparse.Namespace, asked: dict[str, str]) -> int:
    """Show a recording of the reference design: its speeds, and what they say about each claim."""
    from softlab.bench import claims, report
    from softlab.bench.consequences import copy_gb_per_second

    if asked or options.picture or options.compare or options.json not in (None, "-"):
        raise ValueError(f"{recording.name} holds only the reference design: the one option for it is --json")
    if options.json:
        return print_json(report.record(recording))
    rows = report.speeds(recording)
    names = tuple(rows[0])
    print_table(
        f"Softmax, GB/s; a device copy has {copy_gb_per_second(recording):.0f}",
        names,
        [[r.get(n) for n in names] for r in rows],
    )
    for claim in claims.judge(recording):
        print_text(str(claim))
    print_text(f"\n{recording.stamp}. {recording.method}")
    if recording.warning:
        print_text(recording.warning)
    return 0


# Files ----------------------------------------------------------------------------------------------------------------


def _text(recording: Any, selection: Any) -> str:
    from softlab.bench import recordings, standings
    from softlab.bench.record.fast import TABLE_KEYS

    return recordings.text_of(standings.narrowed(recording, selection), TABLE_KEYS)


def _write(named: str, write: Callable[[Path], Any]) -> None:
    path = Path(named)
    try:
        write(path)
    except OSError as error:
        raise Error(f"{named} cannot be written: {error.strerror}") from None
    print_text(f"{named}: {path.stat().st_size / 1000:.0f} kB")


def _panels(cells: Iterable[Any]) -> list[Any]:
    from softlab.bench import standings
    from softlab.views.standings import Subplot

    return [Subplot(*parts) for parts in standings.panels(list(cells))]


def _drawn(cells: Sequence[Any], device: str, stamp: str) -> str:
    from softlab.views.standings import standings_picture

    words = f"Part of the speed of a device copy, {TABLE_TITLES[cells[0].table]}; higher is better"
    return standings_picture(_panels(cells), title=f"Row softmax on {device}", words=words, stamp=stamp)


def _write_svg(path: Path, cells: Sequence[Any], device: str, stamp: str) -> None:
    path.write_text(_drawn(cells, device, stamp))


def _write_png(path: Path, cells: Sequence[Any], device: str, stamp: str) -> None:
    """The SVG as Chromium draws it, with two pixels per point."""
    import re
    import tempfile

    from softlab.cli import doctor

    chromium = doctor.chromium()
    if chromium is None:
        raise Error("a PNG needs Chromium, and none was found. An .svg needs nothing")
    picture = _drawn(cells, device, stamp)
    width, height = re.findall(r'(?:width|height)="(\d+)', picture)[:2]
    with tempfile.TemporaryDirectory() as folder:
        page, taken = Path(folder) / "picture.svg", Path(folder) / "picture.png"
        page.write_text(picture)
        options = ["--headless", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=2"]
        options += [f"--window-size={width},{height}", f"--screenshot={taken}", f"--user-data-dir={folder}/profile"]
        if os.name == "posix" and os.getuid() == 0:
            options.append("--no-sandbox")  # Chromium's sandbox does not run as root
        done = subprocess.run([chromium, *options, page.as_uri()], capture_output=True, text=True)
        if not taken.exists():
            raise Error(f"Chromium made no picture: {done.stderr.strip()[-300:]}")
        path.write_bytes(taken.read_bytes())


def _write_html(path: Path, cells: Sequence[Any], device: str, stamp: str) -> None:
    """A page with plotly inside, so that it needs no network."""
    try:
        from softlab.views.standings import standings_chart
    except ImportError:
        raise Error("a page needs plotly: pip install 'softlab[lab]'. An .svg does not") from None
    figure = standings_chart(_panels(cells), title=f"Row softmax on {device}", stamp=stamp)
    figure.write_html(path, include_plotlyjs=True, div_id="standings")


_WRITERS = {".svg": _write_svg, ".png": _write_png, ".html": _write_html}
