"""Machine code (SASS of sm_90) interpreted on the CPU, so that a timing model has the exact stream of each warp."""

from softlab.sass.interpret import Interpretation, interpret
from softlab.sass.streams import Accesses, Kind, Space, WarpStream

__all__ = ["Accesses", "Interpretation", "Kind", "Space", "WarpStream", "interpret"]
