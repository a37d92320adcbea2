"""docs/serving.md shows what works: its programs and its curl commands are run against a server."""

import json
import shutil
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from pages import blocks

from server.live import TOKEN, LiveServer

PAGE = Path(__file__).parents[2] / "docs" / "serving.md"
SHOWN = "http://127.0.0.1:8000"


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_curl_commands_are_answered(live: LiveServer) -> None:
    typed = [line for block in blocks(PAGE, "bash") for line in block.replace("\\\n", " ").splitlines()]
    assert len(typed) >= 5
    for line in typed:
        allowed = f"curl --fail-with-body -H 'Authorization: Bearer {TOKEN}' "
        command = line.replace(SHOWN, live.address.rstrip("/")).replace("curl ", allowed, 1)
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, timeout=60)  # noqa: S602
        assert done.returncode == 0, f"{line}: {done.stdout}"
        if "/stream" not in line:
            assert "error" not in json.loads(done.stdout)


def test_the_programs_run(live: LiveServer, capsys: pytest.CaptureFixture[str]) -> None:
    opener = urllib.request.build_opener()
    opener.addheaders = [("Authorization", f"Bearer {TOKEN}")]
    urllib.request.install_opener(opener)
    names: dict[str, Any] = {}
    try:
        for program in blocks(PAGE, "python"):
            exec(compile(program.replace(SHOWN, live.address.rstrip("/")), str(PAGE), "exec"), names)  # noqa: S102
    finally:
        urllib.request.install_opener(urllib.request.build_opener())
    assert capsys.readouterr().out.splitlines()[-2:] == ["model-error", "ABC"]
