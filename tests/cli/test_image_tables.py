"""Tables of images without a recipe: what the commands make of them, what they show of them, and what they refuse."""

import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cli.conftest import Seqloom, words
from seqloom.data.media.images import ImagePixels
from seqloom.data.reading.tables import ONE_TEXT
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import read_recipe
from seqloom.recipe.sections import (
    Columns,
    ConvolutionalEncoder,
    EfficientNetLite0Encoder,
    ImageSource,
    Symbols,
    TextSource,
    Whole,
    Words,
)
from seqloom.runs import RunFolder
from seqloom.suggest.file_defaults import recipe_for_files
from seqloom.suggest.recognition import Recognised, recognise

COLOURS = {"red": (220, 30, 30), "green": (30, 180, 30), "blue": (40, 40, 220)}
COUNT = 30
SMALL = {"training.threads": 1, "model.decoder.size": 16, "model.decoder.embedding": 8, "model.bridge.attention.size": 8}
QUICK = words({**SMALL, "model.encoder.size": 8, "model.encoder.channels": "[4, 4]", "training.steps": 2})


def save_pictures(folder: Path, side: int = 16) -> list[str]:
    """Pictures of one colour each, which are returned in their order."""
    folder.mkdir(exist_ok=True)
    random = np.random.default_rng(1)
    names = [str(random.choice(list(COLOURS))) for _ in range(COUNT)]
    for number, name in enumerate(names):
        pixels = np.clip(np.asarray(COLOURS[name]) + random.integers(-30, 30, (side, side, 3)), 0, 255)
        Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{number}.png")
    return names


@pytest.fixture(scope="module")
def captions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of pictures with two captions each."""
    folder = tmp_path_factory.mktemp("captions")
    lines = [
        f"pictures/{number}.png\t{text}\n"
        for number, colour in enumerate(save_pictures(folder / "pictures"))
        for text in (f"a {colour} square on its own", f"nothing but {colour} from edge to edge number {number}")
    ]
    (folder / "captions.tsv").write_text("".join(lines))
    return folder / "captions.tsv"


@pytest.fixture
def run(captions: Path, seqloom: Seqloom) -> Path:
    """A run that was made from the table alone."""
    path = captions.parent / "run"
    if not path.exists():
        assert seqloom("train", "--pairs", captions, "--out", path, *QUICK).code == 0
    return path


# --- settings -------------------------------------------------------------------------------------------------------


def test_captions_are_recognised(run: Path) -> None:
    recipe = read_recipe(run / "recipe.yaml")
    image = recipe.data.sources["image"]
    assert isinstance(image, ImageSource)
    assert image.size == 16  # as they are
    assert isinstance(recipe.model.encoder, ConvolutionalEncoder)
    assert recipe.data.vocabularies.target == Words(lowercase=True)
    assert recipe.training.validation.metric == "cider"


def test_photographs_are_seen_by_the_pretrained_network(tmp_path: Path) -> None:
    save_pictures(tmp_path / "pictures", side=80)
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as archive:
        for file in (tmp_path / "pictures").iterdir():
            archive.write(file, file.name)
    table = tmp_path / "table.csv"
    table.write_text(
        "picture,index,caption\n" + "".join(f'{number}.png,0,"a caption, number {number}"\n' for number in range(9))
    )
    recipe = recipe_for_files(str(table), recognise(str(table), {}, root=str(tmp_path / "photos.zip")))
    assert isinstance(recipe.model.encoder, EfficientNetLite0Encoder)
    assert (recipe.data.sources["image"].column, recipe.data.columns.target) == ("picture", "caption")


@pytest.mark.parametrize("header", [True, False])
def test_questions_and_answers_are_recognised(captions: Path, seqloom: Seqloom, tmp_path: Path, header: bool) -> None:
    colours = save_pictures(captions.parent / "pictures")
    rows = [f"pictures/{number}.png\twhat colour is the square ?\t{colour}\n" for number, colour in enumerate(colours)]
    table = captions.parent / "questions.tsv"
    table.write_text("image\tquestion\tanswer\n" * header + "".join(rows))
    said = [] if header else ["--columns", "image=1,question=2,target=3"]
    encoders = {"model.encoders.image.size": 8, "model.encoders.image.channels": "[4, 4]", "model.encoders.question.size": 8}
    answer = seqloom(
        "train", "--pairs", table, *said, "--out", tmp_path / "run", *words({**SMALL, **encoders, "training.steps": 1})
    )
    assert (answer.code, answer.err.count("warning")) == (0, 0)
    recipe = read_recipe(tmp_path / "run" / "recipe.yaml")
    assert [type(source) for source in recipe.data.sources.values()] == [ImageSource, TextSource]
    assert isinstance(recipe.data.vocabularies.target, Whole)
    assert recipe.training.validation.metric == "exact_match"
    asked = f'{{"image": "{captions.parent}/pictures/0.png", "question": "what colour is it ?"}}'
    assert seqloom("explain", tmp_path / "run", asked, "--out", tmp_path / "map.html").code == 0
    assert "data:image/png" in (tmp_path / "map.html").read_text()


@pytest.mark.parametrize(
    ("content", "said", "wanted"),
    [
        (
            "0.png\twhat is it ?\ta dog\n",
            [],
            "which of its 3 columns is the source, and which the target? They hold\n  1: image files: '0.png'\n",
        ),
        ("0.png\twhat is it ?\ta dog\n", [], "for example:\n  --columns image=1,text_2=2,target=3\n"),
        ("0.png\ta dog\n", [], "image holds names of image files such as '0.png', and none of them is in the folder"),
        (
            "a\tb\n",
            ["--images", "photos.zip"],
            "--images says where image files are, and no column that is read from table.tsv names any",
        ),
        (
            "0.png\ta dog\n",
            ["--images", "none.zip"],
            "none.zip: expected a folder of files, a .zip or a .tar, found nothing there",
        ),
    ],
)
@pytest.mark.parametrize("command", [["check", "table.tsv"], ["train", "--pairs", "table.tsv", "--out", "run"]])
def test_what_cannot_be_told_is_asked(
    seqloom: Seqloom, here: Path, command: list[str], content: str, said: list[str], wanted: str
) -> None:
    (here / "table.tsv").write_text(content)
    answer = seqloom(*command, *said)
    assert answer.code in (2, 3)
    assert wanted in answer.err
    assert not (here / "run").exists()


def test_punctuation_between_spaces_makes_symbols(captions: Path) -> None:
    table = captions.parent / "tokenised.tsv"
    table.write_text("".join(f"{line} .\n" for line in captions.read_text().splitlines()))
    recipe = recipe_for_files(str(table), recognise(str(table), {}))
    assert recipe.data.vocabularies.target == Symbols(lowercase=True)


def test_the_longest_caption_says_how_long_captions_may_be(captions: Path) -> None:
    table = captions.parent / "long.tsv"
    name, _ = captions.read_text().split("\t", 1)
    table.write_text(f"{captions.read_text()}{name}\t{'a very ' * 9}red square .\n")
    search = recipe_for_files(str(table), recognise(str(table), {})).search
    assert (search.length_factor, search.length_extra) == (0.0, 1 + round(1.5 * (2 * 9 + 3)))


def test_a_header_alone_makes_no_images(tmp_path: Path) -> None:
    (tmp_path / "table.tsv").write_text("file\ttext\nabc\tABC\n")
    assert recognise(str(tmp_path / "table.tsv"), {}) == Recognised(ONE_TEXT, Columns(source="file", target="text"))


def test_images_may_stand_in_any_column(captions: Path) -> None:
    table = captions.parent / "turned.tsv"
    rows = [line.split("\t") for line in captions.read_text().splitlines()]
    table.write_text("".join(f"{number}\t{text}\t{name}\n" for number, (name, text) in enumerate(rows)))
    recipe = recipe_for_files(str(table), recognise(str(table), {"image": 3, "target": 2}))
    assert (recipe.data.sources["image"].column, recipe.data.columns.target) == (3, 2)


# --- several references ---------------------------------------------------------------------------------------------


def test_captions_of_one_image_are_its_references(run: Path, captions: Path, seqloom: Seqloom) -> None:
    [body] = seqloom("evaluate", run, captions, "--metrics", "bleu_1,cider", "--json").objects
    assert body["count"] == COUNT
    judged = next(record for record in RunFolder.open(run).metrics() if record["kind"] == "validation")
    assert {"cider", "bleu_4"} <= judged.keys()
    told = seqloom("evaluate", run, captions, "--metrics", "cider").out
    assert told.splitlines()[0].split() == ["source", "length", "any"]  # images have no lengths to be grouped by


def test_a_second_evaluation_opens_no_picture(
    run: Path, captions: Path, seqloom: Seqloom, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SEQLOOM_CACHE", str(tmp_path / "cache"))
    first = seqloom("evaluate", run, captions, "--metrics", "bleu_1").out
    monkeypatch.setattr(ImagePixels, "array", lambda *given: pytest.fail("it is kept"))
    assert seqloom("evaluate", run, captions, "--metrics", "bleu_1").out == first


def test_predictions_keep_nothing(
    run: Path, captions: Path, seqloom: Seqloom, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SEQLOOM_CACHE", str(tmp_path / "cache"))
    assert seqloom("predict", run, captions.parent / "pictures" / "0.png").code == 0
    assert not (tmp_path / "cache").exists()


# --- seeing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ending", "sign"), [("html", b"data:image/png"), ("svg", b"data:image/png"), ("png", b"\x89PNG")])
def test_attention_is_shown_over_the_picture(
    run: Path, captions: Path, seqloom: Seqloom, here: Path, ending: str, sign: bytes
) -> None:
    for runs in ([run], [run, run]):
        assert seqloom("explain", *runs, captions.parent / "pictures" / "0.png", "--out", f"map.{ending}").code == 0
        assert sign in (here / f"map.{ending}").read_bytes()


def test_a_notebook_shows_the_picture_as_long_as_it_is_there(run: Path, captions: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(captions.parent / "pictures" / "0.png", tmp_path))
    [prediction] = Predictor.load(run).predict([copy])
    exhibit = prediction.exhibit("mine")
    assert (exhibit.label, exhibit.pictures["image"].pixels.shape) == ("mine", (16, 16, 3))
    shown = prediction._repr_html_()
    copy.unlink()
    assert prediction.exhibit().pictures == {}
    assert len(prediction._repr_html_()) != len(shown)


def test_a_report_shows_pictures_and_all_references(run: Path, seqloom: Seqloom, tmp_path: Path) -> None:
    assert seqloom("report", run, "--out", tmp_path / "report.html").code == 0
    page = (tmp_path / "report.html").read_text()
    assert page.count("<img src=") >= 2
    assert "<dt>references</dt>" in page


# --- bad files ------------------------------------------------------------------------------------------------------


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _web_page(file: Path, whole: bytes) -> None:
    file.write_text("<html>not found</html>")


def _truncated(file: Path, whole: bytes) -> None:
    file.write_bytes(whole[: len(whole) * 2 // 3])


def _bomb(file: Path, whole: bytes) -> None:
    side, lines = 10_000, zlib.compressobj(9)
    pixels = b"".join(lines.compress(bytes(1 + side)) for _ in range(side)) + lines.flush()
    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b""))


def _missing(file: Path, whole: bytes) -> None:
    pass


def _folder(file: Path, whole: bytes) -> None:
    file.mkdir()


BAD: list[tuple[Callable[[Path, bytes], None], str]] = [
    (_web_page, "expected a picture (JPEG, PNG, WebP, GIF, BMP or TIFF), found a file that begins with b'<html>not fo'"),
    (_truncated, "expected a whole picture, found one that breaks off"),
    (_bomb, "expected a picture of at most 50 million pixels and 32,000 on a side, found 10,000 x 10,000"),
    (_missing, "found nothing there"),
    (_folder, "found a folder"),
]


@pytest.fixture(params=BAD, ids=lambda one: one[0].__name__.strip("_"))
def bad(request: pytest.FixtureRequest, here: Path) -> str:
    """A table in the working folder whose eleventh picture is bad; what is to be said of it."""
    make, said = request.param
    lines = []
    for number in range(10):
        Image.new("RGB", (16, 16), (20 * number, 0, 0)).save(here / f"{number}.png")
        lines.append(f"{number}.png\ta picture\n")
    random = np.random.default_rng(1)
    Image.fromarray(random.integers(0, 255, (64, 64, 3), dtype=np.uint8)).save(here / "whole.jpg")
    make(here / "bad.jpg", (here / "whole.jpg").read_bytes())
    (here / "table.tsv").write_text("".join([*lines, "bad.jpg\ta picture\n"]))
    return str(said)


def test_a_bad_picture_stops_every_command_with_a_sentence(run: Path, seqloom: Seqloom, here: Path, bad: str) -> None:
    trained = seqloom("train", "--pairs", "table.tsv", "--out", "new", *QUICK)
    assert (trained.code, trained.err.splitlines()[-1].count("table.tsv:11: ")) == (3, 1)
    assert not (here / "new").exists()
    checked = seqloom("check", "table.tsv", "--json")
    assert checked.code == 1
    named = " ".join(example for finding in checked.objects[0]["findings"] for example in finding["examples"])
    assert "table.tsv:11: " in named
    evaluated = seqloom("evaluate", run, "table.tsv")
    predicted = seqloom("predict", run, "table.tsv", "--columns", "image=1")
    direct = seqloom("predict", run, "0.png", "bad.jpg")
    explained = seqloom("explain", run, "bad.jpg")
    if (here / "bad.jpg").is_dir():  # of which explain makes a gallery
        assert (explained.code, "bad.jpg: holds no pictures" in explained.err) == (3, True)
        explained = direct
    named_alone = "input:1: " if explained is not direct else ""
    answers = (evaluated, "table.tsv:11: "), (predicted, "table.tsv:11: "), (direct, ""), (explained, named_alone)
    for answer, place in answers:
        assert (answer.code, answer.out, answer.err.count("\n"), place in answer.err) == (3, "", 1, True)
    for text in (trained.err, named, evaluated.err, predicted.err, explained.err):
        assert bad in text
    assert not (here / "map.html").exists()


def test_a_member_that_an_archive_lacks_is_named(seqloom: Seqloom, here: Path) -> None:
    Image.new("RGB", (16, 16)).save(here / "0.png")
    with zipfile.ZipFile(here / "photos.zip", "w") as archive:
        archive.write(here / "0.png", "0.png")
    (here / "table.tsv").write_text("0.png\ta picture\n1.png\ta picture\n")
    answer = seqloom("train", "--pairs", "table.tsv", "--images", "photos.zip", "--out", "run")
    assert "table.tsv:2: expected a member '1.png' of " in answer.err
    assert "table.tsv:2: expected a member '1.png' of photos.zip" in seqloom("check", "table.tsv", "--images", "photos.zip").out
    assert not (here / "run").exists()


def test_a_folder_is_no_picture(run: Path, captions: Path, seqloom: Seqloom) -> None:
    answer = seqloom("predict", run, captions.parent / "pictures")
    assert (answer.code, "expected a file to read or a run folder, found another folder" in answer.err) == (3, True)
