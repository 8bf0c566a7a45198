"""The inputs of random kernels. NumPy alone is enough, so that a machine with a GPU makes the same."""

from __future__ import annotations

import numpy as np

#: Words per thread.
WORDS = 6

_SPECIAL_FLOATS = np.array(
    [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 1.17549435e-38, -1.17549421e-38, 3.4028235e38, 0.5, -0.5,
     1.5, 2.5, -2.5, 3.5, 8388607.5, 8388609, 16777217, 2147483648, -2147483649, 4294967296, 4294967040, 65504, 65520,
     65536, 5.96e-8, 2.98e-8, 6.1e-5, 0.33333334, 448, 464, 480, 57344, 61440, 65535, 1e10, -1e-10, 88.7, -103.9, 127.5,
     -128.5, 255.5, 32767.5, -32768.5, 65535.5, 9.2233715e18, 1.8446743e19, 3.1415927, -1.5707964, 100000.0, 6, 7, 28,
     7.5, 0.0625],
    np.float32,
)  # fmt: skip
_SPECIAL_DOUBLES = np.array(
    [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 2.2250738585072014e-308, -2.225073858507201e-308,
     1.7976931348623157e308, 0.5, -0.5, 1.5, 2.5, -2.5, 4503599627370495.5, 4503599627370497.5, 9223372036854775808.0,
     -9223372036854775809.0, 9223372036854774784.0, 18446744073709551616.0, 1e-40, 3.5e38, 3.4028235677973366e38,
     16777217, 2147483647.5, -2147483648.5, 4294967295.5, 1 / 3, 709.78, -745.2, 1e22, 3.141592653589793,
     -1.5707963267948966, 6, 170.6, 65519.99, 1.401298464324817e-45, 7.006492321624085e-46, 1.1754943508222875e-38,
     2**-25, 2**-24 * 1.5, 65504, 65520, 1e-8, 100000.5, 255.49999999999997, 7],
    np.float64,
)  # fmt: skip
_SPECIAL_WORDS = np.array(
    [0, 1, 2, 3, 31, 32, 33, 63, 64, 127, 128, 255, 256, 32767, 32768, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**32,
     2**63 - 1, 2**63, 2**64 - 1, 2**64 - 2, 2**53 + 1, 2**24 + 1, 0x7F7F7F7F80808080, 0x7FFF80007FFF8000,
     0x3C003C003C003C00, 0x7BFF0001FBFF8001, 0x7C00FC007E00FE00, 0x3F803F80BF80BF80, 0x7F80FF807FC07F7F,
     0x7FC000017F800001, 0xFFF8000000000123, 0x7FF0000000000001, 0x0123456789ABCDEF, 10**19],
    np.uint64,
)  # fmt: skip


def words(name: str, lanes: int) -> np.ndarray:
    """(WORDS, lanes) uint64 for the kernel of this name: raw bits, small numbers, and where arithmetic turns."""
    random = np.random.default_rng(list(name.encode()))
    shape = (WORDS, lanes)
    raw = random.integers(0, 2**64, shape, np.uint64)
    small = random.integers(-300, 300, shape).astype(np.int64).view(np.uint64)
    floats = _SPECIAL_FLOATS[random.integers(0, len(_SPECIAL_FLOATS), (*shape, 2))].view(np.uint64)[..., 0]
    doubles = _SPECIAL_DOUBLES[random.integers(0, len(_SPECIAL_DOUBLES), shape)].view(np.uint64)
    near = (random.standard_normal((*shape, 2)) * 4).astype(np.float32).view(np.uint64)[..., 0]
    near_doubles = (random.standard_normal(shape) * 10.0 ** random.integers(-3, 4, shape)).view(np.uint64)
    halves = (random.standard_normal((*shape, 4)) * 30).astype(np.float16).view(np.uint64)[..., 0]
    special = _SPECIAL_WORDS[random.integers(0, len(_SPECIAL_WORDS), shape)]
    choices = [raw, small, floats, doubles, near, near_doubles, halves, special]
    return np.choose(random.integers(0, len(choices), shape), choices)
