"""Run folders: what is in them, and the only code that reads and writes it."""

from seqloom.runs.documents import Counters, RunFacts
from seqloom.runs.folder import EXPORT_DOCUMENT, RUN_DOCUMENT, SEEDS_FILE, Checkpoint, RunFolder

__all__ = ["EXPORT_DOCUMENT", "RUN_DOCUMENT", "SEEDS_FILE", "Checkpoint", "Counters", "RunFacts", "RunFolder"]
