from __future__ import annotations

from tests.course.answers import Answers


def rule(blocks):
    return max(size for size in blocks if size == 128 or blocks[size] == blocks[128])


def by_loop(blocks):
    for size in (1024, 512, 256):
        if blocks[size] == blocks[128]:
            return size
    return 128


ANSWERS = (
    Answers(
        "08-the-first-step",
        right=(4370,),
        wrong=(
            (6194, "H200"),
            (4368, "one block of 128 more"),
            (4978, "first time"),
            (1024, "begins"),
            (4096, "at most 8"),
        ),
    ),
    Answers(
        "08-another-gpu",
        right=(256,),
        wrong=((128, "H200"), (512, "48 warps"), (1024, "96 warps"), (64, "none of the answers")),
    ),
    Answers(
        "08-write-the-rule",
        right=(rule, by_loop),
        wrong=(
            (lambda blocks: max(blocks, key=lambda size: (blocks[size] * size, size)), "Threads come second"),
            (lambda blocks: max(blocks, key=lambda size: blocks[size]), "Among those that do, the largest"),
            (lambda blocks: max(size for size in blocks if blocks[size]), "Threads come second"),
            (lambda blocks: 128, "Among those that do, the largest"),
            (lambda blocks: blocks[2048], "raises"),
            (rule({128: 1, 256: 1}), "the answer must be a function"),
        ),
    ),
)
