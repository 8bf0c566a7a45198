"""The table of a request: each sector once, with its lanes and the bytes that are really wanted."""

from __future__ import annotations

import re

import numpy as np

from softlab.instruments.requests import Request
from softlab.views.requests import request_table

BASE = 1 << 20
LANE = np.arange(32)


def request(offset, active=None, width=4) -> Request:
    active = np.ones(32, bool) if active is None else active
    offset = np.where(active, offset, 0)
    address = np.where(active, BASE + offset, 0)
    sector = np.where(active, address // 32, -1)
    return Request(7, 0, 0, False, width, 2, 1, active, address, 0, offset, sector, len(set(sector[active])), 4)


def rows(html: str) -> list[list[str]]:
    found = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in html.split("<tr>")]
    return [row for row in found if row]


def test_neighbours_share_sectors():
    html = request_table(request(4 * LANE), name="x")
    assert rows(html) == [[f"{32 * k} to {32 * k + 31}", f"{8 * k}-{8 * k + 7}", "32"] for k in range(4)]
    assert "bytes of x" in html
    assert "Warp 1 of block 2 loads 4 bytes per lane, line 7: 4 sectors (least 4)" in html


def test_far_apart_each_has_its_own():
    found = rows(request_table(request(32 * LANE), most=32))
    assert found == [[f"{32 * k} to {32 * k + 31}", str(k), "4"] for k in range(32)]


def test_many_sectors_are_counted():
    found = rows(request_table(request(32 * LANE), most=3))
    assert [row[1] for row in found] == ["0", "1", "2", ""]
    assert found[-1][0] == "and 29 more sectors"


def test_a_shared_word_counts_once_and_absent_lanes_never():
    found = rows(request_table(request(0 * LANE + 40, LANE % 2 == 0)))
    assert found == [["32 to 63", ", ".join(map(str, range(0, 32, 2))), "4"]]
