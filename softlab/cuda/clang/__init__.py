"""clang as a second front end: CUDA source -> PTX where NVRTC is missing, as on a Mac.

``pip install 'softlab[clang]'`` brings the package ``ziglang``, whose program ``zig`` has clang with LLVM's NVPTX back
end. Nothing of zig itself is used. There are no CUDA headers: ``headers/`` has softlab's own for what the course uses.

| module | what it does |
|---|---|
| ``front`` | finds clang, runs it, turns its messages into those that softlab reads |
| ``programs`` | a :class:`softlab.cuda.program.Program` of what clang made |
| ``intermediate`` | changes LLVM's code between C++ and PTX: whole copies, clusters |
| ``lines`` | clang's line information as PTX has it from NVRTC |
| ``library`` | functions such as ``expf``: PTX that NVRTC made of them, added where a kernel calls one |
| ``headers/`` | CUDA's language, halves, groups, CUB's block reduction |
"""

from softlab.cuda.clang.front import clang_version, find_clang, has_clang, headers_digest, own_header
from softlab.cuda.clang.programs import compiled, lowered

__all__ = ["clang_version", "compiled", "find_clang", "has_clang", "headers_digest", "lowered", "own_header"]
