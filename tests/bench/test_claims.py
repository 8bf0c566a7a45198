"""Verdicts on recordings changed so that a claim is known to hold; and the shipped recording read by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from softlab.bench import claims, consequences, recordings
from softlab.bench.claims import Claim, Evidence
from softlab.bench.record.claims import TABLE_KEYS
from softlab.plans import forced, plan


@pytest.fixture(scope="module")
def shipped() -> recordings.Recording:
    return recordings.load()


def changed(recording, table, where, **columns):
    """The recording with columns multiplied in the rows that ``where`` (columns -> mask) finds."""
    values = recording.tables[table]
    rows = where(values)
    new = {
        name: np.where(rows, column * columns[name], column) if name in columns else column
        for name, column in values.items()
    }
    return replace(recording, tables={**recording.tables, table: new})


def slower(recording, where, times):
    return changed(recording, "timings", where, microseconds=times, again=times)


@pytest.mark.parametrize(
    ("findings", "verdict"),
    [
        ([(3, 3, False)], "holds"),
        ([(3, 3, False), (0, 5, True)], "holds"),
        ([(2, 3, False)], "holds partly"),
        ([(0, 3, False), (1, 3, False)], "holds partly"),
        ([(0, 3, False), (3, 3, True)], "does not hold"),
    ],
)
def test_verdicts(findings, verdict):
    made = Claim(1, "c", tuple(Evidence("s", true, cases, "", beyond) for true, cases, beyond in findings))
    assert made.verdict == verdict
    assert str(made).startswith(f"1. c: {verdict}\n")


def test_the_shipped_verdicts(shipped):
    verdicts = [claim.verdict for claim in claims.judge(shipped)]
    assert verdicts == ["holds partly", "does not hold", "holds partly", "holds", "holds partly", "holds partly"]


def test_claim_1_on_a_gpu_where_all_is_as_fast_as_a_copy(shipped):
    """Every launch takes a copy's time, and cuDNN twice that."""
    us = float(np.median(shipped.tables["copies"]["microseconds"]))
    times = shipped.tables["timings"]
    ideal = np.where(times["kernel"] == "cudnn", 2 * us, us)
    made = replace(shipped, tables={**shipped.tables, "timings": {**times, "microseconds": ideal, "again": ideal}})
    assert claims.judge(made)[0].verdict == "holds"


def test_claim_2_where_rows_are_slow(shipped):
    slow = slower(shipped, lambda t: (t["kernel"] == "block_smem") & np.isin(t["layout"], ["row", "row_scalar"]), 1.4)
    assert claims.judge(slow)[1].verdict == "holds"


def test_claim_3_where_small_blocks_read_more(shipped):
    more = changed(shipped, "counters", lambda t: t["block_size"] == 128, dram_read_bytes=4.0)
    assert claims.judge(more)[2].verdict == "holds"


def test_claim_5_where_the_other_blocks_are_slow(shipped):
    """Each block size but the rule's made slower, one row length at a time."""

    def others(t):
        keep = t["kernel"] == "block_smem"
        for dtype in ("float32", "float16"):
            for made in claims.planned(shipped, dtype):
                if made.kernel == "block_smem":
                    keep &= ~((t["dtype"] == dtype) & (t["cols"] == made.cols) & (t["block_size"] == made.block_size))
        return keep

    assert claims.judge(slower(shipped, others, 1.5))[4].verdict == "holds"


def test_claim_6_where_packs_of_1_are_slow(shipped):
    slow = slower(shipped, lambda t: t["pack_size"] == 1, 1.5)
    assert claims.judge(slow)[5].verdict == "holds"


def test_speeds_by_hand(shipped):
    """From the file's own text: 65536 rows of 1024 float32, read and written."""
    record = json.loads((recordings.folder() / "claims_h200.json").read_text())
    series = record["tables"]["timings"]["series"]
    rows = next(s["rows"] for s in series if s["of"] == ["block_smem", 128, 2, "column", "float32"])
    cols, number, first, second = next(row for row in rows if row[0] == 1024)
    assert (cols, number) == (1024, 65_536)
    by_hand = 2 * 1024 * 65_536 * 4 / ((first + second) / 2 * 1e-6) / 1e9
    made = plan(65_536, 1024, device="H200")
    assert claims.speed(shipped, made) == pytest.approx(by_hand)
    measured = consequences.measured(shipped, made)
    assert measured.gb_per_second == pytest.approx(by_hand)
    assert measured.exact


def test_the_nearest_length_speaks_for_others(shipped):
    assert consequences.measured(shipped, plan(8, 1100, device="H200")).cols == 1024
    assert consequences.measured(shipped, plan(8, 8, device="H200")) is None, "32 columns are not near 8"
    assert consequences.measured(shipped, plan(8, 1024, device="A100")) is None
    assert consequences.measured(shipped, plan(8, 1024, op="log_softmax", device="H200")) is None
    assert consequences.measured(shipped, plan(0, 1024, device="H200")) is None


def test_rows_in_flight(shipped):
    """The ledger's picture: DRAM traffic rises with the bytes in flight, from 1 input to 3."""
    reads = claims.rereads(shipped)
    order = np.argsort(reads["in_flight"])
    flight, dram = reads["in_flight"][order] / 2**20, reads["dram"][order]
    assert (dram[flight < 25] < 1.1).all()
    assert (dram[flight > 65] > 2.8).all()
    one = recordings.select(reads, cols=16_384, dtype="float32", block_size=512)
    held = forced(4096, 16_384, kernel="block_uncached", block_size=512, device="H200").occupancy.blocks_per_sm
    assert one["in_flight"].tolist() == [132 * held * 16_384 * 4]


def test_achieved_is_below_theoretical(shipped):
    found = claims.achieved(shipped)
    assert len(found) > 15
    assert all(0 < measured <= theoretical for _, theoretical, measured in found)


def test_the_shipped_file_is_as_it_would_be_written(shipped, tmp_path):
    path = tmp_path / "claims_h200.json"
    recordings.write(path, shipped, TABLE_KEYS)
    assert path.read_text() == (recordings.folder() / "claims_h200.json").read_text()
    assert path.stat().st_size < 60_000
