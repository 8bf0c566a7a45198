"""The atlas of a GPU: what each class of instruction and each part of the memory system takes, as measured.

:func:`load` reads the recording of a device, which ``softlab.bench.record.atlas`` made on it. Nothing here needs a GPU.
A row is one measured figure with a key, ``atlas["latency.IMAD"]``. The parts of a key are separated by dots. A row that
belongs to a curve has a number as its last part, and :meth:`Atlas.series` gives the whole curve. Classes have the names
that ``nvdisasm`` prints, with the modifiers that change the time.

Units: "cycles" are those of the SM's clock; "bytes/cycle" are bytes per cycle of that clock, of one SM (L1, shared
memory) or of the whole GPU (L2, DRAM), as the key's entry says.

**Core**

- ``latency.CLASS``: Cycles from the issue of an instruction to the issue of one that needs its result. Classes:
  IADD3, IMAD, IMAD.WIDE, IMAD.HI, LOP3, SHF, SHF.R, LEA.HI, ISETP, SEL, PRMT, POPC, FLO, BREV, VIMNMX, IABS, IDP;
  FADD, FMUL, FFMA, FMNMX, FSETP, FSEL; HMNMX2, HFMA2+HFMA2.MMA (both together, and so HADD2, HMUL2); DADD, DMUL,
  DFMA, DSETP; MUFU.EX2, .RCP, .RSQ, .LG2, .SIN, .COS, .SQRT, .TANH; F2FP.F16, F2FP.BF16, HADD2.F32 (a half to a
  float), F2F.F64.F32, F2F.F32.F64, F2I, F2I.F64, I2F (I2FP.F32.S32), I2F.F64, FRND; S2R; SHFL.IDX, SHFL.UP,
  SHFL.DOWN, SHFL.BFLY, VOTE, VOTE.ANY, MATCH.ANY, MATCH.ALL, REDUX.SUM, REDUX.MAX, REDUX.OR.
- ``interval.CLASS``: Cycles between two instructions of the class on one scheduler, all four schedulers busy with 8
  warps each and no dependence: what the pipe takes. The classes are those of ``latency``, and HADD2, HMUL2, HFMA2,
  HFMA2.MMA, HFMA2.BF16, CS2R, and of the uniform datapath UIADD3, ULOP3, USHF, UIMAD, UIMAD.WIDE, UPOPC, ULDC.
- ``interval.CLASS.warps.N``: The same with N warps per scheduler: 1, 2, 4, 8, 16.
- ``interval.FFMA.banks.N``: FFMA with N different sources in one of the two register banks (1, 2, 3), without reuse;
  ``interval.FFMA.banks.N.reuse`` with one of them in the reuse cache; both also with ``.warps.1``. IMAD, IADD3 and
  LOP3 too.
- ``interval.FFMA.banks.PATTERN``: FFMA whose sources change from one to the next, each letter a register of the even
  or the odd bank: turns "eeo eoo", every.4 "eeo o o o", first "eeo", last "eoo", before.both "eeo eo o o", before.same
  "eeo e o o", twice "eeo eeo o o", halves "ee oo", apart "eeo eo eoo eo", kept "eeo eeo" with the second source kept.
  ``.to.even``, ``.to.odd``: all results in one bank; ``.stall.2``: each two cycles behind the one before.
- ``interval.IMAD.WIDE.stall.N``: One warp per scheduler, and N cycles as the stall count.
- ``interval.mixed.A+B``: Cycles per pair of one A and one B on a scheduler: whether two pipes work at the same time.
  UIMAD, UIMAD.WIDE and UIADD3 beside IMAD, too; IMAD.WIDE and IMAD.HI beside others also with ``.warps.1``.
- ``interval.mixed.A.of.N.B``: Cycles per instruction where one of N is an A and the others are a B.

**Tensor cores**

- ``latency.CLASS``: HMMA.16816.F32 and its like (1684, 1688; F16; BF16, TF32), IMMA.8816.S8.S8 and its like, DMMA.8x8x4
  and its like: a chain of products, each of which adds to the result of the one before it. ``....operand``: each
  multiplies it. Also MOVM.16.MT88.
- ``interval.CLASS.warps.N``: As for other classes. ``interval.HMMA.16816.F32.unkept.warps.N`` and its like: no source
  is kept for reuse; ``....stall.N``: one warp per scheduler, and N cycles as the stall count.
- ``interval.mixed.A+B`` of two products; ``interval.mixed.A.of.N.B`` of a product, and FFMA, LOP3, IMAD, HFMA2 or
  DFMA that work on its result.
- ``latency.LDSM.16.M88``, ``.M88.2``, ``.M88.4``, ``.MT88`` and so on (transposed), ``....conflict.N``: Load to use; N
  rows of a matrix share their banks: 1, 2, 4, 8. ``interval_sm.LDSM...``, ``interval_sm.STSM...``: Cycles per warp
  instruction of the whole SM; ``.warps.N``: with N warps. ``latency.STSM.16.M88.LDS``: a store and a load together.

**Shared memory**

- ``latency.LDS``, ``.LDS.64``, ``.LDS.128``; ``latency.LDS.conflict.N``, ``latency.LDS.64.conflict.N``: Load to use;
  N lanes per bank: 1, 2, 4, 8, 16, 32.
- ``interval_sm.LDS``, ``.LDS.64``, ``.LDS.128``, ``.STS``, ``.STS.64``, ``.STS.128`` and ``....conflict.N``: Cycles
  per warp instruction of the whole SM (not of a scheduler).
- ``latency.STS.LDS``: A store and a load of the same word behind it, together.
- ``latency.ATOMS.ADD``, ``latency.ATOMS.CAS``; ``interval_sm.ATOMS.ADD.lanes.N``, ``interval_sm.ATOMS.CAS.lanes.N``:
  N lanes of a warp on one word (1, 2, 4, 8, 16, 32), other warps on other words; ``interval_sm.ATOMS.ADD.warps.N``: N
  warps with all lanes on one word.

**Global memory**

- ``latency.L1``, ``.L1.64``, ``.L1.128``; ``latency.L2.near``, ``latency.L2.far``, ``latency.L2`` (the nearer and the
  farther half of 4 MiB of lines, and all); ``latency.L2.partition.near``, ``.far``, ``.far_share`` (beyond half of
  L2); ``latency.DRAM`` (idle GPU, translation cached); ``latency.TLB.N``; ``latency.chase.N``: Load to use of one
  chased pointer; for TLB one line per 2 MiB page over N MiB, in L2; for chase N KiB of lines.
- ``latency.LDC.KiB.N`` (N KiB of constants), ``interval_sm.LDC``; ``latency.CONSTANT.miss``, ``.hit``: The constant
  cache; the last two are an LDC and an IMAD, the constant read for the first time and cached.
- ``interval_sm.LDG``, ``.LDG.64``, ``.LDG.128``, ``.STG``, ``.STG.64``, ``.STG.128``; ``interval_sm.LDG.sectors.N``:
  Cycles per warp instruction of an SM that hits L1; N sectors per request.
- ``interval_sm.LDG.apart.N``, ``latency.L1.apart.N``: Loads that hit L1, with N bytes from lane to lane: many lines,
  and no bank twice (256: all in one bank).
- ``bandwidth.L1.N``, ``bandwidth.L2.read.N``, ``bandwidth.DRAM.read.N``, ``.write.N``, ``.copy.N``: Bytes per cycle
  against N bytes in flight per SM. L1: of one SM. L2 and DRAM: of the whole GPU.
- ``loaded_latency.L2.N``, ``loaded_latency.DRAM.N``: Cycles of one load while the other warps keep N bytes in flight
  per SM.
- ``loaded_bandwidth.L2.N``, ``loaded_bandwidth.DRAM.N``: Bytes per cycle of the GPU that those others move.
- ``bandwidth.DRAM.stride.N``, ``bandwidth.L2.stride.N``, ``....write_stride.N``: Bytes of sectors per cycle where
  each request reads, or stores a part of, one sector of every N bytes.
- ``bandwidth.L2.read.sms.N``, ``bandwidth.DRAM.read.sms.N``, ``bandwidth.L2.write.sms.N``: Bytes per cycle of N SMs
  together.
- ``latency.L2.lines.N.sms.M``, ``latency.DRAM.lines.N.sms.M``, ``....whole.N.sms.M``: A load of a warp that touches N
  random lines, or N neighbouring bytes, with the loop around it; one warp on each of M SMs.
  ``latency.DRAM.in_order.N``: loads N bytes apart, each needing the one before it.
- ``bandwidth.L2.scattered.read.N``, ``bandwidth.L2.together.N``: Bytes of sectors per cycle that all SMs load of N KiB:
  single sectors at random, and the same lines at the same time (N = 64: all SMs the same; N = 128: every second one).
- ``bandwidth.STG.partial.N``: Stored bytes per cycle of the whole GPU where each store writes N bytes of each 32-byte
  sector, in L2.
- ``bandwidth.L2.words.W.of.P.turns.T.warps.N``, ``bandwidth.DRAM.words...``: Stored bytes per cycle of the whole GPU
  where each lane stores W words of a piece of P words one by one, in T pieces in turn, by N warps per SM;
  ``....apart``: stores of other warps lie in between.
- ``latency.ATOMG.ADD``, ``latency.ATOMG.CAS``, ``latency.ATOMG.EXCH``: Load to use of an atomic that returns a value,
  no contention.
- ``interval_gpu.ATOMG.ADD.lanes.N``, ``.warps.N``, ``.sms.N``; ``interval_gpu.RED.ADD.lanes.N``, ``.warps.N``,
  ``.sms.N``: Cycles per warp instruction on one address: N lanes of one warp, N warps of one SM, one warp of each of
  N SMs.
- ``interval_gpu.RED.ADD.placed.N.sms.M``, ``interval_gpu.RED.ADD.order.N.sms.M``: All warps take the lines of N bytes
  in the same order; "placed": the mean of 16 places in memory.
- ``interval_gpu.RED.ADD.random.N.sms.M``, ``interval_gpu.RED.ADD.line.N.sms.M``: Each lane at a random word of N
  bytes; 32 neighbouring words from a random place of N bytes on. M SMs, 8 warps each. Also for RED.ADD.F32, RED.MAX,
  RED.ADD.64, RED.ADD.F64, RED.ADD.F16x2, ATOMG.ADD and ATOMG.CAS.
- ``interval_sm.ATOMS.ADD.random.N`` (N words; also ATOMS.POPC.INC, ATOMS.MAX, ATOMS.CAST.SPIN, LDS, and with
  "returned" ADD, CAS and CAS.64): Atomics of shared memory at random words.
- ``latency.MEMBAR.GPU.sms.N``, ``.warps.N``, ``.one_sm.warps.N``, and each with ``.alone``: A store and a fence
  (``alone``: a fence) of one warp of N SMs, N warps of each SM, and N warps of one SM.
- ``latency.MEMBAR.GPU``, ``latency.MEMBAR.CTA``: A fence behind a store.
- ``latency.LDGSTS``, ``latency.UBLKCP.N`` (bulk copy of N bytes with its mbarrier), ``bandwidth.UBLKCP.N``:
  Asynchronous copies into shared memory, of data in L2.

**Control**

- ``latency.BAR.SYNC.N``: A barrier of N warps that all arrive at once. ``latency.BAR.SYNC.blocks.B.warps.N``: one of N
  warps, in B blocks of an SM at the same time.
- ``latency.SYNCS.PHASE`` (arrive and wait), ``latency.SYNCS.TRYWAIT``: An mbarrier.
- ``latency.CLUSTER.BARRIER.N`` (with its fence), ``latency.CLUSTER.BARRIER.relaxed.4``; ``latency.NANOSLEEP.0``.
- ``cost.BRA.taken``, ``cost.BRA.not_taken``, ``cost.BRA.divergent``, ``cost.CALL_RET``, ``cost.loop``: Cycles that one
  branch adds, with the instructions that its note names.
- ``cost.BRA.WHAT.over.N``: A branch over N IMAD with BSSY, BSYNC and the IMAD that run. ``cost.leave.N``: a loop of 32
  turns that the lanes leave at N turns.
- ``latency.DIV.F32`` and its like, ``interval_sm.DIV.F32``: Operations of several instructions, with an addition.
- ``icache.cold``, ``icache.cold.DRAM``, ``icache.warm``, and each with ``.all_sms``: Cycles per 128 bytes of code that
  runs for the first time, issue in it.
- ``icache.again.cold.N``, ``.warm.N``: The same for N bytes that the launch before executed, too. ``icache.loop.N``:
  cycles per instruction of a loop of N bytes.

**Clusters**

- ``latency.DSM.LD``, ``latency.DSM.ST``, ``latency.DSM.ATOM``, ``bandwidth.DSM.LD``, ``.ST`` (bytes per cycle of one
  SM).

**Launches**

- ``start.cold.WHAT.blocks.N``, ``start.warm...``, ``start.cold.parameter.N.threads.M``, ``start.cold.store...``: How
  a launch begins: cycles of its first loads, and of launches that do nearly nothing beyond an empty one.
- ``start.STATE.spin.WHAT.N.threads.M``: Cycles of a launch of N blocks beyond an empty one and beyond those for which
  its blocks do nothing. WHAT: "only", "store" (each thread stores at the end), "load_store" (and loads before).
  STATE: "cold" or "warm".
- ``launch.read.STATE.N``, ``launch.copy.STATE.N``: Microseconds of a launch that reads or copies N MiB in all; warm:
  the same launch ran just before.
- ``launch.empty``, ``launch.small.N``: Microseconds per launch in a queue of launches; small: of N blocks.
- ``launch.block_interval``, ``launch.block_turnaround``: GPU-wide cycles per block that starts; cycles from the end
  of a block to the start of the next in its slot. Both also with ``.threads.N``.
- ``launch.cold_TLB.N``, ``launch.warm_TLB.N``: Microseconds of a launch that touches N MiB of pages, not used for
  long and used just before.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from softlab.hardware.devices import Device, resolve

_FOLDER = Path(__file__).resolve().parent / "data"


@dataclass(frozen=True)
class Row:
    """One measured figure.

    ``family`` is the group that the row is shown in ("integer", "shared memory"); ``unit`` that of ``value`` and
    ``spread``; ``spread`` the difference between the two runs of the recorder; ``sass`` the instruction that was
    measured, as ``nvdisasm`` prints it ("" where the row is about no single instruction); ``note`` what else is to be
    known.
    """

    key: str
    family: str
    unit: str
    value: float
    spread: float
    sass: str = ""
    note: str = ""


@dataclass(frozen=True)
class Atlas:
    """The rows that were measured on one GPU.

    ``device`` is the GPU as its driver names it; ``clocks`` name -> MHz while measuring; ``versions`` name -> version;
    ``failed`` key -> why a row could not be measured.
    """

    device: str
    date: str
    command: str
    method: str
    versions: Mapping[str, str]
    clocks: Mapping[str, float]
    rows: Mapping[str, Row]
    failed: Mapping[str, str]

    def __getitem__(self, key: str) -> float:
        """The value of a row.

        Raises:
            KeyError: there is no such row; the message has the keys that are most like it, or why it failed.
        """
        return self.row(key).value

    def __contains__(self, key: object) -> bool:
        return key in self.rows

    def row(self, key: str) -> Row:
        """A row with its unit and spread. Raises KeyError as ``atlas[key]`` does."""
        if key in self.rows:
            return self.rows[key]
        if key in self.failed:
            raise KeyError(f"the atlas of {self.device} could not measure {key!r}: {self.failed[key]}")
        near = difflib.get_close_matches(key, self.rows, 3)
        hint = f"; like it: {', '.join(near)}" if near else ""
        raise KeyError(f"the atlas of {self.device} has no row {key!r}{hint}")

    def get(self, key: str, default: float) -> float:
        """The value of a row, or the default where it was not measured."""
        return self.rows[key].value if key in self.rows else default

    def series(self, key: str) -> tuple[np.ndarray, np.ndarray]:
        """A curve: the numbers N of the rows ``key.N``, ascending, and their values, two arrays (n,) of float64.

        Raises:
            KeyError: no row is named so.
        """
        points = sorted((int(name), row.value) for name, row in self._numbered(key))
        if not points:
            raise KeyError(f"the atlas of {self.device} has no curve {key!r}: no row {key}.1, {key}.2 and so on")
        at, values = zip(*points, strict=True)
        return np.array(at, float), np.array(values, float)

    def _numbered(self, key: str) -> list[tuple[str, Row]]:
        split = ((name.rpartition("."), row) for name, row in self.rows.items())
        return [(last, row) for (head, _, last), row in split if head == key and last.isdigit()]


def recorded() -> tuple[str, ...]:
    """The names of the devices that have an atlas, "h100" and "h200"."""
    return tuple(sorted(path.stem.removeprefix("atlas_") for path in _FOLDER.glob("atlas_*.json")))


def load(device: Device | str | None = None) -> Atlas:
    """The atlas of a device, given as :func:`softlab.hardware.devices.resolve` takes it.

    Raises:
        ValueError: an unknown device, or one that nobody has recorded.
    """
    return _load(resolve(device).name)


@lru_cache(maxsize=8)
def _load(name: str) -> Atlas:
    path = _FOLDER / f"atlas_{name.casefold().replace(' ', '_')}.json"
    if not path.is_file():
        raise ValueError(f"there is no atlas of {name}; there are: {', '.join(recorded()) or 'none'}")
    return parse(json.loads(path.read_text()))


def parse(record: Mapping[str, Any]) -> Atlas:
    """The atlas in a record as the recorder writes it: the fields of Atlas, ``rows`` and ``failed`` as lists."""
    fields = {name: record[name] for name in ("device", "date", "command", "method", "versions", "clocks")}
    rows = {row["key"]: Row(**row) for row in record["rows"]}
    return Atlas(**fields, rows=rows, failed={row["key"]: row["error"] for row in record["failed"]})
