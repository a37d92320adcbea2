"""Trained models at work: what one asks them, what opens them, and what callers hold, a `Predictor` or a `LanguageModel`."""
