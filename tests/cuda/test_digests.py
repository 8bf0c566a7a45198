"""Digests of kernel files: a comment or a space changes nothing, anything else does."""

from __future__ import annotations

import pytest

from softlab.cuda import compile as compiler
from softlab.cuda import digests

PLAIN = 'int f(int a) {\n    return a + 1;\n}\n#define TWO 2\nchar c = \'"\', *s = "// no comment";\n'


@pytest.mark.parametrize(
    "same",
    [
        "// A header.\n" + PLAIN,
        PLAIN.replace("return", "return /* the\n sum */"),
        PLAIN.replace("TWO 2", "TWO 2  // two"),
        PLAIN.replace("TWO 2", "TWO \\\n  2"),
        PLAIN.replace("\n    return", " return").replace("a + 1", "a+1"),
        PLAIN.replace("\n", "\n\n"),
    ],
)
def test_comments_and_spaces_do_not_count(same):
    assert same != PLAIN
    assert digests.code_of(same) == digests.code_of(PLAIN)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a + 1", "a + 2"),
        ("int a", "inta"),
        ("// no comment", "// another"),
        ("// no comment", "//  no comment"),
        ("TWO 2\n", "TWO 2 "),
        ("\n#define", "// #define"),
        ("return a + 1", "return a + + 1"),
    ],
)
def test_code_counts(old, new):
    assert old in PLAIN
    assert digests.code_of(PLAIN.replace(old, new)) != digests.code_of(PLAIN)


def test_signs_that_belong_together():
    assert digests.code_of("a ++ + b") != digests.code_of("a + ++ b")
    assert digests.code_of("a++ + b") == digests.code_of("a ++ + b")


def test_a_file_has_its_headers_in_its_digest(monkeypatch):
    """A comment in a header leaves the digest as it is; code in it does not; other files never matter."""
    sources = dict(compiler.kernel_sources())
    file = "softmax_warp.cuh"
    (header, *_) = compiler.included(sources[file])
    other = next(name for name in sources if name not in (file, *compiler.included(sources[file])))

    def digest_with(name, text):
        changed = {**sources, name: sources[name] + text}
        for module in (compiler, digests):
            monkeypatch.setattr(module, "kernel_sources", lambda: changed)
        return digests.file_digest.__wrapped__(file)

    before = digests.file_digest(file)
    assert digest_with(header, "\n// A comment.\n") == before
    assert digest_with(other, "\nint x;\n") == before
    assert digest_with(header, "\nint x;\n") != before
    assert digest_with(file, "\nint x;\n") != before
