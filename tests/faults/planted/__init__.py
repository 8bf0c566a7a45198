"""Faults planted in good kernels. Each is one replacement in the source, with the line at which it must be found.

The order of ``PLANTED`` is that of the recorded answers of compute-sanitizer (``tests/data/sanitizer_h200.json``).
"""

from tests.faults.planted.alignment import ALIGNMENT
from tests.faults.planted.clusters import CLUSTERS
from tests.faults.planted.copies import COPIES
from tests.faults.planted.divergence import DIVERGENCE
from tests.faults.planted.global_memory import GLOBAL_MEMORY
from tests.faults.planted.infinite_loops import INFINITE_LOOPS
from tests.faults.planted.mbarriers import MBARRIERS
from tests.faults.planted.objects import OBJECT_FAULTS
from tests.faults.planted.races import RACES
from tests.faults.planted.record import Planted
from tests.faults.planted.shared_memory import SHARED_MEMORY
from tests.faults.planted.undefined import UNDEFINED_FAULTS
from tests.faults.planted.uninitialized import UNINITIALIZED

__all__ = ["PLANTED", "PLANTED_CLUSTER", "PLANTED_OBJECTS", "Planted"]

PLANTED = GLOBAL_MEMORY + SHARED_MEMORY + ALIGNMENT + UNINITIALIZED + RACES + DIVERGENCE + INFINITE_LOOPS
#: Faults in kernels of clusters, asynchronous copies and mbarriers.
PLANTED_CLUSTER = CLUSTERS + COPIES + MBARRIERS
#: Faults in kernels of several arrays, of pointers that may be null, and of variables without a value.
PLANTED_OBJECTS = OBJECT_FAULTS + UNDEFINED_FAULTS
