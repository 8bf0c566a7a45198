"""Controls and pictures to play with, one line each in a notebook; their state is plain traits."""

from softlab.explorers.banks import BankExplorer
from softlab.explorers.display import show
from softlab.explorers.plans import PlanExplorer
from softlab.explorers.questions import Prediction, check

__all__ = ["BankExplorer", "PlanExplorer", "Prediction", "check", "show"]
