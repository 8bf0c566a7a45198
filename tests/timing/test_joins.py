"""What other SMs have asked for, by how many warps of the simulated one came to the same access."""

import pytest

from softlab.timing.joins import Joins


def test_the_more_warps_were_there_the_more_sectors_are_on_their_way():
    joins = Joins(8)
    shares = [joins.asked(joins.come(0, 3, warp), 4.0) for warp in range(8)]
    assert shares[0] == 0
    assert shares == sorted(shares)
    assert joins.first(4.0) == pytest.approx(1 - sum(shares) / 8)


def test_an_access_of_another_number_or_array_is_another_one_and_the_next_warps_begin_anew():
    joins = Joins(2)
    assert [joins.come(0, 0, warp).before for warp in (0, 0, 1, 2, 3)] == [0, 0, 1, 0, 1]
    assert joins.come(0, 1, 9).before == 0
    assert joins.come(64, 0, 9).before == 0
