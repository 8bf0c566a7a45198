"""Faults planted in mbarriers: waits that never end, and wrong use."""

from __future__ import annotations

from tests.faults.planted.record import Planted

_EXPECT_NEXT = "EXPECT(&filled[stage ^ 1], 1024);"
_ASKED, _ANSWERED = "// is the phase over?", "return done;"

MBARRIERS: tuple[Planted, ...] = (
    Planted(
        kind="infinite-loop",
        name="more bytes expected than come",
        kernel="bulk rows",
        old=_EXPECT_NEXT,
        new="EXPECT(&filled[stage ^ 1], 2048);",
        line=_ASKED,
        last_line=_ANSWERED,
    ),
    Planted(
        kind="infinite-loop",
        name="an arrival too many expected",
        kernel="bulk rows",
        old="INIT(&filled[1], 1);",
        new="INIT(&filled[1], 2);",
        line=_ASKED,
        last_line=_ANSWERED,
    ),
    Planted(
        kind="infinite-loop",
        name="only one warp frees the stage",
        kernel="two roles",
        old="      ARRIVE(&freed[stage]);\n",
        new="      if (threadIdx.x < 64) ARRIVE(&freed[stage]);\n",
        line=_ASKED,
        last_line=_ANSWERED,
    ),
    Planted(
        kind="mbarrier-misuse",
        name="an mbarrier that is not initialised",
        kernel="bulk rows",
        old="    INIT(&filled[1], 1);\n",
        new="",
        line=_EXPECT_NEXT,
        thread=(0, 0, 0),
        block=(0, 0, 0),
        address=2056,
    ),
    Planted(
        kind="mbarrier-misuse",
        name="a count of zero",
        kernel="bulk rows",
        old="INIT(&filled[1], 1);",
        new="INIT(&filled[1], 0);",
        line="INIT(&filled[1], 0);",
        thread=(0, 0, 0),
        block=(0, 0, 0),
    ),
    Planted(
        kind="mbarrier-misuse",
        name="initialised again for every row",
        kernel="bulk rows",
        old=_EXPECT_NEXT,
        new="INIT(&filled[stage ^ 1], 1);\n      " + _EXPECT_NEXT,
        line="INIT(&filled[stage ^ 1], 1);",
        thread=(0, 0, 0),
        block=(0, 0, 0),
    ),
    Planted(
        kind="mbarrier-misuse",
        name="two arrivals where one is expected",
        kernel="bulk rows",
        old=_EXPECT_NEXT,
        new="EXPECT(&filled[stage ^ 1], 512);\n      EXPECT(&filled[stage ^ 1], 256 + 256);",
        line="EXPECT(&filled[stage ^ 1], 256 + 256);",
        thread=(0, 0, 0),
        block=(0, 0, 0),
    ),
    Planted(
        kind="mbarrier-misuse",
        name="more bytes than an mbarrier counts",
        kernel="bulk rows",
        old=_EXPECT_NEXT,
        new="EXPECT(&filled[stage ^ 1], 1 << 21);",
        line="EXPECT(&filled[stage ^ 1], 1 << 21);",
        thread=(0, 0, 0),
        block=(0, 0, 0),
    ),
    Planted(
        kind="mbarrier-misuse",
        name="an mbarrier after the end of its use",
        kernel="bulk rows",
        old="  int stage = 0, parity = 0;\n",
        new="  int stage = 0, parity = 0;\n  if (threadIdx.x == 0)\n"
        '    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(address_of(&filled[1])));\n',
        line=_EXPECT_NEXT,
        thread=(0, 0, 0),
        block=(0, 0, 0),
    ),
    Planted(
        kind="mbarrier-misuse",
        name="more threads' copies than are expected",
        kernel="two roles",
        old="INIT(&filled[stage], 32);",
        new="INIT(&filled[stage], 16);",
        line="cp.async.mbarrier.arrive.noinc",
    ),
    Planted(
        kind="mbarrier-misuse",
        name="an mbarrier of the own block for a store into another",
        kernel="counted message",
        old="map(&arrived, cluster_rank() ^ 1)",
        new="map(&arrived, cluster_rank())",
        line="// to the other block",
        thread=(0, 0, 0),
        block=(0, 0, 0),
    ),
)
