"""A new modality is a kind and an encoder: rows of any length, from files that nothing else in the package has heard of."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import numpy as np
import numpy.typing as npt
import pytest
import torch
from pydantic import Field
from torch import Tensor, nn

from seqloom.data import kinds
from seqloom.data.doctor.examination import examine
from seqloom.data.doctor.file_checks import file_checks
from seqloom.data.kinds.files import FileKind
from seqloom.data.media.files import Media, MediaError
from seqloom.models import encoder_decoder
from seqloom.models.encoders.contract import Encoder
from seqloom.models.memory import Memory
from seqloom.models.operations import Multiplications
from seqloom.prediction.predictor import Predictor
from seqloom.recipe.sections import Data, DenseEncoder, FileSource, ImageSource, Recipe, TextSource, VectorSource
from seqloom.recipe.sections import recipe as rules
from seqloom.results.layouts import Frames
from seqloom.suggest.recognition import recognise
from seqloom.training.session import train

WIDTH, STRIDE = 3, 2


class RowsSource(FileSource):
    """The source is a file with three numbers on each line."""

    kind: Literal["rows"] = "rows"


class RowsOfNumbers:
    """What makes arrays of such files."""

    key, row = "rows of numbers", (WIDTH,)

    def arrays(self, files: Sequence[Media]) -> Iterator[npt.NDArray[np.float32]]:
        for media in files:
            try:
                numbers = [[float(word) for word in line.split()] for line in media.read().decode().splitlines()]
                yield np.asarray(numbers, dtype=np.float32).reshape(-1, WIDTH)
            except ValueError as problem:
                raise MediaError(f"{media.name}: expected {WIDTH} numbers on each line ({problem})") from problem


class RowsKind(FileKind[RowsSource]):
    """The kind itself: all that the package has to be told."""

    section_type = RowsSource
    usual_name = "recording"
    noun = "recording"
    endings = frozenset({".rows"})

    def frontend(self, threads: int = 1) -> RowsOfNumbers:
        return RowsOfNumbers()

    @classmethod
    def suggested(cls, files: Sequence[Media], width: int) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"kind": "rows"}, {"kind": "dense", "size": width}


class RowsEncoder(Encoder):
    """The encoder: neighbours are joined, and a layer looks at each pair."""

    def __init__(self, section: DenseEncoder, size: int) -> None:
        super().__init__()
        self.layout = Frames(STRIDE)
        self.memory_size = self.summary_size = section.size
        self.look = nn.Linear(STRIDE * size, section.size)

    def forward(self, rows: Tensor, lengths: Tensor) -> Memory:
        whole = nn.functional.pad(rows, (0, 0, 0, -rows.shape[1] % STRIDE)).float()
        mask = torch.arange(whole.shape[1] // STRIDE) < -(-lengths[:, None] // STRIDE)
        states = torch.tanh(self.look(whole.reshape(len(whole), -1, STRIDE * whole.shape[2]))) * mask[..., None]
        summary = states.sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
        return Memory(states, mask, summary, ((summary,),))

    @property
    def multiplications(self) -> Multiplications:
        return Multiplications(source=self.look.weight.numel() // STRIDE)


@pytest.fixture
def _rows_are_a_kind(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a change of the package would write: a section in the union, the kind beside the others, an arm for the encoder."""
    union = Annotated[TextSource | VectorSource | ImageSource | RowsSource, Field(discriminator="kind")]
    with monkeypatch.context() as patched:
        patched.setattr(Data.model_fields["sources"], "annotation", dict[str, union])
        patched.setitem(kinds.KINDS, "rows", lambda: RowsKind)
        patched.setitem(cast(dict[Any, str], rules._READS), DenseEncoder, "rows")
        patched.setattr(encoder_decoder, "build_encoder", lambda section, size, _: RowsEncoder(section, size))
        Data.model_rebuild(force=True)
        Recipe.model_rebuild(force=True)
        yield
    Data.model_rebuild(force=True)
    Recipe.model_rebuild(force=True)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Recordings of one to nine rows, each of which says its letter."""
    monkeypatch.setenv("SEQLOOM_CACHE", str(tmp_path / "cache"))
    random, lines = np.random.default_rng(1), []
    for number in range(30):
        letters = random.choice(list("abc"), size=1 + number % 9)
        rows = [" ".join(str(float(letter == one)) for one in "abc") for letter in letters]
        (tmp_path / f"{number}.rows").write_text("\n".join(rows))
        lines.append(f"{number}.rows\t{''.join(letters)}\n")
    (tmp_path / "table.tsv").write_text("".join(lines))
    return tmp_path / "table.tsv"


@pytest.mark.usefixtures("_rows_are_a_kind")
def test_a_new_kind_trains_predicts_and_is_explained(table: Path) -> None:
    outcome = train(
        {
            "data": {
                "train": str(table),
                "sources": {"recording": {"kind": "rows"}},
                "split": {"validation": 0.2, "test": 0.0},
            },
            "model": {"encoder": {"kind": "dense", "size": 8}, "decoder": {"cell": "gru", "size": 8, "embedding": 8}},
            "training": {"steps": 2, "batch_tokens": 60, "threads": 1},
        },
        table.parent / "run",
    )
    predictor = Predictor.load(outcome.path)
    long, short = predictor.predict([str(table.parent / "8.rows"), str(table.parent / "0.rows")])
    assert [one.alignment["recording"].symbols for one in (long, short)] == [("1", "3", "5", "7", "9"), ("1",)]
    assert long.alignment["recording"].as_json()["stride"] == STRIDE
    np.testing.assert_allclose(long.alignment["recording"].mean.sum(axis=-1), 1.0, rtol=1e-5)
    page = long.save(table.parent / "map.html").read_text(encoding="utf-8")
    assert "8.rows" in page
    long.save(table.parent / "map.svg")


@pytest.mark.usefixtures("_rows_are_a_kind")
def test_a_new_kind_is_recognised_and_examined(table: Path) -> None:
    found = recognise(str(table))
    assert {name: source.kind for name, source in found.sources.items()} == {"recording": "rows"}
    (table.parent / "3.rows").write_text("no numbers")
    (table.parent / "4.rows").unlink()
    diagnosis = examine({"train": str(table)}, sources=found.sources, further=file_checks(found.sources, sized=True))
    assert {one.code for one in diagnosis.findings if one.severity == "error"} == {"missing-recording"}
