"""Python as on a Mac: no CuPy, none of NVIDIA's packages. Python runs this file where its folder is in PYTHONPATH."""

import sys
from importlib.machinery import PathFinder

HIDDEN = {"cupy", "cupy_backends", "nvidia"}


class _Rest(PathFinder):
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        return None if fullname.partition(".")[0] in HIDDEN else super().find_spec(fullname, path, target)


sys.meta_path[:] = [_Rest if finder is PathFinder else finder for finder in sys.meta_path]
