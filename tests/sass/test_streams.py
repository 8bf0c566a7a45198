import numpy as np

from softlab.sass import Accesses, WarpStream


def test_an_empty_stream_has_no_requests_and_offsets_of_one_more():
    stream = WarpStream(3, 1, np.zeros(0, np.int32), np.zeros(0, np.uint32), Accesses.empty())
    assert len(stream) == 0
    assert len(stream.accesses) == 0
    assert len(stream.accesses.offsets) == len(stream.accesses) + 1
