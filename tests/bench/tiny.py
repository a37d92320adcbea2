"""A workload small enough for tests, of the same architecture as the real ones."""

from seqloom.bench.workloads import TRANSLATION, Side, Workload
from seqloom.recipe import sections

TINY: Workload = TRANSLATION.model_copy(
    update={
        "name": "tiny",
        "source": Side(symbols=40, mean=6.0, spread=0.4, longest=12),
        "target": Side(symbols=50, mean=5.0, spread=0.4, longest=12),
        "examples": 60,
        "batch_size": 8,
        "model": sections.Model(
            encoder=sections.TextEncoder(cell="lstm", size=12, embedding=10),
            decoder=sections.RecurrentDecoder(cell="lstm", size=20, embedding=14),
            bridge=sections.AttentionBridge(into=("input", "combined"), attention=sections.Additive(size=16)),
        ),
        "vocabularies": sections.Vocabularies(source=sections.Symbols(), target=sections.Symbols()),
    }
)
