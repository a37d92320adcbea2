"""A conversation through standard input, and from Python."""

from pathlib import Path

import pytest

import seqloom as toolkit
from cli.conftest import Seqloom
from seqloom.errors import UsageError


def test_every_line_is_replied_to_and_commands_are_obeyed(seqloom: Seqloom, tiny_run: Path) -> None:
    answer = seqloom("chat", tiny_run, "--turns", "1", given="abc\n\n:why\n:new\n:what\nfed\n:quit\nnot read\n")
    assert answer.code == 0
    first, read, *rest = answer.out.splitlines()
    assert (first, read.strip()) == (toolkit.load(tiny_run).predict("abc")[0].text, "read: abc")
    assert rest[-1] == toolkit.load(tiny_run).predict("fed")[0].text
    assert any("%" in line for line in rest)
    assert "there is no :what" in answer.err


def test_earlier_turns_precede_what_is_said(seqloom: Seqloom, tiny_run: Path) -> None:
    answer = seqloom("chat", tiny_run, "--turns", "1", "--json", given=":why\nabc\nfed\n:why\n")
    first, second, why = answer.objects
    assert "nothing has been replied yet" in answer.err
    assert (first["turns"], first["source"]) == ([], "abc")
    assert second["source"] == f"{first['text']} \u2016 fed"
    assert why["why"]["source"] == second["source"]
    assert sum(one["weight"] for one in why["why"]["looks"][0]["looked_at"]) <= 1.001


def test_a_conversation_from_python_remembers_as_much_as_training_did(tiny_run: Path) -> None:
    talk = toolkit.chat(tiny_run)
    assert talk.remembered == 0
    assert talk.say("abc").sources == {"source": "abc"}
    assert talk.say("fed").sources == {"source": "fed"}
    assert len(talk.turns) == 4
    with pytest.raises(UsageError, match="expected something to reply to"):
        talk.say(" ")
    talk.forget()
    assert not talk.turns


def test_what_precedes_a_text_may_be_typed_beside_it(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    typed = '{"source": "abc", "preceding": ["x", "y"]}'
    [found] = seqloom("predict", tiny_run, typed, "--json").objects
    [drawn] = seqloom("explain", tiny_run, typed, "--out", "map.json", "--json").objects
    assert found["source"] == drawn["source"] == "x \u2016 y \u2016 abc"
