"""Pure rules (banks, coalescing) and observers of the emulator (counters, hazards).

Lessons use the names below. ``requests`` and ``timeline`` are functions here, not the modules that define them.
"""

from softlab.instruments.requests import requests
from softlab.instruments.shuffles import held_values, shuffle_steps
from softlab.instruments.timeline import timeline

__all__ = ["held_values", "requests", "shuffle_steps", "timeline"]
