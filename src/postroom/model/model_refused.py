"""The error for a model that breaks a rule of model.md."""

from __future__ import annotations

from postroom.errors import DocumentRefused


class ModelRefused(DocumentRefused):
    """A model that breaks a rule of the model language; `problem` names the xRegistry error type."""

    def __init__(self, sentence: str, *, problem: str = "model_error", name: str = "", place: str = "") -> None:
        super().__init__(sentence, place=place)
        self.problem = problem
        self.name = name
