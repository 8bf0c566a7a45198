"""Words that several warps have accessed, and a warp that has met each of them at a named barrier of its own."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.errors import KernelFault
from softlab.kernel import Kernel

SOURCE = """#define SYNC(name) asm volatile("bar.sync " #name ", 64;" ::: "memory")
#define ARRIVE(name) asm volatile("bar.arrive " #name ", 64;" ::: "memory")
#define ADDRESS static_cast<unsigned>(__cvta_generic_to_shared(&told))
#define TELL asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(ADDRESS) : "memory")
#define HEAR asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra w; }" \\
                          ::"r"(ADDRESS) : "memory")
extern "C" __global__ void k(int* y) {
  __shared__ int s[32];
  __shared__ unsigned long long told;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int* out = y + threadIdx.x;
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(ADDRESS) : "memory");
  if (warp == 0) s[lane] = lane;
  __syncthreads();
  if (warp == 0) {
    FIRST
  } else if (warp == 1) {
    SECOND
  } else if (warp == 2) {
    THIRD
  } else {
    FOURTH
  }
}
"""
READ, ADD, WRITE = "*out = s[31 - lane];", "atomicAdd(&s[31 - lane], 1);", "s[lane] = 7;"

#: What each warp does. One comes after all others, which access a word at different times: the warps run in this order.
GOOD = {
    "the second reader reads when the first one has been met": (
        f"{READ} ARRIVE(1);", f"SYNC(1); SYNC(2); {WRITE}", f"{READ} ARRIVE(2);", "",
    ),
    "atomics, then a plain load": (
        f"{ADD} ARRIVE(1);", f"SYNC(1); SYNC(2); {READ}", f"{ADD} ARRIVE(2);", "",
    ),
    "three readers with three names": (
        f"{READ} ARRIVE(1);", f"SYNC(1); SYNC(2); SYNC(3); {WRITE}", f"{READ} ARRIVE(2);", f"{READ} ARRIVE(3);",
    ),
    "a reader that reads again": (
        f"{READ} ARRIVE(1); SYNC(4); {READ} ARRIVE(5);", f"SYNC(1); SYNC(2); ARRIVE(4); SYNC(5); {WRITE}",
        f"{READ} ARRIVE(2);", "",
    ),
    "met through another warp": (
        f"{READ} ARRIVE(1);", "SYNC(1); ARRIVE(3);", f"{READ} ARRIVE(2);", f"SYNC(3); SYNC(2); {WRITE}",
    ),
    "one reader tells at an mbarrier": (
        f"{READ} TELL;", f"HEAR; SYNC(2); {WRITE}", f"{READ} ARRIVE(2);", "",
    ),
    "told in the order of the reads": (
        f"{READ} ARRIVE(1);", f"SYNC(1); ARRIVE(2); SYNC(3); {WRITE}", f"SYNC(2); {READ} ARRIVE(3);", "",
    ),
    "readers at once": (
        f"{READ} ARRIVE(1);", f"{READ} ARRIVE(2);", f"{READ} ARRIVE(3);", f"SYNC(1); SYNC(2); SYNC(3); {WRITE}",
    ),
}  # fmt: skip

#: The same with one meeting too few, and the warp that the writer, or the reader of atomics, does not come after.
BAD = {
    "the second reader is not met": ((f"{READ} ARRIVE(1);", f"{READ}", f"SYNC(1); {WRITE}", ""), 1),
    "the first reader is not met": ((f"{READ}", f"{READ} ARRIVE(3);", f"SYNC(3); {WRITE}", ""), 0),
    "the first atomics are not met": ((f"{ADD}", f"{ADD} ARRIVE(3);", f"SYNC(3); {READ}", ""), 0),
    "a reader that was met reads again": (
        (f"{READ} ARRIVE(1); SYNC(4); {READ}", f"SYNC(1); ARRIVE(4); SYNC(2); {WRITE}", f"{READ} ARRIVE(2);", ""), 0,
    ),
}  # fmt: skip


def _run(parts: tuple[str, ...]) -> None:
    source = SOURCE
    for name, part in zip(("FIRST", "SECOND", "THIRD", "FOURTH"), parts, strict=True):
        source = source.replace(f"    {name}\n", f"    {part}\n")
    Kernel(source, "k").run(1, 128, [np.zeros(128, np.int32)], record=False)


@pytest.mark.parametrize("name", GOOD)
def test_who_has_met_each_of_them_comes_after_all(name: str) -> None:
    _run(GOOD[name])


@pytest.mark.parametrize("name", BAD)
def test_who_has_not_met_one_of_them_is_reported(name: str) -> None:
    parts, other = BAD[name]
    with pytest.raises(KernelFault) as caught:
        _run(parts)
    assert caught.value.kind == "race"
    assert other in {thread[0] // 32 for thread in (caught.value.thread, caught.value.other_thread)}
