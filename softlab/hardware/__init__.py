"""GPUs: the limits of named devices, and what an SM holds of a kernel, what an atlas has measured.

Lessons use ``atlas``.
"""

__all__ = ["atlas", "devices", "occupancies"]
