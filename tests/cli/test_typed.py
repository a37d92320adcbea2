"""What people type, and that it works as it stands."""

from pathlib import Path

import pytest

from cli.conftest import QUICK, Seqloom
from seqloom.cli.choosing import Asked, choose_recipe
from seqloom.installation import activation, install_command
from seqloom.recipe.shipped import shipped_recipe

LONG = "this sentence was pasted from a letter " * 20


# --- texts where files are expected ---------------------------------------------------------------------------------


def test_predict_takes_texts_as_they_are(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    typed = seqloom("predict", tiny_run, "abc", "fed")
    piped = seqloom("predict", tiny_run, given="abc\nfed\n")
    assert (typed.code, typed.out) == (0, piped.out)
    assert "no file is called abc: it is read as a text" in typed.err


def test_a_text_with_spaces_needs_no_remark(seqloom: Seqloom, tiny_run: Path) -> None:
    assert "no file is called" not in seqloom("predict", tiny_run, "abc fed").err


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_a_long_pasted_sentence_is_a_text(seqloom: Seqloom, tiny_run: Path, here: Path, command: str) -> None:
    assert seqloom(command, tiny_run, "abc " * 100).code == 0


@pytest.mark.parametrize("name", ["words.tsv", "photo.jpg", "data/words"])
def test_what_looks_like_a_file_is_one_that_is_missing(seqloom: Seqloom, tiny_run: Path, here: Path, name: str) -> None:
    answer = seqloom("predict", tiny_run, name)
    assert answer.code == 3
    assert answer.err.startswith(
        f"seqloom: {name}: expected a file to read, a run folder or a text, found nothing of that name"
    )


@pytest.mark.parametrize(
    "command",
    [
        ["train", LONG, "--out", "run"],
        ["train", "--pairs", LONG, "--out", "run"],
        ["check", LONG],
        ["evaluate", LONG],
        ["report", LONG],
        ["score", LONG],
        ["sample", LONG],
        ["recipes", "check", LONG],
        ["plane", LONG, "texts.txt"],
        ["compare", LONG, LONG],
    ],
    ids=lambda command: command[0],
)
def test_a_name_that_no_file_can_have_is_refused_in_a_sentence(seqloom: Seqloom, here: Path, command: list[str]) -> None:
    answer = seqloom(*command)
    assert answer.code in (2, 3, 4)
    assert "this sentence was pasted" in answer.err


def test_explain_asks_for_a_text(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    answer = seqloom("explain", tiny_run)
    assert answer.code == 2
    assert "say what to look at, behind the run" in answer.err
    assert seqloom("explain", "nothing-there").code == 4


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_text_has_nothing_to_look_at(seqloom: Seqloom, tiny_run: Path, here: Path, text: str) -> None:
    answer = seqloom("explain", tiny_run, text)
    assert answer.code == 2
    assert "the text is empty, so there is nothing to look at" in answer.err


def test_a_picture_given_to_a_model_of_texts_is_called_a_picture(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    Path("photo.jpg").write_bytes(b"\xff\xd8\xff\xe0\x00\x10JFIF")
    answer = seqloom("predict", tiny_run, "photo.jpg")
    assert answer.code == 3
    assert "The file is a picture (JPEG), and here text is read" in answer.err
    assert "iconv" not in answer.err


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [("a.tsv", "un,one", "It looks like commas"), ("a.csv", "un\tone", "looks like tabs"), ("a.tsv", "un;one", "semicolons")],
)
def test_another_separator_is_named(seqloom: Seqloom, here: Path, name: str, line: str, said: str) -> None:
    Path(name).write_text(f"{line}\n" * 30, encoding="utf-8")
    assert said in seqloom("train", "transliteration", "--pairs", name, "--out", "run").err


# --- outputs that were cut off --------------------------------------------------------------------------------------


def test_outputs_that_were_cut_off_are_marked(seqloom: Seqloom, tiny_run: Path) -> None:
    cut = seqloom("predict", tiny_run, "abc", "--maximum-length", 2)
    assert cut.out.endswith(" …\n")
    assert not seqloom("predict", tiny_run, "abc", "--maximum-length", 2, "--json").objects[0]["finished"]
    several = seqloom("predict", tiny_run, "abc", "--maximum-length", 2, "--beam", 3, "--nbest", 3).out.splitlines()
    assert [line.endswith(" …") for line in several].count(True) >= 1


def test_samples_that_were_cut_off_are_marked(seqloom: Seqloom, lines: Path, running: Path) -> None:
    assert len(seqloom("sample", lines, "--length", 1, "--prompt", "th", "--top-k", 1).out) == len("the …\n")
    assert all(line.endswith(" …") for line in seqloom("sample", lines, "--length", 1, "--count", 2).out.splitlines())
    assert "…" not in seqloom("sample", running, "--length", 5).out


def test_beam_completions_end(seqloom: Seqloom, lines: Path) -> None:
    objects = seqloom("sample", lines, "--prompt", "the ", "--beam", 4, "--length", 12, "--json").objects
    assert len(objects) == 4
    assert all(one["finished"] for one in objects)


# --- search options -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--minimum-length", 9, "--maximum-length", 4], "--minimum-length 9 and --maximum-length 4: no output could ever end"),
        (["--minimum-length", 4, "--maximum-length", 4], "a --maximum-length of 5 or more"),
        (["--search", "greedy", "--beam", 3], "--search greedy goes without --beam"),
        (["--search", "exhaustive", "--sample", 3], "--search exhaustive goes without --sample"),
        (["--search", "beam", "--seed", 3], "--search beam goes without --seed"),
        (["--search", "exhaustive"], "an exhaustive search may look at 1,000,000 sequences"),
    ],
)
def test_contradictory_search_options_are_refused(seqloom: Seqloom, tiny_run: Path, options: list[object], said: str) -> None:
    answer = seqloom("predict", tiny_run, "abc", *options)
    assert answer.code == 2
    assert said in answer.err


def test_every_possible_output_can_be_searched(seqloom: Seqloom, tiny_run: Path) -> None:
    answer = seqloom("predict", tiny_run, "abc", "--search", "exhaustive", "--maximum-length", 2, "--nbest", 12)
    assert answer.code == 0
    assert len(answer.out.splitlines()) >= 9


def test_searches_are_chosen_by_name(seqloom: Seqloom, tiny_run: Path) -> None:
    greedy = seqloom("predict", tiny_run, "abc", "--search", "greedy", "--json").objects[0]
    assert greedy["score"] == greedy["log_prob"]
    assert len(seqloom("predict", tiny_run, "abc", "--search", "sample", "--nbest", 3).out.splitlines()) == 3
    wide = seqloom("predict", tiny_run, "abc", "--search", "beam", "--json").objects[0]
    assert wide == seqloom("predict", tiny_run, "abc", "--json").objects[0]


def test_unknown_is_forbidden_by_the_name_that_outputs_have_for_it(seqloom: Seqloom, tiny_run: Path) -> None:
    assert seqloom("predict", tiny_run, "abc", "--forbid", "<unknown>").code == 0


def test_unknown_is_never_written_where_training_had_none(seqloom: Seqloom, tiny_run: Path) -> None:
    answer = seqloom("predict", tiny_run, "xyz", "--sample", 300, "--temperature", 50, "--maximum-length", 4)
    assert len(answer.out.splitlines()) == 300
    assert "<unknown>" not in answer.out


# --- scores ---------------------------------------------------------------------------------------------------------


def test_an_empty_target_is_scored(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    Path("pairs.tsv").write_text("abc\t\t\nabc\tABC\t\n", encoding="utf-8")
    first, second, last = seqloom("score", tiny_run, "pairs.tsv", "--json").objects
    assert first["symbols"] == ["<end>"]
    assert first["log_prob"] < second["log_prob"]
    assert (first["line"], second["line"]) == (1, 2)
    assert last["summary"]["unknown"] == 0


def test_symbols_outside_the_vocabulary_are_told_of(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    Path("pairs.tsv").write_text("abc\tABC\t\nabc\tAΩC\t\n", encoding="utf-8")
    _, second, last = seqloom("score", tiny_run, "pairs.tsv", "--json").objects
    assert (second["unknown"], last["summary"]["unknown"]) == ([1], 1)
    assert "1 symbol of the targets at pairs.tsv:2 did not occur in training" in seqloom("score", tiny_run, "pairs.tsv").err


# --- recipes and data -----------------------------------------------------------------------------------------------


def test_a_table_in_the_place_of_a_recipe_is_pairs(seqloom: Seqloom, tiny_pairs: Path, here: Path) -> None:
    answer = seqloom("train", tiny_pairs, "--out", "run")
    assert answer.code == 2
    assert f"Say so: seqloom train --pairs {tiny_pairs} --out RUN" in answer.err


def test_a_packaged_recipe_without_its_files_says_how_to_give_them(seqloom: Seqloom, here: Path) -> None:
    answer = seqloom("train", "transliteration", "--out", "run")
    assert answer.code == 2
    assert "seqloom train transliteration --pairs FILE --out RUN" in answer.err
    assert "seqloom train text --text FILE --out RUN" in seqloom("train", "text", "--out", "run").err


def test_a_packaged_recipe_takes_pairs(seqloom: Seqloom, tiny_pairs: Path, here: Path) -> None:
    chosen = choose_recipe(Asked(recipe="transliteration", pairs=(str(tiny_pairs),), settings=("training.epochs=2",)))
    assert chosen.data.train == str(tiny_pairs)
    assert (chosen.data.validation, chosen.data.test) == (None, None)
    assert chosen.data.split.validation == chosen.data.split.test == 0.1
    assert chosen.model == shipped_recipe("transliteration").model
    assert chosen.training.epochs == 2
    settings = ["--columns", "source=1,target=2,features=3", *QUICK]
    assert seqloom("train", "transliteration", "--pairs", tiny_pairs, *settings, "--out", "run").code == 0
    assert seqloom("train", "transliteration", "--pairs", tiny_pairs, *settings, "--out", "run").code == 0


def test_a_packaged_recipe_takes_text(here: Path) -> None:
    Path("book.txt").write_text("it was a dark night\n" * 50, encoding="utf-8")
    chosen = choose_recipe(Asked(recipe="text", text=("book.txt",), lines=True))
    assert (chosen.data.train, chosen.data.text) == ("book.txt", "lines")
    assert chosen.is_language_model


def test_a_recipe_of_another_kind_is_refused(seqloom: Seqloom, tiny_pairs: Path, here: Path) -> None:
    assert "reads plain text. Give it with --text" in seqloom("train", "text", "--pairs", tiny_pairs, "--out", "run").err
    assert "Give pairs with --pairs" in seqloom("train", "dates", "--text", tiny_pairs, "--out", "run").err
    answer = seqloom("train", "captions", "--pairs", tiny_pairs, "--columns", "source=1,target=2", "--out", "run")
    assert answer.code == 2
    assert "--columns image=1,target=2" in answer.err


# --- remedies -------------------------------------------------------------------------------------------------------


def test_extras_are_installed_from_the_clone_that_this_is(monkeypatch: pytest.MonkeyPatch) -> None:
    clone = Path(__file__).resolve().parents[2]
    monkeypatch.chdir(clone.parent)
    assert install_command("images").endswith(f"install --editable '{clone.name}[images]'")
    monkeypatch.chdir(clone)
    assert install_command("images").endswith("install --editable '.[images]'")


def test_where_the_shell_finds_no_seqloom_its_environment_is_activated_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "activate").write_text("")
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    monkeypatch.chdir(tmp_path.parent)
    assert activation() == f". {tmp_path.name}/bin/activate"
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert activation() is None
