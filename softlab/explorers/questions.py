"""A prediction: a question that a learner answers before the experiment, and its verdict. (``softlab.course``)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import ipywidgets as widgets
from IPython.display import display
from traitlets import Unicode

from softlab.explorers.explorer import Explorer
from softlab.views.progress import verdict_html


class Prediction(Explorer):
    """A question with a few answers. An experiment later on decides, and the widget then shows the verdict.

    answers: the answers, or a mapping from each to a sentence for the learner who chose it.

    >>> prediction = Prediction("How many banks are there?", ["16", "32"])
    >>> prediction.choice = "16"
    >>> prediction.compare("32")
    The experiment shows: 32. You predicted: 16.

    Traits: ``choice``: the answer chosen, "" for none yet; ``measured``: what the experiment showed, "" before it.
    """

    choice = Unicode().tag(state=True)
    measured = Unicode()

    def __init__(self, question: str, answers: Sequence[str] | Mapping[str, str]) -> None:
        super().__init__()
        self.question = question
        self.answers = tuple(answers)
        self._why = dict(answers) if isinstance(answers, Mapping) else {}
        self.radio = widgets.RadioButtons(options=self.answers, index=None, layout={"width": "auto"})
        self.answer = widgets.HTML()
        self.radio.observe(self._chosen, "value")
        self.observe(self._say, ["choice", "measured"])
        self.widget = widgets.VBox([widgets.HTML(f"<b>{escape(question)}</b>"), self.radio, self.answer])
        self._say(None)

    def _chosen(self, change: Any) -> None:
        self.choice = change.new or ""

    def _say(self, change: Any) -> None:
        if self.choice and self.choice not in self.answers:
            raise ValueError(f"{self.choice!r} is none of the answers: {', '.join(self.answers)}")
        self.radio.value = self.choice or None
        # A prediction that can be changed afterwards is none.
        self.radio.disabled = bool(self.choice and self.measured)
        self.answer.value = self._shown()

    def _shown(self) -> str:
        if not self.measured:
            return f"Noted: {escape(self.choice)}. Go on and see." if self.choice else "Choose before you go on."
        if not self.choice:
            return verdict_html("unanswered", f"{self} You did not choose. What would you have said?")
        right = self.choice == self.measured
        why = [self._why.get(self.choice, "")] + ([] if right else [self._why.get(self.measured, "")])
        return verdict_html("right" if right else "wrong", " ".join(filter(None, [str(self), *why])))

    def __str__(self) -> str:
        if not self.measured:
            return repr(self)
        said = f"The experiment shows: {self.measured}."
        if not self.choice:
            return said
        return (
            f"{said} You predicted just that."
            if self.choice == self.measured
            else f"{said} You predicted: {self.choice}."
        )

    def compare(self, measured: str) -> None:
        """Tell what the experiment showed. The widget shows the verdict, and so does the output of the cell.

        Raises:
            ValueError: it is none of the answers.
        """
        if measured not in self.answers:
            raise ValueError(f"{measured!r} is none of the answers: {', '.join(self.answers)}")
        self.measured = measured
        display(Verdict(self))


class Verdict:
    """The same widget once more, below the experiment; as text, the sentence."""

    def __init__(self, prediction: Prediction) -> None:
        self.prediction = prediction

    def __repr__(self) -> str:
        return str(self.prediction)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        bundle = self.prediction.widget._repr_mimebundle_(**options)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        if data is not None:
            data["text/plain"] = repr(self)
        return bundle
