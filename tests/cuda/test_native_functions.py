"""Where functions of Python can be machine code."""

from __future__ import annotations

import os
import subprocess
import sys
from string import Template
from types import SimpleNamespace

import pytest

from softlab.cuda import native_functions

_NOTHING = Template("define ptr @nothing(ptr %self, ptr %given, i64 %count) {\n  ret ptr $none\n}")


def test_a_function_is_called_with_its_self() -> None:
    pytest.importorskip("llvmlite")
    methods = native_functions.compiled(_NOTHING, ["nothing"])
    assert methods is not None
    function = methods["nothing"].bound(("given",))
    assert function.__self__ == ("given",)
    assert function.__name__ == "nothing"
    assert function(1, 2) is None


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (native_functions.sysconfig, "get_config_var", lambda name: name == "Py_GIL_DISABLED"),
        (sys, "implementation", SimpleNamespace(name="pypy", cache_tag="pypy")),
        (native_functions.struct, "calcsize", lambda form: 4),
        (native_functions.importlib.util, "find_spec", lambda name: None),
    ],
    ids=["free threads", "another Python", "32 bits", "no llvmlite"],
)
def test_where_it_is_not_compiled(module: object, name: str, value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(module, name, value)
        found = native_functions.compiled(_NOTHING, ["nothing"])
    assert found is None


def test_a_text_that_llvm_does_not_take_gives_nothing() -> None:
    assert native_functions.compiled(Template("no assembly"), ["nothing"]) is None


#: A process whose modules end before a function of machine code does, which holds the only way to it.
_ENDS = """
import sys
from string import Template
from softlab.cuda import native_functions
methods = native_functions.compiled(Template(TEXT), ["nothing"])
sys.kept = [methods["nothing"].bound(number) for number in range(100)]
del methods
"""


def test_a_function_may_end_behind_all_modules() -> None:
    """Freed memory is overwritten in this process (glibc): a method that is freed too early ends it by a signal."""
    pytest.importorskip("llvmlite")
    environment = os.environ | {"PYTHONMALLOC": "malloc", "MALLOC_PERTURB_": "255"}
    script = _ENDS.replace("TEXT", repr(_NOTHING.template))
    command = [sys.executable, "-X", "faulthandler", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
