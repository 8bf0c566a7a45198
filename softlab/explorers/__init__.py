"""Controls and pictures to play with, one line each in a notebook; their state is plain traits."""

from softlab.explorers.banks import BankExplorer
from softlab.explorers.display import show
from softlab.explorers.plans import PlanExplorer

__all__ = ["BankExplorer", "PlanExplorer", "show"]
