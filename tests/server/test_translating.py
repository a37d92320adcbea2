"""LibreTranslate's shape, by hand and by its clients as they are on PyPI."""

from pathlib import Path
from typing import Any

import pytest
from deep_translator import LibreTranslator
from deep_translator.exceptions import AuthorizationException
from libretranslatepy import LibreTranslateAPI
from starlette.testclient import TestClient

from seqloom.server.answers.detection import Profile, ranked
from seqloom.server.settings import ServedModel
from server.conftest import MakeClient
from server.live import TOKEN, LiveServer

ASKED = {"q": "abc", "source": "en", "target": "de"}


@pytest.mark.parametrize("how", ["json", "data", "params", "files"])
def test_parameters_may_stand_anywhere(client: TestClient, how: str) -> None:
    given: Any = {name: (None, value) for name, value in ASKED.items()} if how == "files" else ASKED
    answer = client.post("/translate", **{how: given})
    assert answer.json() == {"translatedText": "ABC"}


def test_a_list_is_answered_by_a_list_and_lines_by_lines(client: TestClient) -> None:
    body = client.post("/translate", json={**ASKED, "q": ["abc", "hg\n\nbe"], "alternatives": 1}).json()
    assert body["translatedText"] == ["ABC", "HG\n\nBE"]
    assert [len(one) for one in body["alternatives"]] == [1, 1]


def test_the_language_is_found_by_itself(client: TestClient) -> None:
    body = client.post("/translate", json={**ASKED, "source": "auto"}).json()
    assert body["translatedText"] == "ABC"
    assert body["detectedLanguage"] == {"language": "en", "confidence": 100.0}


def test_languages_have_names_and_targets(client: TestClient) -> None:
    assert client.get("/languages").json() == [{"code": "en", "name": "English", "targets": ["de"]}]


@pytest.mark.parametrize(
    "change",
    [
        {"q": None},
        {"source": "xx"},
        {"target": "en"},
        {"target": ""},
        {"q": {"a": 1}},
        {"format": "html"},
        {"alternatives": "x"},
    ],
)
def test_errors_have_its_form(client: TestClient, change: dict[str, Any]) -> None:
    answer = client.post("/translate", json={**ASKED, **change})
    assert answer.status_code == 400
    assert isinstance(answer.json()["error"], str)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"{", "application/json"),
        (b"[1]", "application/json"),
        (b"\xff", "text/plain"),
        (b"x", "multipart/form-data; boundary=b"),
        (b"x", "multipart/form-data"),
    ],
)
def test_malformed_bodies_are_refused_in_its_form(client: TestClient, content: bytes, kind: str) -> None:
    for path in ("/translate", "/detect"):
        answer = client.post(path, content=content, headers={"content-type": kind})
        assert answer.status_code == 400
        assert isinstance(answer.json()["error"], str)


def test_a_text_is_in_the_language_whose_letters_it_has() -> None:
    texts = {"de": ["der Hund schläft", "die Katze und das Haus"], "fr": ["le chien dort", "la maison et le chat"]}
    profiles = {code: Profile.of(lines) for code, lines in texts.items()}
    assert ranked("und der schlaf", profiles)[0][0] == "de"
    assert ranked("le chat dort", profiles)[0][0] == "fr"
    assert sum(percent for _, percent in ranked("x", profiles)) == pytest.approx(100)
    assert ranked("", profiles)


def test_detection_works_without_the_training_data(make_client: MakeClient, tiny_run: Path, text_runs: dict[str, Path]) -> None:
    golden = Path(__file__).parents[1] / "golden" / "run"  # trained elsewhere: its data is not here
    client = make_client(models=(ServedModel("g", golden, ("it", "la")), ServedModel("t", tiny_run, ("en", "de"))))
    found = client.post("/detect", data={"q": "hgfe"}).json()
    assert {one["language"] for one in found} == {"it", "en"}
    assert found[0]["language"] == "en"


def test_libretranslatepy_works_as_it_is(live: LiveServer) -> None:
    api = LibreTranslateAPI(live.address, api_key=TOKEN)
    assert api.translate("abc", "en", "de") == "ABC"
    assert api.languages()[0]["code"] == "en"
    assert api.detect("abc")[0]["language"] == "en"


def test_deep_translator_works_as_it_is(live: LiveServer) -> None:
    translator = LibreTranslator(source="en", target="de", api_key=TOKEN, custom_url=live.address)
    assert translator.translate("abc") == "ABC"
    assert translator.translate_batch(["abc", "hgf"]) == ["ABC", "HGF"]


def test_deep_translator_is_told_of_a_wrong_key(live: LiveServer) -> None:
    translator = LibreTranslator(source="en", target="de", api_key="wrong", custom_url=live.address)
    with pytest.raises(AuthorizationException):
        translator.translate("abc")
