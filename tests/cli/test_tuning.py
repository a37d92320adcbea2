"""Several seeds, a start from another run, and the mean of kept weights, on the command line."""

from itertools import product
from pathlib import Path

from .conftest import QUICK, Seqloom, words

KEEPS = words({"training.keep.last": 2, "training.validation.every_steps": 1, "training.validation.examples": 4})


def test_seeds_are_trained_voted_with_and_compared(seqloom: Seqloom, tiny_pairs: Path, here: Path) -> None:
    trained = seqloom("train", "--pairs", tiny_pairs, *QUICK, *KEEPS, "--seeds", 2, "--out", "two", "--json")
    assert trained.code == 0
    [outcome] = trained.objects
    assert [member["run"] for member in outcome["members"]] == ["two/1", "two/2"]
    assert "model 2 of 2, seed 2: two/2" in trained.err
    [said] = seqloom("predict", "two", "--json", given="abc\n").objects
    assert said["source"] == "abc"
    assert [row["run"] for row in seqloom("compare", "two", "--json").objects[0]["runs"]] == ["two/1", "two/2"]
    assert seqloom("explain", "two", "abc", "--out", "map.html").code == 0
    assert seqloom("score", "two", tiny_pairs).code == 0
    for command in (["report", "two"], ["average", "two"], ["train", "--pairs", tiny_pairs, "--from", "two", "--out", "new"]):
        refused = seqloom(*command)
        assert refused.code == 4
        assert "two: holds several runs of different seeds, and one is wanted here. Name it, such as two/1" in refused.err
    [mean] = seqloom("average", "two/1", "--last", 2, "--out", "mean", "--json").objects
    assert (mean["run"], mean["of"], mean["steps"], mean["metric"]) == ("mean", "two/1", [1, 2], "cer")
    assert {"average", "best", "best_step", "better"} <= mean.keys()
    assert "cer" in seqloom("average", "two/2").out
    assert Path("two/2-average/weights.safetensors").exists()


def test_pairs_and_another_run_are_enough_to_go_on_with(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    new = ["".join(letters) for letters in product("abxyz", repeat=3)]
    Path("new.tsv").write_text("".join(f"{word}\t{word.upper()}\tloud\n" for word in new))
    command = ["train", "--pairs", "new.tsv", "--from", tiny_run, "--set", "training.steps=1", "--out", "tuned"]
    tuned = seqloom(*command)
    assert tuned.code == 0, tuned.err
    assert f"starts from {tiny_run}: " in tuned.err
    assert "drawn fresh: 3 new source symbols; 3 new target symbols" in tuned.err
    assert "this run is finished" in seqloom(*command).err


def test_what_does_not_go_with_another_run_is_refused(
    seqloom: Seqloom, tiny_run: Path, tiny_pairs: Path, lines: Path, here: Path
) -> None:
    Path("book.txt").write_text("abc\n" * 50)
    for given, code, said in [
        (
            ["--pairs", tiny_pairs, "--from", lines],
            2,
            "is a language model, so the data to go on with has to be given as --text",
        ),
        (["--text", "book.txt", "--from", tiny_run], 2, "reads a source, so the data to go on with has to be given as --pairs"),
        (["--text", "book.txt", "--lines", "--from", lines], 2, "--lines and --vocabulary are said by the run"),
        (["--pairs", tiny_pairs, "--from", "nothing"], 4, "expected a run folder, found nothing"),
        (["--pairs", tiny_pairs, "--from", tiny_run, "--set", "training.rates.encodr=0"], 2, "Did you mean 'encoder'?"),
    ]:
        refused = seqloom("train", *given, "--out", "new")
        assert (refused.code, said in refused.err) == (code, True), refused.err
        assert not Path("new").exists()
    assert seqloom("average", tiny_run).code == 4
    assert seqloom("average", tiny_run, "--last", 2, "--best", 2).code == 2


def test_an_old_name_is_advised_against_in_a_sentence(seqloom: Seqloom, here: Path) -> None:
    Path("r.yaml").write_text("data: {builtin: dates}\ntraining: {average: tokens}\n")
    checked = seqloom("recipes", "check", "r.yaml")
    assert checked.code == 0
    assert "seqloom: r.yaml: training.average is called training.loss_per now" in checked.err
