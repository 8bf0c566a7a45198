"""A CuPy without a GPU, for a process that must not find the real one: memory of the host, kernels that only write.

A kernel leaves rising numbers in the results, so that all arithmetic behind it has something to work on. The
environment variable FAKE_FAULT names an entry whose launch breaks the GPU for the rest of the process, FAKE_HANG one
that never ends.
"""

from cupy import cuda as cuda

__version__ = "0"
