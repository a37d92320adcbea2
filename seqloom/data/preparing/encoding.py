"""All splits of a corpus that was read once, as symbols in files."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from seqloom.data.preparing.corpus import SPLITS, Corpus
from seqloom.data.preparing.splits import SplitWriter
from seqloom.data.preparing.splitting import SplitName
from seqloom.data.preparing.spool import AnyEncoder, Progress, SideEncoder, Spool, SpooledChunk
from seqloom.data.vocabulary import Sequences, Vocabulary
from seqloom.recipe.sections import TARGET, Data
from seqloom.symbols import END, UNKNOWN


def write_splits(
    corpus: Corpus,
    spool: Spool,
    vocabularies: Mapping[str, Vocabulary],
    folder: Path,
    progress: Progress,
    *,
    tell_apart: str | None,
) -> dict[SplitName, dict[str, object]]:
    """Encode all splits, each into a folder of its own."""
    encoders = spool.encoders(vocabularies)
    writers: dict[SplitName, SplitWriter] = {}
    running = corpus.data.text == "stream"
    sources = [name for name in corpus.data.symbol_sides if name != TARGET]
    with ExitStack() as opened:
        for split in filter(corpus.has, SPLITS):
            writers[split] = SplitWriter(folder / split, vocabularies, spool.rows, corpus.data, tell_apart=tell_apart)
            opened.callback(writers[split].close)
        for chunk in spool.chunks:
            sides = {name: encoder.encode(chunk.sides[name]) for name, encoder in encoders.items()}
            for name in sources:  # features stand before the first text
                known = _known_features(chunk, vocabularies[name]) if name == sources[0] else [()] * len(chunk.weights)
                sides[name] = vocabularies[name].framed(sides[name], known)
                if (first := corpus.data.first_of(name)) is not None:
                    writers[chunk.split].cut += int((sides[name].lengths > first).sum())
                    sides[name] = sides[name].cut(first)
            if running:
                sides[TARGET] = _with_ends(sides[TARGET])
            if tell_apart is not None:
                sides |= _told_apart(chunk, sides, encoders, vocabularies[tell_apart], tell_apart, corpus.data)
            writers[chunk.split].write(chunk, sides)
            progress(f"encoding the {chunk.split} data", writers[chunk.split].done)
        return {split: writer.finish() for split, writer in writers.items()}


def _with_ends(lines: Sequences) -> Sequences:
    """Lines of a running text, each with the `end` that stands for its line break."""
    ones = np.ones(len(lines), dtype=np.int64)
    return Sequences.joined([lines, Sequences(END * ones, ones)])


def _told_apart(
    chunk: SpooledChunk,
    sides: Mapping[str, Sequences],
    encoders: Mapping[str, AnyEncoder],
    vocabulary: Vocabulary,
    source: str,
    data: Data,
) -> dict[str, Sequences]:
    """The source and the target of a chunk, unknown symbols with the ids that prediction gives them, too."""
    written, read = sides[TARGET], sides[source]
    read_ends, written_ends = np.cumsum(read.lengths), np.cumsum(written.lengths)
    chosen = np.unique(np.searchsorted(read_ends, np.flatnonzero(read.ids == UNKNOWN), side="right")).tolist()
    read_ids, written_ids = read.ids.copy(), written.ids.copy()
    none: list[list[str]] = [[]] * len(chunk.weights)
    features = _known_features(chunk, vocabulary) if source == data.text_sources[0] else none
    texts = []
    for name in (source, TARGET):
        encoder = encoders[name]
        if not isinstance(encoder, SideEncoder):
            raise TypeError(encoder)  # only text is copied
        texts.append(encoder.texts(chunk.sides[name], chosen))
    for one, text, target in zip(chosen, *texts, strict=True):
        told = vocabulary.told_apart(vocabulary.encode_source(text, features[one]).cut(data.first_of(source)), text)
        read_ids[read_ends[one] - read.lengths[one] : read_ends[one]] = told.ids
        copied = vocabulary.encode_copying(target, told.copies)
        written_ids[written_ends[one] - written.lengths[one] : written_ends[one]] = copied
    return {source: Sequences(read_ids, read.lengths), TARGET: Sequences(written_ids, written.lengths)}


def _known_features(chunk: SpooledChunk, vocabulary: Vocabulary) -> list[list[str]]:
    """A feature that only validation or test has cannot have been learnt: it counts as absent there."""
    features = chunk.features or [()] * len(chunk.weights)
    return [[feature for feature in one if feature in vocabulary.features] for one in features]
