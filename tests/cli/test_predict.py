"""`seqloom predict`: lines in, lines out."""

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.conftest import OWN_PROCESS, Seqloom, words
from seqloom.system.cpu import has_bf16_products


def test_standard_input_is_answered_line_by_line(seqloom: Seqloom, tiny_run: Path) -> None:
    answer = seqloom("predict", tiny_run, given="abc\nfed\n")
    assert (answer.code, answer.out, answer.err) == (0, "ABC\nFED\n", "")


def test_a_dash_and_a_file_are_inputs_too(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    (here / "words.txt").write_text("abc\nfed\n")
    assert seqloom("predict", tiny_run, "words.txt").out == "ABC\nFED\n"
    assert seqloom("predict", tiny_run, "-", given="abc\n").out == "ABC\n"


def test_a_feature_is_given_for_all_lines_or_by_a_column(seqloom: Seqloom, tiny_run: Path) -> None:
    assert seqloom("predict", tiny_run, "--feature", "loud", given="abc\n").out == "ABC!\n"
    table = "abc\tloud\nabc\t\n"
    assert seqloom("predict", tiny_run, "--columns", "source=1,features=2", given=table).out == "ABC!\nABC\n"


def test_an_empty_line_keeps_its_place(seqloom: Seqloom, tiny_run: Path) -> None:
    assert seqloom("predict", tiny_run, given="abc\n\nfed\n").out == "ABC\n\nFED\n"


def test_no_input_gives_no_output(seqloom: Seqloom, tiny_run: Path) -> None:
    answer = seqloom("predict", tiny_run)
    assert (answer.code, answer.out) == (0, "")


def test_json_has_the_documented_keys(seqloom: Seqloom, tiny_run: Path) -> None:
    [body] = seqloom("predict", tiny_run, "--json", "--nbest", 3, given="abc\n").objects
    assert {"source", "text", "score", "log_prob", "tokens", "alternatives", "alignment"} <= set(body)
    assert body["source"] == "abc"
    assert body["tokens"] == ["A", "B", "C", "<end>"]
    assert len(body["alternatives"]) == 2
    weights = np.asarray(body["alignment"]["source"]["weights"])
    assert weights.shape == (4, 3)
    assert np.allclose(weights.sum(axis=1), 1, atol=1e-3)


def test_no_output_is_longer_than_the_maximum_length(seqloom: Seqloom, tiny_run: Path) -> None:
    command = ["predict", tiny_run, "--json", "--maximum-length", 2, "--beam"]
    for width in (1, 3):
        [body] = seqloom(*command, width, given="abc\n").objects
        assert body["text"] == "AB"
    assert seqloom("predict", tiny_run, "--maximum-length", 0, given="abc\n").code == 2


def test_nbest_prints_line_rank_score_and_text(seqloom: Seqloom, tiny_run: Path) -> None:
    rows = [line.split("\t") for line in seqloom("predict", tiny_run, "--nbest", 2, given="abc\nfed\n").out.splitlines()]
    assert [row[:2] for row in rows] == [["1", "1"], ["1", "2"], ["2", "1"], ["2", "2"]]
    assert rows[0][3] == "ABC"
    assert float(rows[0][2]) > float(rows[1][2])


def test_sampling_prints_all_that_it_drew(seqloom: Seqloom, tiny_run: Path) -> None:
    once = seqloom("predict", tiny_run, "--sample", 3, "--seed", 7, given="abc\n").out
    assert len(once.splitlines()) == 3
    assert seqloom("predict", tiny_run, "--sample", 3, "--seed", 7, given="abc\n").out == once


def test_a_run_twice_votes_like_the_run(seqloom: Seqloom, tiny_run: Path) -> None:
    assert seqloom("predict", tiny_run, tiny_run, given="abc\n").out == "ABC\n"


def test_prefix_and_forbidden_symbols_hold(seqloom: Seqloom, tiny_run: Path) -> None:
    assert seqloom("predict", tiny_run, "--prefix", "HA", given="abc\n").out.startswith("HA")
    assert "B" not in seqloom("predict", tiny_run, "--forbid", "B", given="abc\n").out


def test_a_bias_makes_a_symbol_likelier_and_log_probs_stay(seqloom: Seqloom, tiny_run: Path) -> None:
    assert "B" not in seqloom("predict", tiny_run, "--bias", "B=-100", given="abc\n").out
    assert set(seqloom("predict", tiny_run, "--bias", "B=100", given="abc\n").out.strip(" …\n")) == {"B"}
    greedily = ("predict", tiny_run, "abc", "--search", "greedy", "--json")
    [plain], [biased] = seqloom(*greedily).objects, seqloom(*greedily, "--bias", "A=0.01").objects
    assert plain["text"] == biased["text"]
    assert plain["log_prob"] == pytest.approx(biased["log_prob"], abs=1e-5)
    assert plain["score"] != pytest.approx(biased["score"], abs=1e-7)


def test_attention_is_saved_without_pickle(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    assert seqloom("predict", tiny_run, "--attention", "weights.npz", given="abc\nfed\n").code == 0
    with np.load(here / "weights.npz", allow_pickle=False) as saved:
        assert saved["0/source/weights"].shape == (1, 4, 3)
        assert list(saved["1/source/symbols"]) == list("fed")
        assert list(saved["1/tokens"]) == [*"FED", "<end>"]


def test_a_person_at_a_terminal_gets_each_answer_at_once(
    seqloom: Seqloom, tiny_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    from seqloom.prediction.predictor import Predictor

    whole = Predictor.predict

    def counted(self: Predictor, inputs: list[str], **wishes: object) -> object:
        asked.append(len(inputs))
        return whole(self, inputs, **wishes)  # type: ignore[arg-type]

    monkeypatch.setattr(Predictor, "predict", counted)
    monkeypatch.setattr(io, "TextIOWrapper", Terminal)
    assert seqloom("predict", tiny_run, given="abc\nfed\n").out == "ABC\nFED\n"
    assert asked == [1, 1]


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_precision_and_a_shortlist_are_chosen(seqloom: Seqloom, tiny_run: Path, precision: str) -> None:
    answer = seqloom("predict", tiny_run, "--precision", precision, "--shortlist", 100, given="abc\nfed\n")
    assert (answer.code, answer.out) == (0, "ABC\nFED\n")
    assert ("emulated" in answer.err) == (precision == "bf16" and not has_bf16_products())


def test_int8_is_for_exported_models(seqloom: Seqloom, tiny_run: Path) -> None:
    answer = seqloom("predict", tiny_run, "--precision", "int8", given="abc\n")
    assert (answer.code, answer.out) == (2, "")
    assert f"seqloom export {tiny_run} --out FOLDER --precision int8" in answer.err


def test_a_language_model_has_a_say_by_its_weight(seqloom: Seqloom, tiny_run: Path, tiny_language_run: Path) -> None:
    assert seqloom("predict", tiny_run, "--fuse", tiny_language_run, "--weight", 0, given="abc\n").out == "ABC\n"
    assert seqloom("predict", tiny_run, "--fuse", tiny_language_run, "--weight", 20, given="abc\n").out.startswith("HHHH")
    [plain] = seqloom("predict", tiny_run, "--json", given="abc\n").objects
    [fused] = seqloom("predict", tiny_run, "--fuse", tiny_language_run, "--json", given="abc\n").objects
    assert fused["fusion_weight"] == 0.3
    assert "fusion_weight" not in plain
    assert fused["score"] < plain["score"]


def test_a_language_model_of_target_lines_can_be_trained_and_fused(
    seqloom: Seqloom, tiny_run: Path, tiny_pairs: Path, here: Path
) -> None:
    targets = [line.split("\t")[1] for line in tiny_pairs.read_text().splitlines()]
    (here / "targets.txt").write_text("".join(f"{target}\n" for target in targets))
    quick = words({"training.steps": 2, "model.decoder.size": 16, "model.decoder.embedding": 16, "training.threads": 1})
    text = ["train", "--text", "targets.txt", "--vocabulary", tiny_run, *quick]
    assert seqloom(*text, "--lines", "--out", "lines").code == 0
    [fused] = seqloom("predict", tiny_run, "--fuse", "lines", "--weight", 0.1, "--json", given="abc\n").objects
    assert (fused["text"], fused["fusion_weight"]) == ("ABC", 0.1)
    assert seqloom(*text, "--out", "stream").code == 0
    refused = seqloom("predict", tiny_run, "--fuse", "stream", given="abc\n")
    assert (refused.code, "of running text" in refused.err) == (2, True)


def test_what_cannot_be_fused_says_what_to_train(seqloom: Seqloom, tiny_run: Path, tiny_language_run: Path) -> None:
    answer = seqloom("predict", tiny_run, "--fuse", tiny_run, given="abc\n")
    assert (answer.code, answer.out) == (2, "")
    assert f"--vocabulary {tiny_run}" in answer.err
    assert seqloom("predict", tiny_run, "--fuse", "nosuch", given="abc\n").code == 4
    swapped = seqloom("predict", tiny_language_run, "--fuse", tiny_run, given="abc\n")
    assert (swapped.code, "which has no source" in swapped.err) == (2, True)


MISTAKES = [
    (["nosuch.txt"], 3, "nosuch.txt: expected a file to read, a run folder or a text"),
    (["--nbest", 9], 2, "--beam 9"),
    (["--beam", 2, "--sample", 2], 2, "exclude each other"),
    (["--top-k", 3], 2, "--sample N"),
    (["--sample", 2, "--temperature", 0], 2, "--temperature"),
    (["--sample", 2, "--top-p", 2], 2, "--top-p"),
    (["--beam", 0], 2, "--beam"),
    (["--prefix", "9"], 2, "prefix '9'"),
    (["--weight", 0.3], 2, "name its run with --fuse LM_RUN"),
    (["--weight", -1], 2, "--weight"),
    (["--columns", "sauce=1"], 2, "'sauce=1'"),
    (["--columns", "source=0"], 2, "count from 1"),
]


@pytest.mark.parametrize(("options", "code", "part"), MISTAKES, ids=lambda value: str(value)[:24])
def test_a_mistake_is_one_clear_sentence(
    seqloom: Seqloom, tiny_run: Path, here: Path, options: list[object], code: int, part: str
) -> None:
    answer = seqloom("predict", tiny_run, *options, given="abc\n")
    assert answer.code == code
    assert part in answer.err
    assert answer.out == ""


def test_an_unknown_feature_or_symbol_names_itself(seqloom: Seqloom, tiny_run: Path) -> None:
    unknown = seqloom("predict", tiny_run, "--feature", "quiet", given="abc\n")
    assert unknown.code == 3
    assert "'quiet'" in unknown.err
    assert "loud" in unknown.err
    assert "'nosuch'" in seqloom("predict", tiny_run, "--forbid", "nosuch", given="abc\n").err
    assert "'nosuch'" in seqloom("predict", tiny_run, "--bias", "nosuch=1", given="abc\n").err
    for bias in ("B", "=1", "B=much"):
        assert "expected a symbol and a number" in seqloom("predict", tiny_run, "--bias", bias, given="abc\n").err


@pytest.mark.parametrize(
    ("speeds", "part"),
    [
        ("fast", "--speeds fast: expected numbers with commas between them"),
        ("0.9,1.1", "--speeds: expected different speeds, and 1 among them, such as 0.85, 1 and 1.15, got (0.9, 1.1)"),
        ("1,9", "--speeds: Input should be less than or equal to 2, got 9.0"),
        ("0.9,1", "this model reads none. Leave them out (--speeds 1)"),
    ],
)
def test_speeds_that_make_no_sense_are_refused(seqloom: Seqloom, tiny_run: Path, speeds: str, part: str) -> None:
    assert part in seqloom("predict", tiny_run, "--speeds", speeds, given="abc\n").err


def test_at_its_own_speed_everything_can_be_read(seqloom: Seqloom, tiny_run: Path) -> None:
    plain = seqloom("predict", tiny_run, given="abc\n")
    assert seqloom("predict", tiny_run, "--speeds", "1", given="abc\n").out == plain.out


def test_an_input_without_the_column_names_its_line(seqloom: Seqloom, tiny_run: Path) -> None:
    answer = seqloom("predict", tiny_run, "--columns", "source=3", given="a\tb\n")
    assert answer.code == 3
    assert "<stdin>:1: expected at least 3" in answer.err


def test_a_closed_pipe_and_a_full_disk_leave_no_traceback(tiny_run: Path) -> None:
    command = f"{sys.executable} -m seqloom predict {tiny_run} --beam 1"
    script = (
        f"yes abc | head -n 3000 | {command} | head -n 1; echo ${{PIPESTATUS[2]}}; echo abc | {command} > /dev/full; echo $?"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=OWN_PROCESS, check=True)
    assert done.stdout.split() == ["ABC", "0", "5"]
    assert "Traceback" not in done.stderr
    assert "No space left" in done.stderr


def test_json_lines_stay_whole_for_any_script(seqloom: Seqloom, tiny_run: Path) -> None:
    [line] = seqloom("predict", tiny_run, "--json", given="\u0930\u0935\u093f\u2028x\n").out.strip("\n").split("\n")
    assert json.loads(line)["source"] == "\u0930\u0935\u093f\u2028x"


def write_records(here: Path) -> None:
    (here / "w.csv").write_text('abc,ABC,loud\n\nfed,"FED,\nFED"\n')
    (here / "w.jsonl").write_text('{"source": "abc", "features": ["loud"]}\n\n{"source": "fed", "target": "FED"}\n')
    rows = {"source": ["abc", None, "fed"], "target": ["ABC", "", None], "kind": ["loud", None, ""]}
    pq.write_table(pa.table(rows), here / "w.parquet")


@pytest.mark.parametrize("name", ["w.csv", "w.jsonl", "w.parquet"])
def test_records_are_known_by_their_ending_and_keep_their_places(
    seqloom: Seqloom, tiny_run: Path, here: Path, name: str
) -> None:
    write_records(here)
    answer = seqloom("predict", tiny_run, name)
    assert (answer.code, answer.out) == (0, "ABC!\n\nFED\n")


def test_a_format_is_said_where_the_ending_does_not_tell(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    write_records(here)
    for kind in ("csv", "jsonl", "parquet"):
        (here / f"w.{kind}").rename(here / kind)
        assert seqloom("predict", tiny_run, kind, "--format", kind).out == "ABC!\n\nFED\n"
    for kind in ("csv", "jsonl"):
        assert seqloom("predict", tiny_run, "--format", kind, given=(here / kind).read_text()).out == "ABC!\n\nFED\n"
    assert seqloom("predict", tiny_run, "--format", "tsv", given="abc\t\tloud\nfed\n").out == "ABC!\nFED\n"
    named = ["--format", "csv", "--columns", "source=word,features=tag"]
    assert seqloom("predict", tiny_run, *named, given="tag,word\nloud,abc\n,fed\n").out == "ABC!\nFED\n"
    (here / "words.csv").write_text("abc\n")
    assert seqloom("predict", tiny_run, "words.csv", "--format", "text").out == "ABC\n"


@pytest.mark.parametrize(
    ("options", "given", "code", "part"),
    [
        (
            ["--format", "xml"],
            "",
            2,
            "--format: expected one of auto, tsv, csv, jsonl, parquet, text, cmudict, cmudict-unstressed, stories; got 'xml'",
        ),
        (["--format", "parquet"], "", 2, "Parquet cannot be read from standard input. Name the file"),
        (["--format", "text", "--columns", "source=1"], "abc\n", 2, "plain text has no columns"),
        (["--format", "jsonl"], '{"sauce": "abc"}\n', 3, "<stdin>:1: expected the key 'source', found 'sauce'"),
        (["--format", "jsonl"], '{"source": "abc"}\nabc\n', 3, "<stdin>:2: expected one JSON object on the line"),
        (["--format", "jsonl"], '{"source": 3}\n', 3, "<stdin>:1: expected a string for 'source', found a number"),
        (["--format", "csv", "--columns", "source=2"], "abc\n", 3, "<stdin>:1: expected at least 2 comma-separated columns"),
        (["--format", "csv", "--columns", "source=word"], "a,b\n", 3, "one column named 'word', found 'a', 'b'"),
        (["--format", "csv"], '"abc\n', 3, "<stdin>:1: expected a CSV record"),
    ],
)
def test_a_record_that_cannot_be_read_is_named(
    seqloom: Seqloom, tiny_run: Path, options: list[str], given: str, code: int, part: str
) -> None:
    answer = seqloom("predict", tiny_run, *options, given=given)
    assert (answer.code, answer.out) == (code, "")
    assert part in answer.err


def test_a_parquet_file_without_the_source_is_refused(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    write_records(here)
    answer = seqloom("predict", tiny_run, "w.parquet", "--columns", "source=word")
    assert answer.code == 3
    assert "w.parquet: expected a column 'word', found 'source', 'target', 'kind'" in answer.err


def test_an_output_with_line_breaks_stays_on_its_line(
    seqloom: Seqloom, tiny_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from seqloom.data.vocabulary import Vocabulary

    plain = Vocabulary.decode
    monkeypatch.setattr(Vocabulary, "decode", lambda self, *ids: plain(self, *ids).replace("B", "\n").replace("C", "\\"))
    assert seqloom("predict", tiny_run, given="abc\nfed\n").out == "A\\n\\\nFED\n"
    assert len(seqloom("predict", tiny_run, "--nbest", 2, given="abc\n").out.splitlines()) == 2
    assert seqloom("predict", tiny_run, "--json", given="abc\n").objects[0]["text"] == "A\n\\"


def test_an_interrupted_prediction_leaves_the_attention_file_as_it_was(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    (here / "weights.npz").write_text("precious")
    answer = seqloom("predict", tiny_run, "--attention", "weights.npz", "--columns", "source=2", given="abc\n")
    assert answer.code == 3
    assert [(path.name, path.read_text()) for path in here.iterdir()] == [("weights.npz", "precious")]


# --- told where to look ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("o.txt", "2-0 1-1 0-2\n\n[null, [0, 0, 1]]\n"),
        ("o.json", '["2-0 1-1 0-2", null, [null, [0, 0, 1]]]'),
    ],
)
def test_an_oracle_is_read_entry_by_entry(seqloom: Seqloom, tiny_run: Path, here: Path, name: str, text: str) -> None:
    (here / name).write_text(text)
    turned, free, half = seqloom("predict", tiny_run, "--oracle", name, "--json", given="abc\nabc\nfed\n").objects
    assert (turned["text"], free["text"]) == ("CBA", "ABC")
    assert turned["alignment"]["source"]["weights"][0] == [0, 0, 1]
    assert half["alignment"]["source"]["weights"][1] == [0, 0, 1]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("0-0\n", "the oracle has 1 entries, but there are more inputs"),
        ("0-0\n0-0\n0-0\n", "more entries than the 2 inputs"),
        ("0-0\n3-0\n", "o.txt:2: the pair 3-0 names source position 3"),
        ("0-0\n[[0.5, 0.5]]\n", "o.txt:2, step 0 (from 0): expected 3 weights"),
        ("[[1, 0, 0], [1, 1, 0]]\n0-0\n", "o.txt:1, step 1 (from 0): expected weights that sum to 1, found a sum of 2"),
        ("here\n0-0\n", "o.txt:1: expected an alignment of pairs source-target"),
    ],
)
def test_an_oracle_that_does_not_fit_is_named(seqloom: Seqloom, tiny_run: Path, here: Path, text: str, part: str) -> None:
    (here / "o.txt").write_text(text)
    answer = seqloom("predict", tiny_run, "--oracle", "o.txt", given="abc\nfed\n")
    assert answer.code == 3
    assert part in answer.err


def test_explain_draws_what_it_was_told(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    [turned] = seqloom("explain", tiny_run, "abc", "--oracle", "2-0 1-1 0-2", "--out", "m.json", "--json").objects
    assert turned["text"] == "CBA"
    (here / "o.txt").write_text("0-0\n")
    [words] = seqloom(
        "explain", tiny_run, "abc", "--oracle", "o.txt", "--oracle-unit", "words", "--out", "m.json", "--json"
    ).objects
    assert np.allclose(words["alignment"]["source"]["weights"][0], 1 / 3, atol=1e-4)
    assert seqloom("explain", tiny_run, "abc", "--oracle", "nosuch.txt").code == 3
