"""The parameters that rows of whole launches, of requests of several lines and of branches give."""

from __future__ import annotations

from typing import Any

import numpy as np

from softlab.hardware.atlas import Atlas

_SMS = (1, 8, 33, 132)
_STATES = ("cold", "warm")
#: Cycles of a launch whose blocks do nothing, from the start of a block: a parameter is there, and its last branch.
_AROUND = 12.0
#: The middle of the largest of several values with a normal distribution, by their number, in standard deviations.
_LARGEST = {2: 0.56, 4: 1.03, 8: 1.42, 16: 1.77, 32: 2.07}
#: MiB of copies that fit into L2 with what the launch before has stored.
_IN_L2 = (8, 16, 20, 24)
#: Bytes of a piece that one warp of each SM keeps in flight: 8 pieces of 64 bytes.
_IN_FLIGHT = 512
#: Stall counts around the branches of the rows ``cost.BRA.WHAT.over.N``: BSSY, LOP3, BRA, and those of its loop.
_AROUND_BRANCH = 1 + 3 + 10 + 1.6

#: And in the loop of ``cost.CALL_RET+loop``: UIADD3, MOV, ISETP; IMAD; BRA with what a taken branch takes. An LDC, too.
_AROUND_CALL = 1 + 5 + 13 + 2 + 10


def of_launches(atlas: Atlas) -> dict[str, Any]:
    """How launches begin and end, and what the launch behind the same one finds in L2."""
    known: dict[str, Any] = {}
    rows = {
        (state, what, n): atlas.get(f"start.{state}.spin.{what}.{n}.threads.{32 if n == 1 else 128}", float("nan"))
        for state in _STATES for what in ("only", "store", "load_store") for n in _SMS
    }  # fmt: skip
    if not np.isnan(list(rows.values())).any():
        each = atlas["launch.block_interval.threads.128"]
        later = atlas["latency.LDC.KiB.1"] + _AROUND
        idle = {"cold": atlas["latency.DRAM"], "warm": atlas["latency.L2"]}
        known["start"] = tuple(
            tuple((float(n), rows[state, "only", n] - n * each - later) for n in _SMS) for state in _STATES
        )
        known["drain"] = tuple(
            tuple((float(n), rows[state, "store", n] - rows[state, "only", n]) for n in _SMS) for state in _STATES
        )
        known["first_load"] = tuple(
            tuple((float(n), max(0.0, rows[state, "load_store", n] - rows[state, "store", n] - idle[state]))
                  for n in _SMS) for state in _STATES
        )  # fmt: skip
    return known | _constants(atlas) | _again(atlas)


def _constants(atlas: Atlas) -> dict[str, Any]:
    """By how much a parameter comes later where L2 is cold: on one SM, and on all."""
    late = []
    for sms, threads in ((1, 32), (132, 128)):
        cold, warm = (atlas.get(f"start.{state}.parameter.{sms}.threads.{threads}", float("nan")) for state in _STATES)
        late.append((float(sms), max(0.0, cold - warm)))
    return {} if np.isnan(late).any() else {"constant_cold": tuple(late)}


def _again(atlas: Atlas) -> dict[str, Any]:
    """What is not in L2 takes the time of a cold launch; what is, goes on as the small launches do."""
    try:
        (mib, cold), (_, warm) = atlas.series("launch.read.cold"), atlas.series("launch.read.warm")
    except KeyError:
        return {}
    small = mib <= 24
    slope, begin = np.polyfit(mib[small], warm[small], 1)
    quick = begin + slope * mib
    share = np.clip((cold - warm) / (cold - quick), 0.0, 1.0)
    large = mib > 24
    points = zip(mib[large] * 2**20, np.minimum.accumulate(share[large]), strict=True)
    known: dict[str, Any] = {"again": tuple((float(size), float(value)) for size, value in points)}
    copied = [atlas.get(f"launch.copy.warm.{n}", 0.0) for n in _IN_L2]
    if all(copied):
        # A copy of n MiB reads one half and stores the other: what a stored MiB takes in L2 beside loads.
        each = 2 * float(np.polyfit(_IN_L2, copied, 1)[0]) - float(slope)
        known["l2_passing_bytes"] = 2**20 / (each * atlas.clocks["SM"])
    return known


def of_lines(atlas: Atlas) -> dict[str, Any]:
    """What several lines, or several pieces of 64 bytes, take in one request."""
    known: dict[str, Any] = {}
    near = {n: atlas.get(f"latency.L2.lines.{n}.sms.132", 0.0) for n in (1, *_LARGEST)}
    far = {n: atlas.get(f"latency.DRAM.lines.{n}.sms.132", 0.0) for n in (1, *_LARGEST)}
    if all(near.values()):
        known["l2_spread"] = tuple((float(n), max(0.0, near[n] - near[1] - (n - 1))) for n in near)
    if all(near.values()) and all(far.values()):
        beyond = {n: far[n] - near[n] for n in far}
        alone = atlas["latency.DRAM"] - atlas["latency.L2"]
        at_random = [(beyond[n] - beyond[1]) / sd for n, sd in _LARGEST.items()]
        streams = [atlas.get(f"bandwidth.{where}.read.{_IN_FLIGHT}", 0.0) for where in ("DRAM", "L2")]
        if all(streams):
            dram, l2 = (_IN_FLIGHT * 132 / rate for rate in streams)
            known["dram_spread"] = (max(0.0, dram - l2 - alone) / _LARGEST[8], float(np.median(at_random)))
            # Lines at random of 4 GiB have each a page of their own; ``latency.DRAM`` has touched its pages before.
            known["dram_new_page"] = max(0.0, beyond[1] - alone)
    rows = [(n, atlas.get(f"bandwidth.DRAM.read.sms.{n}", 0.0)) for n in (1, 2, 4, 8, 16, 33, 66)]
    if all(rate for _, rate in rows):
        known["dram_sm_bytes"] = tuple((float(n), rate / n) for n, rate in rows)
    return known


def of_branches(atlas: Atlas) -> dict[str, Any]:
    """BSYNC, a divergence, and a call with its return."""
    known: dict[str, Any] = {}
    over = 8
    straight = atlas.get(f"cost.BRA.not_taken.over.{over}", 0.0)
    if straight:
        known["bsync"] = straight - (4 * over + 3) - _AROUND_BRANCH
    if "cost.CALL_RET+loop" in atlas:
        known["call"] = (atlas["cost.CALL_RET+loop"] - _AROUND_CALL - atlas["latency.LDC.KiB.1"]) / 2
    leave = [atlas.get(f"cost.leave.{n}", 0.0) for n in (1, 32)]
    if all(leave):
        known["divergence"] = (leave[1] - leave[0]) / 31
    return known
