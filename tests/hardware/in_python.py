"""What kernels of several sets do, in Python."""

from __future__ import annotations

from itertools import pairwise

from tests.hardware.fourteenth_cases import hashes

WORD = 1 << 32


class Rolled:
    """The kernels' stream of random numbers for thread ``k``."""

    def __init__(self, k, seed):
        self.state = int(hashes(k ^ int(seed)))

    def word(self):
        self.state = (self.state * 747796405 + 2891336453) % WORD
        mixed = (self.state >> (self.state >> 28) + 4 ^ self.state) * 277803737 % WORD
        return mixed >> 22 ^ mixed

    def below(self, n):
        return self.word() * int(n) >> 32

    def part(self):
        return ((self.word() >> 9) + 0.5) / 2**23


def rows_of(starts, members):
    """The rows of a sparse matrix or a graph: where each begins, and the members of all, one behind the other."""
    return [members[a:b].tolist() for a, b in pairwise(starts)]


def in_halves(words):
    """Words of 16 bits as float16, in double precision."""
    return words.view("f2").astype("f8")


def from_bf16(words):
    """Words of 16 bits as bfloat16, in double precision."""
    return (words.astype("u4") << 16).view("f4").astype("f8")


def by_thread(values, n):
    """What thread k reads of an array whose first ``n`` elements are the first ones of all threads."""
    return values.reshape(-1, n).T.tolist()


def turned(x, by):
    """A word of 32 bits, turned to the left."""
    return (x << by % 32 | x >> 32 - by % 32) % WORD
