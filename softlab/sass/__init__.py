"""Machine code (SASS of sm_90) interpreted on the CPU, so that a timing model has the exact stream of each warp.

What the streams do not have, or have otherwise than a GPU:

- The order in which the parts of a divergent warp, warps and blocks run is one of many: the lowest instruction goes
  first. Where a count depends on the order (loops of compare-and-swap on one address, spinning, atomics whose result
  steers a branch), a GPU counts otherwise in every run.
- Asynchronous copies are done at once. A warp that waits for an mbarrier with TRYWAIT executes it once, when the phase
  is over. Clocks count issued instructions.
- Matrix instructions, textures, printf, calls of functions by address and tensor copies are not known: executing one
  is an ``UnsupportedInstruction`` that names the instruction and its line.
- NaN of float64 may have other bits than the PTX emulator's. Uninitialised memory is zero.
"""

from softlab.sass.interpret import Interpretation, interpret
from softlab.sass.streams import Accesses, Kind, Space, WarpStream

__all__ = ["Accesses", "Interpretation", "Kind", "Space", "WarpStream", "interpret"]
