"""Plans: which kernel, pack, block and grid a softmax takes on a GPU, and every question that leads to that answer.

A plan is made before anything runs. It follows from the shape, the type and the device's limits alone. The policy
"oneflow" is the reference design's own dispatch (:mod:`softlab.plans.oneflow`). "fast" and "invariant" are ours
(:mod:`softlab.plans.fast`).
"""

from softlab.plans.making import forced, plan
from softlab.plans.planner import Step
from softlab.plans.records import POLICIES, Alternative, Node, Plan

__all__ = ["POLICIES", "Alternative", "Node", "Plan", "Step", "forced", "plan"]
