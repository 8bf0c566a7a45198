"""Races between atomics and plain accesses of shared memory. ``tests/faults`` has the other faults."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.emulator.lanes import lanes_of
from softlab.emulator.ptx.linker import link
from softlab.emulator.ptx.parser import parse
from softlab.emulator.ptx.syntax import Instruction
from softlab.emulator.sites import Site
from softlab.errors import KernelFault
from softlab.instruments.hazards import (
    Hazards,
    SharedAccess,
    _fences_count,
    _granule,
    _has_meetings,
    _used_registers,
    _volatile_counts,
)
from softlab.instruments.native_shadow import READS, RECORDED, SHARED_WORDS, STORES, STRONG, UNKNOWN
from softlab.kernel import Kernel
from tests.sampled import turns


def run(body: str, block: int = 64) -> np.ndarray:
    source = f"""
extern "C" __global__ void k(int* y) {{
  __shared__ int total;
  __shared__ int other[64];
  int t = threadIdx.x;
  if (t == 0) total = 0;
  __syncthreads();
{body}
}}
"""
    y = np.zeros(64, np.int32)
    Kernel(source, "k").run(1, block, (y,))
    return y


def test_atomics_of_different_threads_do_not_race() -> None:
    assert (run("atomicAdd(&total, 1); __syncthreads(); y[t] = total;") == 64).all()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            "atomicAdd(&total, 1);\n  y[t] = total;",
            "reads a word of shared memory that an atomic of another thread wrote",
        ),
        (
            "atomicAdd(&total, 1);\n  if (t == 40) total = 5;",
            "writes a word .* that an atomic of another thread wrote",
        ),
        (
            "if (t == 3) total = 7;\n  atomicAdd(&total, 1);",
            r"writes a word of shared memory that thread \(3, 0, 0\) wrote",
        ),
        (
            "y[t] = total;\n  if (t == 5) atomicAdd(&total, 1);",
            "writes a word of shared memory that other threads read",
        ),
    ],
)
def test_an_atomic_and_a_plain_access_race(body: str, words: str) -> None:
    with pytest.raises(KernelFault, match=words) as caught:
        run(body)
    assert caught.value.kind == "race"
    assert caught.value.line == 9


def test_a_barrier_orders_atomics_and_plain_accesses() -> None:
    ordered = """
  if (t == 3) total = 7;
  __syncthreads();
  atomicAdd(&total, 1);
  __syncthreads();
  y[t] = total;
"""
    assert (run(ordered) == 71).all()


def test_an_exchange_does_not_read() -> None:
    """``atomicExch`` needs no initial value, and ``atomicAdd`` does."""
    assert run("atomicExch(&other[t], t); __syncthreads(); y[t] = other[t];").tolist() == list(range(64))
    with pytest.raises(KernelFault) as caught:
        run("atomicAdd(&other[t], t);")
    assert caught.value.kind == "uninitialized-shared"


@pytest.mark.parametrize(
    "body",
    [
        "atomicAdd(&other[t], 1);\n  y[t] = other[t];",
        "atomicAdd(&other[t], 1);\n  other[t] += 1;\n  y[t] = other[t] - 1;",
        "other[t] = 0;\n  atomicAdd(&other[t], 1);\n  y[t] = other[t];",
        "atomicAdd(&other[t], 1);\n  __syncwarp();\n  y[t] = other[t ^ 1];",
        "if (t < 32) atomicAdd(&other[t], 1); else atomicAdd(&other[t ^ 1], 1);\n  __syncwarp();\n  y[t] = other[t];",
        "atomicAdd(&other[t / 8], 1);\n  __syncwarp(0xffu << (t / 8 % 4 * 8));\n  y[t] = other[t / 8] / 8;",
    ],
)
def test_what_a_thread_knows_of_its_own_atomics_and_of_those_before_its_warp_met(body: str) -> None:
    assert (run(f"  other[t] = 0;\n  __syncthreads();\n{body}") == 1).all()


@pytest.mark.parametrize(
    "body",
    [
        "atomicAdd(&other[t / 2], 1);\n  y[t] = other[t / 2];",
        "atomicAdd(&other[t], 1);\n  y[t] = other[t ^ 1];",
        "atomicAdd(&other[t % 32], 1);\n  __syncwarp();\n  y[t] = other[t % 32];",
        "if (t == 3) atomicAdd(&total, 1);\n  if (t == 4) { atomicAdd(&total, 1); y[t] = total; }",
        "if (t == 3) atomicAdd(&total, 1);\n  if (t == 40) { atomicAdd(&total, 1); y[t] = total; }",
        "if (t == 40) atomicAdd(&total, 1);\n  if (t == 3) { atomicAdd(&total, 1); total = 5; }",
        "if (t == 3) { total = 5; atomicAdd(&total, 1); }\n  if (t == 40) atomicAdd(&total, 1);",
    ],
)
def test_an_atomic_of_another_thread_without_a_barrier_is_a_race(body: str) -> None:
    with pytest.raises(KernelFault, match=r"of shared memory that .* wrote") as caught:
        run(f"  other[t] = 0;\n  __syncthreads();\n{body}")
    assert caught.value.kind == "race"


@pytest.mark.parametrize(
    ("opcode", "modifiers", "expected"),
    [
        ("ld", "shared.u8", 1), ("ld", "u8", 1), ("st", "shared.b16", 1), ("atom", "shared.add.f16", 1),
        ("red", "shared.add.bf16", 1), ("wmma", "load.a.sync.f16", 1), ("wmma", "store.d.sync.f16", 1),
        ("ld", "global.u8", 4), ("ld", "const.s8", 4), ("st", "local.b8", 4), ("ld", "param.u16", 4),
        ("ld", "shared.v2.u8", 4), ("ld", "shared.v4.u8", 4), ("ld", "shared.u32", 4), ("add", "u16", 4),
        ("wmma", "mma.sync.f16", 4),
    ],
)  # fmt: skip
def test_bytes_per_watched_word(opcode: str, modifiers: str, expected: int) -> None:
    """One byte where a single narrow element of shared memory may be accessed."""
    image: Any = SimpleNamespace(instructions=[Instruction(opcode, tuple(modifiers.split(".")), ())])
    assert _granule(image) == expected


@pytest.mark.parametrize(
    ("address", "found"),
    [("own", True), ("own+252", True), ("dyn", True), ("dyn+1020", True), ("%start", False), ("%start+1020", False)],
)
def test_only_the_drivers_part_of_shared_memory_is_written_before(address: str, found: bool) -> None:
    """Cooperative groups read it; what the kernel has of its own stands behind."""
    ptx = f"""
.version 8.8
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 dyn[];
.shared .align 4 .b8 own[256];
.visible .entry k(.param .u64 x) {{
  .reg .u64 %p; .reg .u32 %r, %start, %other;
  ld.param.u64 %p, [x];
  mov.u32 %start, %reserved_smem_offset_1;
  mov.u32 %other, own;
  mov.u32 %other, dyn;
  ld.shared.u32 %r, [{address}];
  st.global.u32 [%p], %r;
  ret;
}}
"""
    run = Kernel.from_ptx(ptx, "k").run(1, 1, (np.zeros(1, np.uint32),), 1024, check="collect", record=False)
    assert [finding.kind for finding in run.findings] == (["uninitialized-shared"] if found else [])


@pytest.mark.parametrize("late", ["writes", "reads"])
def test_what_comes_behind_an_arrival_is_told_from_what_nothing_orders(late: str) -> None:
    """Warp 0 arrives and goes on; warp 1 waits; warp 2 takes no part."""
    source = """extern "C" __global__ void k(int* y) {
      __shared__ volatile int before[32], behind[32], beside[32];
      int t = threadIdx.x % 32, warp = threadIdx.x / 32, v = 0;
      if (warp == 1) before[t] = behind[t] = beside[t] = 1;
      __syncthreads();
      if (warp == 0) {
        before[t] = 2;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        LATE
      }
      if (warp == 2) beside[t] = 4;
      if (warp == 1) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        v += before[t];
        WAITS
        v += beside[t];
      }
      y[threadIdx.x] = v; }"""
    parts = ("behind[t] = 3;", "v += behind[t];") if late == "writes" else ("v += behind[t];", "behind[t] = 3;")
    source = source.replace("LATE", parts[0]).replace("WAITS", parts[1])
    run = Kernel(source, "k").run(1, 96, (np.zeros(96, np.int32),), check="collect", record=False)
    messages = [finding.message for finding in run.findings if finding.kind == "race"]
    arrived = [message for message in messages if "after it had arrived at the barrier (bar.arrive)" in message]
    verb, other = ("reads", "wrote") if late == "writes" else ("writes", "read")
    assert len(arrived) == 1
    assert f"the thread {verb} a word of shared memory that another thread {other} after" in arrived[0]
    assert len(messages) == 2, "the other one has nothing to do with the arrival"


@pytest.mark.parametrize(
    ("text", "meetings", "volatile"),
    [
        ("bar.sync 0;", False, False), ("bar.sync 1, 64;", True, False), ("barrier.sync.aligned 2;", False, False),
        ("bar.arrive 1, 64;", True, False), ("barrier.arrive 1, 64;", True, False), ("bar.warp.sync 7;", False, False),
        ("barrier.cluster.arrive;", False, False), ("membar.gl;", False, True), ("fence.acq_rel.gpu;", False, True),
        ("fence.proxy.async;", False, False), ("add.u32 %r, %r, 1;", False, False),
        ("atom.shared.add.u32 %r, [%r], 1;", False, True), ("red.shared.add.u32 [%r], 1;", False, True),
        ("red.global.add.u32 [%r], 1;", False, False),
        ("red.shared.add.u32 [%r], 1; st.volatile.shared.u32 [%r], 1;", False, False),
        ("red.shared.add.u32 [%r], 1; st.volatile.global.u32 [%r], 1;", False, True),
        ("red.shared.add.u32 [%r], 1; st.volatile.shared.u32 [%r], 1; membar.cta;", False, True),
    ],
)  # fmt: skip
def test_what_a_kernel_has_of_barriers_and_whether_volatile_counts(text: str, meetings: bool, volatile: bool) -> None:
    body = f"{{ .reg .u32 %r; {text} ret; }}"
    image = link(parse(f".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k()\n{body}\n"), "k")
    assert (_has_meetings(image), _volatile_counts(image)) == (meetings, volatile)


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("add.u32 %a, %b, %c;", "bc"), ("@%p add.u32 %a, %b, %c;", "abcp"), ("ld.shared.u32 %a, [%b];", "b"),
        ("@%p ld.shared.u32 %a, [%b];", "bp"), ("@%p ld.shared.v2.u32 {%a, %c}, [%b];", "bp"),
        ("@%p atom.shared.add.u32 %a, [%b], %c;", "abcp"), ("@%p st.shared.u32 [%a], %b;", "abp"),
        ("@%p cvta.shared.u32 %a, %b;", "abp"), ("@%p mov.u32 %a, %b; ld.shared.u32 %c, [%a];", "abp"),
        ("st.shared.v2.u32 [%a], {%b, %c};", "abc"),
    ],
)  # fmt: skip
def test_which_registers_something_reads(text: str, used: str) -> None:
    """A guarded load may leave an old value, and uses nothing of it; any other guarded instruction does."""
    body = f"{{ .reg .u32 %a, %b, %c; .reg .pred %p; {text} ret; }}"
    image = link(parse(f".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k()\n{body}\n"), "k")
    assert _used_registers(image) == {f"%{name}" for name in used}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ld.shared.u32", READS), ("st.shared.u32", STORES), ("ld.relaxed.cta.shared.u32", READS | STRONG),
        ("st.release.cta.shared.u32", STORES | STRONG), ("atom.shared.add.u32", READS | STORES | STRONG),
        ("ld.acquire.gpu.shared.u32", READS | STRONG), ("ld.volatile.shared.u32", READS),
    ],
)  # fmt: skip
@pytest.mark.parametrize("answer", [RECORDED, SHARED_WORDS, UNKNOWN])
def test_what_compiled_code_is_told_of_an_access(text: str, kind: int, answer: int) -> None:
    """Whether it reads, stores, and is strong. What several lanes wrote, and what releases, NumPy records."""

    class Watch(Hazards):
        shadow: Any = SimpleNamespace(has_order=False)
        done: list[str]

        def words_accessed(self, *arguments: Any) -> Any:
            return "words"

        def _words(self, site: Site) -> Any:
            return None

        def _write(self, access: Any, values: Any) -> None:
            self.done.append("write")

        def _synchronise(self, access: Any) -> None:
            self.done.append("synchronise")

    watch, told = Watch(), []
    watch.done, watch.watched = [], SimpleNamespace(compiled="all")
    native: Any = SimpleNamespace(ready=lambda compiled: True, record=lambda *given: told.append(given[-1]) or answer)
    opcode, *modifiers = text.split(".")
    writes = opcode != "ld"
    site = Site(4, Instruction(opcode, tuple(modifiers), ()), "shared", np.dtype("u4"), store=writes,
                operation="add" if opcode == "atom" else "")  # fmt: skip
    for _ in range(2):  # the second time it is known
        assert watch._recorded(native, site, None, None, ()) == (answer != UNKNOWN)  # type: ignore[arg-type]
    assert told == [kind, kind]
    synchronises = answer == RECORDED and "release" in text
    assert watch.done == ["write"] * 2 * (answer == SHARED_WORDS) + ["synchronise"] * 2 * synchronises


@pytest.mark.parametrize("kind", ["char2", "char4", "short2"])
@pytest.mark.parametrize("barrier", ["", "__syncthreads();"])
def test_pairs_of_bytes_are_watched(kind: str, barrier: str) -> None:
    source = f"""extern "C" __global__ void k({kind}* y) {{
      __shared__ {kind} s[64]; int t = threadIdx.x;
      s[t] = y[t]; {barrier} y[t] = s[63 - t]; }}"""
    size = 2 if kind == "char2" else 4
    y = np.arange(64 * size, dtype=np.uint8)
    run = Kernel(source, "k").run(1, 64, (y,), check="collect", record=False)
    assert {finding.kind for finding in run.findings} == (set() if barrier else {"race"})


@pytest.mark.parametrize(
    ("guard", "load", "size", "used", "raced"),
    turns(
        2,
        ["@!%q bra DONE;", "@%q"],
        [
            ("v4.u32", 4, (0, 1, 2, 3), {0, 1, 2, 3}),
            ("v4.u32", 4, (0,), {0}),
            ("v4.u32", 4, (1, 3), {1, 3}),
            ("v4.u32", 4, (), {0, 1, 2, 3}),
            ("v2.u32", 4, (1,), {1}),
            ("v2.u64", 8, (0,), {0, 1}),
            ("v2.u64", 8, (1,), {2, 3}),
            ("v2.u8", 1, (0,), {0}),
            ("v2.u8", 1, (1,), {0}),
            ("u32", 4, (0,), {0}),
            ("u32", 4, (), {0}),
        ],
    ),
)
def test_of_a_vector_the_elements_count_that_are_used(
    guard: str, load: str, size: int, used: tuple[int, ...], raced: set[int]
):
    """The compiler may load a whole vector and use only a part of it. Thread 0 loads, and a thread of warp 1 stores."""
    kind = load.rpartition(".")[2]
    elements = int(load[1]) if load[0] == "v" else 1
    names = [f"%e{number}" for number in range(elements)]
    vector = f"{{{', '.join(names)}}}" if elements > 1 else names[0]
    uses = "".join(f"st.global.{kind} [%d+{size * number}], %e{number};" for number in used)
    found = set()
    for word in range(5):
        ptx = f"""
.version 8.8
.target sm_90
.address_size 64
.shared .align 16 .b8 s[128];
.visible .entry k(.param .u64 x) {{
  .reg .pred %p, %q; .reg .u32 %t, %a; .reg .u64 %d; .reg .{"u16" if size == 1 else kind} %e<4>;
  ld.param.u64 %d, [x];
  mov.u32 %t, %tid.x;
  mov.u32 %a, s;
  mad.lo.u32 %a, %t, 4, %a;
  setp.lt.u32 %p, %t, 32;
  @%p st.shared.u32 [%a], %t;
  bar.sync 0;
  setp.eq.u32 %p, %t, 32;
  @%p st.shared.u32 [s+{4 * word}], %t;
  setp.eq.u32 %q, %t, 0;
  {guard} ld.shared.{load} {vector}, [s];
  {uses}
DONE:
  ret;
}}
"""
        run = Kernel.from_ptx(ptx, "k").run(1, 64, (np.zeros(4, np.uint64),), check="collect", record=False)
        if any(finding.kind == "race" and "shared" in finding.message for finding in run.findings):
            found.add(word)
    assert found == raced


@pytest.mark.parametrize(
    ("writer", "fences", "seen"),
    [(40, 40, True), (40, 8, False), (40, 32, False), (8, 40, False), (5, 5, True), (70, 70, True), (70, 6, False)],
)
def test_a_bulk_copy_sees_what_its_writer_has_fenced(writer: int, fences: int, seen: bool) -> None:
    source = """extern "C" __global__ void k(int* y, int writer, int fences) {
      __shared__ alignas(16) int row[4]; int t = threadIdx.x;
      if (t == writer) { row[0] = 1; row[1] = 2; row[2] = 3; row[3] = 4; }
      if (t == fences) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      __syncthreads();
      if (t == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;"
                     :: "l"(__cvta_generic_to_global(y)), "r"((unsigned)__cvta_generic_to_shared(row)));
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;");
      } }"""
    run = Kernel(source, "k").run(1, 96, (np.zeros(4, np.int32), writer, fences), check="collect", record=False)
    assert [finding.kind for finding in run.findings] == ([] if seen else ["race"])


_UNION_FIND = """
__device__ int root(volatile int* parent, int v) { while (parent[v] != v) v = parent[v]; return v; }
extern "C" __global__ void k(const int* a, const int* b, int* y) {
  __shared__ int parent[64];
  parent[threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (int x = a[threadIdx.x], z = b[threadIdx.x];;) {
    x = root(parent, x), z = root(parent, z);
    if (x == z) break;
    if (x < z) { int t = x; x = z; z = t; }
    JOIN
  }
  __syncthreads();
  y[threadIdx.x] = root(parent, threadIdx.x);
}"""


def test_volatile_reads_beside_atomics_are_no_race() -> None:
    random = np.random.default_rng(5)
    a, b = random.integers(0, 64, (2, 64), dtype=np.int32)
    y = np.zeros(64, np.int32)
    atomic = "if (atomicCAS(&parent[x], x, z) == x) break;"
    Kernel(_UNION_FIND.replace("JOIN", atomic), "k").run(1, 64, (a, b, y), record=False)
    least = np.arange(64)
    for _ in range(64):
        for x, z in zip(a, b, strict=True):
            least[[x, z]] = min(least[x], least[z])
    assert y.tolist() == least.tolist()
    plain = Kernel(_UNION_FIND.replace("JOIN", "*(volatile int*)&parent[x] = z; break;"), "k")
    with pytest.raises(KernelFault, match="race"):
        plain.run(1, 64, (a, b, y), record=False)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("add.u32 %a, %b, %c;", False), ("ld.shared.u32 %a, [%b];", False), ("st.shared.u32 [%a], %b;", False),
        ("ld.u32 %a, [%b];", False), ("bar.sync 0;", False), ("membar.cta;", False), ("bar.warp.sync 3;", False),
        ("shfl.sync.idx.b32 %a, %b, 0, 31, -1;", True), ("vote.sync.ballot.b32 %a, %p, -1;", True),
        ("redux.sync.add.u32 %a, %b, -1;", True), ("atom.shared.add.u32 %a, [%b], %c;", True),
        ("red.shared.add.u32 [%a], %b;", True), ("atom.global.add.u32 %a, [%b], %c;", False),
        ("red.add.u32 [%a], %b;", True), ("ld.volatile.shared.u32 %a, [%b];", True),
        ("ld.volatile.global.u32 %a, [%b];", False), ("st.volatile.shared.u32 [%a], %b;", True),
        ("ld.acquire.cta.shared.u32 %a, [%b];", True), ("ld.acquire.gpu.global.u32 %a, [%b];", False),
        ("st.release.cta.u32 [%a], %b;", True), ("st.relaxed.gpu.global.u32 [%a], %b;", False),
        ("fence.acq_rel.cluster;", True), ("mbarrier.init.shared.b64 [%a], 3;", True),
        ("cp.async.wait_all;", True), ("barrier.cluster.arrive;", True),
    ],
)  # fmt: skip
def test_whether_fences_may_order_accesses_to_shared_memory(text: str, counts: bool) -> None:
    """Where something else than barriers and accesses to global memory may signal, or lanes exchange values."""
    body = f"{{ .reg .u32 %a, %b, %c; .reg .pred %p; {text} ret; }}"
    image = link(parse(f".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k()\n{body}\n"), "k")
    assert _fences_count(image) == counts


@pytest.mark.parametrize("elements", [1, 2])
@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_lanes_whose_value_is_not_that_of_the_last_lane_at_their_word(seed: int, alike: bool, elements: int) -> None:
    random, watch = np.random.default_rng(seed), Hazards()
    watch._shadow = SimpleNamespace(words=21)  # type: ignore[assignment]
    mask = random.random((2, 64)) < 0.5
    lanes = lanes_of(mask)
    row, thread = (one.astype(np.int64) for one in np.nonzero(mask))
    word = random.integers(0, 21, len(row))
    values = [random.integers(0, 3, len(row)).astype(np.uint32) for _ in range(elements)]
    if alike:
        values = [np.uint32(7)] * elements
    site = Site(0, Instruction("st", (), ()), "shared", np.dtype("u4"), elements, store=True)
    access = SharedAccess(site, lanes, word, row, thread, word[:, None] + np.arange(elements))
    given = [np.broadcast_to(value, len(row)).tolist() for value in values]
    given = list(zip(*given, strict=True))
    last = {(int(r), int(w)): value for r, w, value in zip(row, word, given, strict=True)}
    wanted = [value != last[int(r), int(w)] for r, w, value in zip(row, word, given, strict=True)]
    assert watch.differs_from_winner(access, tuple(values)).tolist() == wanted
    assert any(wanted) != alike
