"""The operators: softmax, log_softmax, their gradients, and traces of them, for arrays of any library."""

from softlab.operators.estimates import estimate, what_if
from softlab.operators.functions import (
    log_softmax,
    log_softmax_backward,
    softmax,
    softmax_backward,
    trace,
    trace_plan,
)

__all__ = [
    "estimate",
    "log_softmax",
    "log_softmax_backward",
    "softmax",
    "softmax_backward",
    "trace",
    "trace_plan",
    "what_if",
]
