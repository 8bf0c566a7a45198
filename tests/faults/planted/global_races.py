"""Races in global memory, planted in the good kernels of :mod:`tests.faults.global_cases`."""

from tests.faults.planted.global_neighbours import NEIGHBOURS
from tests.faults.planted.global_publication import PUBLICATION
from tests.faults.planted.global_race import GlobalRace
from tests.faults.planted.global_synchronisation import SYNCHRONISATION

__all__ = ["GLOBAL_RACES", "GlobalRace"]

GLOBAL_RACES: tuple[GlobalRace, ...] = NEIGHBOURS + SYNCHRONISATION + PUBLICATION
