"""A question to a learner: a prediction made before the experiment. (Exercises: ``softlab.course``.)"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import ipywidgets as widgets
from traitlets import Unicode

from softlab.explorers.explorer import Explorer


class Prediction(Explorer):
    """A question with a few answers, to be settled by an experiment later on.

    >>> prediction = Prediction("How many banks are there?", ["16", "32"])
    >>> prediction.choice = "16"
    >>> prediction.compare("32")
    The experiment shows: 32.
    You predicted: 16. Good: now there is something to explain.

    Traits: ``choice``: the answer chosen, "" for none yet.
    """

    choice = Unicode().tag(state=True)

    def __init__(self, question: str, answers: Sequence[str]) -> None:
        super().__init__()
        self.answers = tuple(answers)
        self.radio = widgets.RadioButtons(options=self.answers, index=None, layout={"width": "auto"})
        self.answer = widgets.HTML()
        self.radio.observe(self._chosen, "value")
        self.observe(self._say, "choice")
        self.widget = widgets.VBox([widgets.HTML(f"<b>{escape(question)}</b>"), self.radio, self.answer])
        self._say(None)

    def _chosen(self, change: Any) -> None:
        self.choice = change.new or ""

    def _say(self, change: Any) -> None:
        if self.choice and self.choice not in self.answers:
            raise ValueError(f"{self.choice!r} is none of the answers: {', '.join(self.answers)}")
        self.radio.value = self.choice or None
        self.answer.value = (
            f"Noted: {escape(self.choice)}. Go on and see." if self.choice else "Choose before you go on."
        )

    def compare(self, measured: str) -> None:
        """Print what the experiment shows beside what was predicted."""
        print(f"The experiment shows: {measured}.")
        if self.choice == measured:
            print("You predicted just that.")
        elif self.choice:
            print(f"You predicted: {self.choice}. Good: now there is something to explain.")
