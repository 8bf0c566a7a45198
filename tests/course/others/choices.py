"""Choices, texts and pairs."""

import numpy as np

from tests.course.measured_set import LARGE_TENTH, RANKED, WORST
from tests.course.others import Others

OTHERS = (
    Others(
        "05-which-barrier-may-go",
        ("c", " C ", np.str_("C"), np.array("C"), ["C"]),
        (
            ("A", "the race between write and read overlooked", "A|neighb|other thread|wrote|writes|read"),
            ("B", "the race between read and overwrite overlooked", "B|overwrit|still|read|before"),
            ("D", "no such barrier", "one of|none of|'A'"),
            (3, "a position", "one of|none of|'A'"),
            ("AC", "two of them", "one of|none of|'A'"),
            (["A", "B"], "a list", "one of|none of|'A'"),
        ),
    ),
    Others(
        "10-which-is-honest",
        ("b", "B ", np.str_("B"), np.array(["B"])),
        (
            ("A", "the host's clock believed", "host|hand|wait"),
            ("C", "the fastest, in the cache", "cache|L2|fastest|luck"),
            ("D", "the best case, on zeros", "zeros|chos|wins|case"),
            ("B and D", "two of them", "one of|none of|'A'"),
            (True, "a truth value", "one of|none of|'A'"),
        ),
    ),
    Others(
        "12-memory-of-dropout",
        (
            "Y without dropout, and the seed",
            "y without dropout,  and the seed ",
            np.str_("y without dropout, and the seed"),
            "y without dropout and the seed",
        ),
        (
            ("the mask of dropout", "as frameworks do", "seed|again|position|scrambl|count"),
            ("x", "softmax would be computed again", "y|again|once more|softmax"),
            ("nothing", "the gradient needs the result", "y|gradient|need|seed"),
            ("the seed", "the result forgotten", "one of|none of|offered|'nothing'"),
            (("x", "the seed"), "a pair", "one of|none of|offered|'nothing'"),
        ),
    ),
    Others(
        "16-trust-it-least",
        (WORST.capitalize(), f"{WORST} ", np.str_(WORST), np.array(WORST)),
        (
            (RANKED[-2], "the second worst", "median|worst|sort|larger"),
            (LARGE_TENTH, "a large 90th percentile", "median|90th"),
            (RANKED[0], "the smallest error", "least|small|best|largest"),
            *([("atomics", "the one of exercise 1", "median|worst|largest|larger")] if WORST != "atomics" else []),
            ("reductions", "no category", "categor|none of|one of"),
            (19, "a position", "categor|none of|one of|text|name"),
        ),
    ),
    Others(
        "09-beat-the-plan",
        (
            ("block_uncached", 256.0),
            ["block_uncached", 256],
            (np.str_("block_uncached"), np.int64(256)),
            ("block_uncached ", np.array([256])),
        ),
        (
            (("block_smem", 1024), "the row does not fit", "shared memory|fit|48|49"),
            (("warp", 128), "the row is too long for a warp", "1024|warp|long"),
            (("block_uncached", 512), "58 %, nearly", "58|60"),
            (("block_uncached", 1024), "the plan itself", "41|plan|60"),
            (("block_uncached", 192), "a size that is not compiled", "128|size|256"),
            (("block_uncached",), "no block size", "two|pair|kernel and|block size"),
            ("block_uncached", "no pair", "two|pair|kernel and|block size"),
            (("uncached", 256), "no such kernel", "block_uncached|kernel"),
            ((256, "block_uncached"), "the wrong order", "kernel|order|first"),
            (("block_uncached", "256"), "the size is a text", "number|text|int|256"),
            (("block_uncached", None), "half an answer", "block size|size|None"),
        ),
    ),
)
