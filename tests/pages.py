"""Pages of the documentation as something to play: the commands and files that they show."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cli.conftest import Answer, Seqloom

TOP = Path(__file__).parents[1]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """`echo GIVEN | seqloom WORDS`, as a page shows it."""

    words: tuple[str, ...]
    given: str = ""

    def then(self, *further: str) -> "Command":
        """The same with more words at its end."""
        return Command((*self.words, *further), self.given)

    def has(self, *words: str) -> bool:
        """Whether these words stand in it, in this order and next to each other."""
        return any(self.words[start : start + len(words)] == words for start in range(len(self.words)))


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return [text for found, text in _BLOCK.findall(page.read_text(encoding="utf-8")) if found == language]


def commands(page: Path) -> list[Command]:
    """All commands of the page that call seqloom, in order."""
    lines = "".join(blocks(page, "console")).replace("\\\n", " ").splitlines()
    typed = [shlex.split(line.removeprefix("$ "), comments=True) for line in lines if line.startswith("$ ")]
    return [_command(words) for words in typed if "seqloom" in words]


def _command(words: Sequence[str]) -> Command:
    place = words.index("seqloom")
    given = words[1 : place - 1] if words[0] == "echo" else ()
    return Command(tuple(words[place + 1 :]), f"{' '.join(given)}\n" if given else "")


def write_files(page: Path, language: str, folder: Path) -> None:
    """Write the blocks that name a file in their first line, `# NAME`."""
    for text in blocks(page, language):
        name = re.match(r"# (\S+\.\w+)$", text.splitlines()[0])
        if name:
            (folder / name[1]).write_text(text, encoding="utf-8")


def play(typed: Sequence[Command], seqloom: Seqloom, settings: Mapping[str, object]) -> list[Answer]:
    """Run commands; every training gets the settings that make it short. None may fail."""
    short = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    answers = []
    for command in typed:
        whole = command.then(*short) if command.words[0] == "train" else command
        answer = seqloom(*whole.words, given=whole.given)
        assert answer.code == 0, f"seqloom {' '.join(whole.words)}: {answer.err}{answer.out}"
        answers.append(answer)
    return answers


Write = Callable[[Path], None]
"""Writes the files that the commands of a page name."""
