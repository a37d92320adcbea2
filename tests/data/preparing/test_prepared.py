import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqloom.data.cache import cache_folder
from seqloom.data.preparing import spool
from seqloom.data.preparing.corpus import SPLITS, Corpus
from seqloom.data.preparing.prepared import Prepared, prepare
from seqloom.data.preparing.splits import PreparedSplit
from seqloom.data.preparing.splitting import split_of
from seqloom.data.reading import formats
from seqloom.data.reading.formats import read_examples
from seqloom.data.vocabulary import build_vocabulary
from seqloom.errors import DataError, WriteError
from seqloom.recipe import recipe_from, sections


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("SEQLOOM_CACHE", str(folder))
    return folder


def corpus_of(path: Path, **data: Any) -> Corpus:
    return Corpus(recipe_from({"data": {"train": str(path), **data}}).data, seed=1)


def written(path: Path, lines: Iterable[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def pairs(count: int) -> list[str]:
    return [f"word{number}\tWORD{number}" for number in range(count)]


def texts(prepared: Prepared, split: PreparedSplit) -> list[tuple[str, str, str]]:
    """Every example as source, target and where it came from."""
    found = []
    for number in range(len(split)):
        batch = split.batch(np.asarray([number]))
        source = prepared.vocabularies["source"].decode(np.asarray(batch.sources["source"].values)[0])
        target = prepared.vocabularies["target"].decode(np.asarray(batch.target.values)[0, : batch.target.lengths[0]])
        found.append((source, target, str(batch.origins[0])))
    return found


@dataclass
class Readings:
    """How often files were opened for reading."""

    count: int = 0


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Readings:
    counted = Readings()

    def reading(*arguments: Any, **wishes: Any) -> Any:
        counted.count += 1
        return read_examples(*arguments, **wishes)

    monkeypatch.setattr(formats, "read_examples", reading)
    return counted


# --- what is kept ---------------------------------------------------------------------------------------------------


def test_what_was_read_comes_back_with_file_and_line(tmp_path: Path) -> None:
    first, second = written(tmp_path / "a.tsv", pairs(5)), written(tmp_path / "b.tsv", ["x\tX"])
    data = recipe_from({"data": {"train": [str(first), str(second)], "split": {"validation": 0, "test": 0}}}).data
    prepared = prepare(Corpus(data, seed=1))
    assert texts(prepared, prepared.splits["train"]) == [
        *((f"word{number}", f"WORD{number}", f"{first}:{number + 1}") for number in range(5)),
        ("x", "X", f"{second}:1"),
    ]
    assert set(prepared.splits) == {"train"}


def test_weights_and_features_are_kept(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", ["ab\tA\t0.5\ten", "ba\tB\t2\t"])
    corpus = corpus_of(path, columns={"weight": 3, "features": [4]}, split={"validation": 0, "test": 0})
    prepared = prepare(corpus)
    batch = prepared.splits["train"].batch(np.asarray([0, 1]))
    assert batch.weights.tolist() == [0.5, 2.0]
    assert batch.sources["source"].lengths.tolist() == [3, 2]
    assert prepared.vocabularies["source"].symbol(int(np.asarray(batch.sources["source"].values)[0, 0])) == "<en>"


def test_a_feature_that_only_validation_has_counts_as_absent(tmp_path: Path) -> None:
    train, validation = written(tmp_path / "a.tsv", ["ab\tA\ten"]), written(tmp_path / "b.tsv", ["ba\tB\tfr"])
    prepared = prepare(
        corpus_of(train, validation=str(validation), columns={"features": [3]}, split={"validation": 0, "test": 0})
    )
    assert prepared.splits["validation"].lengths("source").tolist() == [2]


def test_over_long_examples_are_left_out_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", ["abcdef\tA", "a\tABCDEF", "abcde\tABCDE", "a\tA"])
    prepared = prepare(corpus_of(path, maximum_length=5, split={"validation": 0, "test": 0}))
    split = prepared.splits["train"]
    assert (len(split), split.dropped) == (2, 2)
    assert [origin for _, _, origin in texts(prepared, split)] == [f"{path}:3", f"{path}:4"]


def test_ids_take_two_bytes_until_there_are_too_many_symbols(tmp_path: Path) -> None:
    words = [f"w{number}" for number in range(2**16)]
    lines = [f"{' '.join(words[start : start + 256])}\tA" for start in range(0, len(words), 256)]
    symbols = {"vocabularies": {"source": {"kind": "symbols"}}, "split": {"validation": 0, "test": 0}}
    prepared = prepare(corpus_of(written(tmp_path / "a.tsv", lines), **symbols))
    ids, _ = prepared.splits["train"].sides["source"]
    other, _ = prepared.splits["train"].sides["target"]
    assert (ids.dtype.name, other.dtype.name) == ("uint32", "uint16")
    assert texts(prepared, prepared.splits["train"])[-1][0] == lines[-1].split("\t")[0]


def test_a_file_of_which_nothing_is_left_has_no_number(tmp_path: Path) -> None:
    first, second = written(tmp_path / "a.tsv", ["abcdef\tA"]), written(tmp_path / "b.tsv", ["a\tA"])
    data = {"train": [str(first), str(second)], "maximum_length": 5, "split": {"validation": 0, "test": 0}}
    split = prepare(Corpus(recipe_from({"data": data}).data, seed=1)).splits["train"]
    assert (list(split.files), split.places.tolist()) == ([str(second)], [[0, 1]])


ODD = ["", "  ", "\u00a0", "\u3000", "e\u0301", "\u0301", "▁", "語", "a", "bc", "bc,", "!", "Σ"]
KINDS: dict[str, dict[str, Any]] = {
    "characters": {},
    "graphemes": {"kind": "characters", "graphemes": True},
    "words": {"kind": "words", "minimum_count": 2},
    "symbols": {"kind": "symbols", "begin_end": True},
    "bpe": {"kind": "bpe", "size": 60},
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
@pytest.mark.parametrize("volume", [1, 7, 1000])
def test_ids_are_those_of_the_texts_encoded_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: dict[str, Any], volume: int
) -> None:
    """However the reading cuts texts into parts and parts into volumes."""
    monkeypatch.setattr(spool, "_CHUNK", 16)
    monkeypatch.setattr(spool, "_VOLUME_PARTS", volume)
    draw = np.random.default_rng(1)
    lines = [
        f"x{' '.join(draw.choice(ODD, 5))}\t{''.join(draw.choice(ODD, 3))}y\t{draw.choice(['en', ''])}" for _ in range(200)
    ]
    section = {"kind": "characters", **kind}
    vocabularies = {"source": section, "target": {**section, "begin_end": False}}
    corpus = corpus_of(written(tmp_path / "a.tsv", lines), columns={"features": [3]}, vocabularies=vocabularies)
    prepared = prepare(corpus)
    for name, split in prepared.splits.items():
        examples = list(corpus.examples(name))
        batch = split.batch(np.arange(len(split)))
        assert len(split) == len(examples)
        for row, example in enumerate(examples):
            source = prepared.vocabularies["source"].encode_source(example.sources["source"], example.features).ids
            [target] = prepared.vocabularies["target"].encode_targets([example.target or ""])
            assert np.asarray(batch.sources["source"].values)[row, : len(source)].tolist() == source.tolist()
            assert np.asarray(batch.target.values)[row, : len(target)].tolist() == target.tolist()
            assert (batch.sources["source"].lengths[row], batch.target.lengths[row]) == (len(source), len(target))
    plain = [
        build_vocabulary(corpus.data.vocabularies.source, (one.sources["source"] for one in corpus.examples("train"))),
        build_vocabulary(corpus.data.vocabularies.target, (one.target or "" for one in corpus.examples("train"))),
    ]
    assert prepared.vocabularies["source"].to_json() == plain[0].with_features(["en"]).to_json()
    assert prepared.vocabularies["target"].to_json() == plain[1].to_json()


# --- splits ---------------------------------------------------------------------------------------------------------


def test_words_of_training_alone_come_in_other_pieces_and_only_where_chance_is_given(tmp_path: Path) -> None:
    vocabulary = {"kind": "bpe", "size": 60, "dropout": 0.5}
    file = written(tmp_path / "p.tsv", [f"water of rivers {n}\tthe waters" for n in range(50)])
    prepared = prepare(corpus_of(file, vocabularies={"source": vocabulary, "target": {"kind": "bpe", "size": 40}}))
    train, numbers = prepared.splits["train"], np.arange(20)
    assert set(train.recut) == {"source"}
    assert not prepared.splits["validation"].recut
    plain, one, same = train.batch(numbers), *(train.batch(numbers, np.random.default_rng(3)) for _ in range(2))
    assert one.sources["source"].lengths.sum() > plain.sources["source"].lengths.sum()
    assert np.array_equal(one.sources["source"].values, same.sources["source"].values)
    assert np.array_equal(one.target.values, plain.target.values)


def test_shares_are_kept_and_equal_sources_stay_together(tmp_path: Path) -> None:
    lines = [f"{line}{extra}" for line in pairs(2000) for extra in ("", "x")]  # every source twice
    prepared = prepare(corpus_of(written(tmp_path / "a.tsv", lines), split={"validation": 0.2, "test": 0.1}))
    sources = {name: [source for source, _, _ in texts(prepared, split)] for name, split in prepared.splits.items()}
    assert sum(map(len, sources.values())) == 4000
    assert 0.17 < len(sources["validation"]) / 4000 < 0.23
    assert 0.08 < len(sources["test"]) / 4000 < 0.12
    for name in SPLITS:
        assert all(sources[name].count(source) == 2 for source in sources[name][:50])
        assert all(split_of(one, 1, sections.Split(validation=0.2, test=0.1)) == name for one in sources[name])


def test_files_of_their_own_replace_shares(tmp_path: Path) -> None:
    path, other = written(tmp_path / "a.tsv", pairs(100)), written(tmp_path / "b.tsv", pairs(7))
    prepared = prepare(corpus_of(path, validation=str(other), split={"validation": 0.5, "test": 0}))
    assert {name: len(split) for name, split in prepared.splits.items()} == {"train": 100, "validation": 7}


# --- the cache ------------------------------------------------------------------------------------------------------


def test_a_second_call_reads_no_file(tmp_path: Path, readings: Readings) -> None:
    path = written(tmp_path / "a.tsv", pairs(50))
    first = prepare(corpus_of(path))
    before = readings.count
    second = prepare(corpus_of(path))
    assert readings.count == before > 0
    assert texts(second, second.splits["train"]) == texts(first, first.splits["train"])
    assert second.fingerprint == first.fingerprint


def test_all_splits_and_vocabularies_come_from_one_reading(tmp_path: Path, readings: Readings) -> None:
    prepared = prepare(corpus_of(written(tmp_path / "a.tsv", pairs(200))))
    assert set(prepared.splits) == set(SPLITS)
    assert readings.count == 1


def test_changed_content_is_read_again_and_has_another_fingerprint(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", pairs(50))
    first = prepare(corpus_of(path))
    stat = path.stat()
    written(path, [line.replace("w", "v") for line in pairs(50)])
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    second = prepare(corpus_of(path))
    assert second.fingerprint != first.fingerprint
    assert texts(second, second.splits["train"])[0][0].startswith("v")


def test_a_touched_file_is_read_again_and_keeps_its_fingerprint(tmp_path: Path, readings: Readings) -> None:
    path = written(tmp_path / "a.tsv", pairs(50))
    first = prepare(corpus_of(path))
    before = readings.count
    os.utime(path, ns=(1, 1))
    assert prepare(corpus_of(path)).fingerprint == first.fingerprint
    assert readings.count > before


def test_another_way_of_reading_is_another_preparation(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", ["Ab\tX"])
    plain = prepare(corpus_of(path, split={"validation": 0, "test": 0}))
    folded = prepare(
        corpus_of(path, split={"validation": 0, "test": 0}, vocabularies={"source": {"kind": "characters", "lowercase": True}})
    )
    assert texts(plain, plain.splits["train"])[0][0] == "Ab"
    assert texts(folded, folded.splits["train"])[0][0] == "ab"


def test_given_vocabularies_are_used_and_leave_the_common_preparation_alone(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", pairs(50))
    own = {name: build_vocabulary(sections.Characters(), ["zWORDword0123456789"]) for name in ("source", "target")}
    with_own = prepare(corpus_of(path), vocabularies=own)
    assert with_own.vocabularies["source"].to_json() == own["source"].to_json()
    common = prepare(corpus_of(path))
    assert common.vocabularies["source"].to_json() != own["source"].to_json()
    assert texts(common, common.splits["train"]) == texts(with_own, with_own.splits["train"])
    assert prepare(corpus_of(path), vocabularies=own).vocabularies["source"].size == own["source"].size


def test_known_vocabularies_reuse_the_common_preparation(tmp_path: Path, readings: Readings) -> None:
    path = written(tmp_path / "a.tsv", pairs(50))
    common = prepare(corpus_of(path))
    before = readings.count
    prepare(corpus_of(path), vocabularies=common.vocabularies)
    assert readings.count == before


def only_folder(cache: Path) -> Path:
    [folder] = (cache / "prepared").iterdir()
    return folder


@pytest.mark.parametrize(
    "name",
    ["prepared.json", "source.json", "train/source.ids", "train/target.offsets.npy", "train/weights.npy", "train/places.npy"],
)
@pytest.mark.parametrize("damage", ["truncated", "empty", "header", "missing", "foreign"])
def test_a_damaged_cache_is_refused_with_a_remedy(tmp_path: Path, empty_cache: Path, name: str, damage: str) -> None:
    path = written(tmp_path / "a.tsv", pairs(50))
    prepare(corpus_of(path))
    victim = only_folder(empty_cache) / name
    content = victim.read_bytes()
    if damage == "truncated":
        victim.write_bytes(content[: len(content) // 2])
    elif damage == "empty":
        victim.write_bytes(b"")
    elif damage == "header":  # of an array, a Python expression that is none any more
        victim.write_bytes(content.replace(b"'shape'", b"'shape(") if b"'shape'" in content else content[1:])
    elif damage == "foreign":
        victim.write_bytes(b"[1, 2]")
    elif name != "prepared.json":  # without it, the folder does not count as made
        victim.unlink()
    else:
        return
    with pytest.raises(DataError, match=r"the prepared data is damaged .* Delete this folder; it will be made again"):
        prepare(corpus_of(path))


@pytest.mark.parametrize("name", ["train/source.ids", "train/target.offsets.npy", "train/weights.npy", "target.json"])
def test_a_single_flipped_bit_is_noticed(tmp_path: Path, empty_cache: Path, name: str) -> None:
    path = written(tmp_path / "a.tsv", pairs(50))
    prepare(corpus_of(path))
    victim = only_folder(empty_cache) / name
    content = bytearray(victim.read_bytes())
    content[-3] ^= 1
    victim.write_bytes(content)
    with pytest.raises(DataError, match=r"the prepared data is damaged .* Delete this folder; it will be made again"):
        prepare(corpus_of(path))


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path, empty_cache: Path) -> None:
    path = written(tmp_path / "a.tsv", pairs(50))
    prepare(corpus_of(path))
    np.save(only_folder(empty_cache) / "train" / "weights.npy", np.ones(3, dtype=np.float32))
    with pytest.raises(DataError, match=r"weights\.npy is not as it was written"):
        prepare(corpus_of(path))


def test_a_mistake_in_the_data_names_file_and_line_and_leaves_nothing(tmp_path: Path, empty_cache: Path) -> None:
    path = written(tmp_path / "a.tsv", [*pairs(3), "no target here"])
    with pytest.raises(DataError, match=rf"^{path}:4: "):
        prepare(corpus_of(path))
    assert list((empty_cache / "prepared").iterdir()) == []


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.tsv: expected a data file, found nothing"):
        prepare(corpus_of(tmp_path / "nowhere.tsv"))


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = written(tmp_path / "file", ["not a folder"])
    monkeypatch.setenv("SEQLOOM_CACHE", str(blocked))
    with pytest.raises(WriteError, match="could not write the prepared data"):
        prepare(corpus_of(written(tmp_path / "a.tsv", pairs(5))))


def test_a_kill_half_way_leaves_nothing_that_counts(tmp_path: Path, empty_cache: Path) -> None:
    path = written(tmp_path / "a.tsv", pairs(50))
    script = """
        import os, signal, sys
        from seqloom.data.preparing import prepared
        from seqloom.data.preparing.corpus import Corpus
        from seqloom.recipe import recipe_from

        def progress(what, count):
            if what.startswith("encoding the validation"):
                os.kill(os.getpid(), signal.SIGKILL)

        prepared.prepare(Corpus(recipe_from({"data": {"train": sys.argv[1]}}).data, 1), progress)
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(script), str(path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    [left] = (empty_cache / "prepared").iterdir()
    assert left.name.startswith("draft-")
    os.utime(left, (0, 0))  # long ago
    assert sum(map(len, prepare(corpus_of(path)).splits.values())) == 50
    assert only_folder(empty_cache) != left


def test_two_that_prepare_at_once_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "a.tsv", pairs(50))
    inner: list[Prepared] = []

    def progress(what: str, count: int) -> None:
        if not inner and what.startswith("encoding"):
            inner.append(prepare(corpus_of(path)))  # another process is faster

    outer = prepare(corpus_of(path), progress)
    assert texts(outer, outer.splits["train"]) == texts(inner[0], inner[0].splits["train"])


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEQLOOM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_folder() == Path("/somewhere/seqloom")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "seqloom"


# --- memory ---------------------------------------------------------------------------------------------------------


MEASURED = """
import json, resource, sys
from seqloom.data.preparing import spool
from seqloom.data.preparing.batches import plan_epoch
from seqloom.data.preparing.corpus import Corpus
from seqloom.data.reading import formats
from seqloom.data.examples import Example, Origin
from seqloom.data.preparing.prepared import prepare
from seqloom.recipe import recipe_from

def examples(*_, **__):
    return (Example({"source": f"{line:06}"}, "abcd", Origin("generated", line)) for line in range(1, count + 1))

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

path, count = sys.argv[1], int(sys.argv[2])
formats.read_examples = examples
before = peak()
data = recipe_from({"data": {"train": path, "split": {"validation": 0, "test": 0}}}).data
split = prepare(Corpus(data, 1)).splits["train"]
lengths = [split.lengths("source"), split.lengths("target") + 1]
plan = plan_epoch(lengths, budget=4000, most=None, seed=1, epoch=0)
symbols = sum(split.batch(numbers).num_symbols for numbers in plan.batches)
print(json.dumps({"bytes": peak() - before, "symbols": symbols}))
"""


def test_memory_does_not_grow_with_the_text(tmp_path: Path) -> None:
    """Held are lengths, places and the plan (about 100 bytes a pair) and one chunk, never all examples."""
    path = written(tmp_path / "a.tsv", ["unused\tunused"])
    answer = subprocess.run([sys.executable, "-c", MEASURED, str(path), "100000"], check=True, capture_output=True, text=True)
    found = json.loads(answer.stdout)
    assert found["symbols"] == 100_000 * 5
    assert found["bytes"] < 85_000_000


@pytest.mark.parametrize("tell_apart", [None, "source"])
def test_of_long_sources_the_first_symbols_are_read_and_counted(tmp_path: Path, tell_apart: str | None) -> None:
    train = written(tmp_path / "a.tsv", ["b a a\ta", "a b x y\ty x b", "b\tb"])
    words = {"kind": "symbols", "minimum_count": 3}
    vocabularies = {"source": words, "shared": True}
    sources = {"source": {"kind": "text", "first": 3}}
    corpus = corpus_of(train, sources=sources, vocabularies=vocabularies, split={"validation": 0, "test": 0})
    prepared = prepare(corpus, tell_apart=tell_apart)
    split = prepared.splits["train"]
    assert (len(split), split.dropped, split.cut) == (3, 0, 1)
    assert split.lengths("source").tolist() == [3, 3, 1]
    batch, size = split.batch(np.asarray([1])), prepared.vocabularies["source"].size
    # x is the third symbol, which is read, so it can be copied; y is the fourth, so it is unknown.
    assert (np.asarray(batch.target.values)[0, :2] == [2, size + 2 if tell_apart else 2]).all()


def test_what_is_asked_about_a_text_stays_together_where_the_text_decides(tmp_path: Path) -> None:
    path = tmp_path / "asked.tsv"
    path.write_text("".join(f"Child {n // 3} went home .\twho {n} ?\t{n // 3}\n" for n in range(180)), encoding="utf-8")
    sources = {"text": {"kind": "text"}, "question": {"kind": "text"}}
    data = sections.Data.model_validate({"train": str(path), "sources": sources, "split": {"validation": 0.3, "by": "text"}})
    splits: dict[str, set[str]] = {}
    for split, example in Corpus(data, seed=1).everything():
        splits.setdefault(example.sources["text"], set()).add(split)
    assert all(len(found) == 1 for found in splits.values())
    assert set.union(*splits.values()) == {"train", "validation", "test"}
