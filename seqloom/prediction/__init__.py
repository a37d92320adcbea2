"""Trained models at work: what one asks them, what opens them, and the two objects that callers hold."""

from seqloom.prediction.language_model import LanguageModel
from seqloom.prediction.predictor import Predictor

__all__ = ["LanguageModel", "Predictor"]
