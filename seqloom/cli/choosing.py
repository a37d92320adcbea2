"""What is to be trained: a recipe, data without one, or a recipe on one's own data; from the command line or from Python."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from seqloom.cli.options import parse_files, parse_format, recognised
from seqloom.errors import UsageError
from seqloom.system.files import Found, found_at

if TYPE_CHECKING:
    from seqloom.recipe import Recipe
    from seqloom.recipe.sections import Files


@dataclass(frozen=True)
class Asked:
    """What a person asks to be trained, as the options of `seqloom train` say it."""

    recipe: str | None = None
    pairs: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    lines: bool = False
    vocabulary: Path | None = None
    validation: str | None = None
    test: str | None = None
    columns: str | None = None
    format: str | None = None
    images: str | None = None
    settings: tuple[str, ...] = ()
    start: Path | None = None
    """A run to start from, whose recipe counts where none is named."""
    begun: Path | None = None
    """Where the training goes: a run that was begun there knows its recipe, also if the one it started from is gone."""

    @property
    def files(self) -> "Files | None":
        """The files of pairs, if there are any."""
        from seqloom.recipe.sections import Aligned

        if self.pairs and (self.source or self.target):
            raise UsageError("--pairs goes without --source and --target: give one file with both sides, or two aligned files")
        if bool(self.source) != bool(self.target):
            raise UsageError("--source and --target go together: line i of one belongs to line i of the other")
        return Aligned(source=self.source, target=self.target) if self.source else self.pairs or None


def choose_recipe(asked: Asked) -> "Recipe":
    """The recipe to train."""
    files = asked.files
    if files is not None and asked.text:
        raise UsageError("train: --text is for language models and --pairs for models that read a source. Give one of them")
    if not (asked.recipe or files or asked.text):
        raise UsageError(
            "train: give a recipe, data (--pairs, --source and --target, or --text), or both. See: seqloom train --help"
        )
    _require_own_options(asked)
    if asked.text:
        return _for_text(asked)
    if files is not None:
        return _for_pairs(asked, files)
    return _of_recipe(asked.recipe or "", asked)


def _base(asked: Asked) -> "Recipe | None":
    """The recipe that data is given for: the named one, or that of the run to start from; None if there is neither."""
    from seqloom.cli.recipes import find_recipe
    from seqloom.recipe import read_recipe

    if asked.recipe is not None:
        return read_recipe(find_recipe(asked.recipe), asked.settings)
    return None if asked.start is None else _recipe_of_start(asked.start, asked)


def _recipe_of_start(start: Path, asked: Asked) -> "Recipe":
    from seqloom.runs import RunFolder

    there = asked.begun is not None and found_at(asked.begun / "run.json") is Found.FILE
    begun = RunFolder.open(asked.begun) if asked.begun is not None and there else None
    if begun is not None and begun.facts.get("start", {}).get("run") == str(start.resolve()):
        return begun.recipe
    other = RunFolder.open(start).recipe
    if other.is_language_model != bool(asked.text):
        kind, option = ("is a language model", "--text") if other.is_language_model else ("reads a source", "--pairs")
        raise UsageError(f"{start}: its model {kind}, so the data to go on with has to be given as {option}")
    return other


def _require_own_options(asked: Asked) -> None:
    """Refuse options that have nothing to act on."""
    if asked.start is not None and asked.recipe is None and (asked.lines or asked.vocabulary is not None):
        raise UsageError("train: --lines and --vocabulary are said by the run that --from names. Leave them out")
    if not asked.text and (asked.lines or asked.vocabulary is not None):
        raise UsageError("train: --lines and --vocabulary go with --text; a recipe says it in `data`")
    if asked.text and asked.columns is not None:
        raise UsageError("train: --columns goes with --pairs; plain text has no columns")
    if asked.format is not None and (asked.text or asked.files is None):
        raise UsageError("train: --format goes with --pairs; text is read as it is, and a recipe says it as data.format")
    if asked.files is not None or asked.text:
        return
    if asked.images is not None:
        raise UsageError("train: --images goes with --pairs; a recipe says it as `root` of a source in data.sources")
    if asked.validation or asked.test:
        raise UsageError("train: --validation and --test go with data; a recipe names its own files in `data`")
    if asked.columns is not None:
        raise UsageError("--columns goes with --pairs; a recipe says it in data.columns (or: --set data.columns.source=2)")


def _of_recipe(name: str, asked: Asked) -> "Recipe":
    from seqloom.cli.recipes import find_recipe
    from seqloom.recipe import read_recipe
    from seqloom.recipe.shipped import shipped

    _require_no_data(name)
    recipe = read_recipe(find_recipe(name), asked.settings)
    train = recipe.data.train
    if name in shipped() and isinstance(train, str) and not Path(train).exists():
        option = "--text" if recipe.is_language_model else "--pairs"
        raise UsageError(
            f"the recipe {name} needs your data, and here is no {train}. Name your files, as in: "
            f"seqloom train {name} {option} FILE --out RUN (or copy the recipe and name them: seqloom recipes copy {name})"
        )
    return recipe


def _require_no_data(name: str) -> None:
    """Whoever names a table in the place of a recipe means its pairs."""
    from seqloom.data.reading.endings import ending_format

    if ending_format(name) is None or name.endswith(".json"):
        return
    text = f", or --text {name} for a language model" if name.removesuffix(".gz").endswith(".txt") else ""
    raise UsageError(f"{name}: looks like data, not like a recipe. Say so: seqloom train --pairs {name} --out RUN{text}")


def _for_text(asked: Asked) -> "Recipe":
    from seqloom.cli.own_data import with_text
    from seqloom.runs import RunFolder
    from seqloom.suggest.defaults import recipe_for_text

    vocabulary = asked.vocabulary
    if vocabulary is not None:
        RunFolder.open(vocabulary)  # refuses what is not a run
    file = str((vocabulary / "tokenizers" / "target.json").resolve()) if vocabulary is not None else None
    base = _base(asked)
    if base is not None:
        return with_text(
            base,
            asked.text,
            validation=asked.validation,
            test=asked.test,
            lines=asked.lines,
            vocabulary=file,
            settings=asked.settings,
        )
    return recipe_for_text(
        asked.text,
        validation=asked.validation,
        test=asked.test,
        lines=asked.lines,
        vocabulary=file,
        overrides=asked.settings,
    )


def _for_pairs(asked: Asked, files: "Files") -> "Recipe":
    from seqloom.cli.own_data import with_pairs
    from seqloom.suggest.defaults import recipe_for
    from seqloom.suggest.file_defaults import recipe_for_files

    base = _base(asked)
    if base is not None:
        return with_pairs(
            base,
            files,
            validation=asked.validation,
            test=asked.test,
            columns=asked.columns,
            images=asked.images,
            format=parse_format(asked.format),
            settings=asked.settings,
        )
    validation = parse_files(asked.validation) if asked.validation else None
    test = parse_files(asked.test) if asked.test else None
    table = recognised(files, asked.columns, asked.images, parse_format(asked.format))
    if table.names_files:
        return recipe_for_files(files, table, validation=validation, test=test, overrides=asked.settings)
    return recipe_for(files, table, validation=validation, test=test, overrides=asked.settings)
