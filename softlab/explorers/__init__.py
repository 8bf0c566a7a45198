"""Controls and pictures to play with, one line each in a notebook; their state is plain traits."""

from softlab.explorers.bandwidth import BandwidthExplorer
from softlab.explorers.banks import BankExplorer
from softlab.explorers.block_size import BlockSizeExplorer
from softlab.explorers.cache import CacheExplorer
from softlab.explorers.dispatch import DispatchExplorer
from softlab.explorers.display import show
from softlab.explorers.fusing import FusingExplorer
from softlab.explorers.launch import LaunchExplorer
from softlab.explorers.littles_law import LittlesLawExplorer
from softlab.explorers.numerics import NumericsExplorer, example_row
from softlab.explorers.occupancy import OccupancyExplorer
from softlab.explorers.packs import PackExplorer
from softlab.explorers.plans import PlanExplorer
from softlab.explorers.questions import Prediction
from softlab.explorers.row import RowExplorer
from softlab.explorers.shuffles import ShuffleExplorer
from softlab.explorers.source import SourceExplorer
from softlab.explorers.stepper import StepperExplorer
from softlab.explorers.timeline import TimelineExplorer

__all__ = [
    "BandwidthExplorer",
    "BankExplorer",
    "BlockSizeExplorer",
    "CacheExplorer",
    "DispatchExplorer",
    "FusingExplorer",
    "LaunchExplorer",
    "LittlesLawExplorer",
    "NumericsExplorer",
    "OccupancyExplorer",
    "PackExplorer",
    "PlanExplorer",
    "Prediction",
    "RowExplorer",
    "ShuffleExplorer",
    "SourceExplorer",
    "StepperExplorer",
    "TimelineExplorer",
    "example_row",
    "show",
]
