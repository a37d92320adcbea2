"""A stream without end: 200,000 lines through `predict`, and the memory that it takes on the way."""

import os
import subprocess
import sys
import threading
from pathlib import Path

from attacks.ground import Findings, Ground, tiny_run, words

_CHUNK = 1000
_ALLOWED = 1.05


def attack(ground: Ground) -> Findings:
    """Feed lines to a process of its own and look at its memory after every thousand that come out."""
    run, lines = tiny_run(ground), ground.count(200_000, 3000)
    asked = [sys.executable, "-m", "seqloom", "predict", str(run), "--beam", "1"]
    sizes: list[int] = []
    with subprocess.Popen(asked, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        feeder = threading.Thread(target=_feed, args=(process, ground, lines))
        feeder.start()
        answered = 0
        for _ in process.stdout or ():
            answered += 1
            if answered % _CHUNK == 0:
                sizes.append(_resident(process.pid))
                if answered % 50_000 == 0:
                    ground.say(f"{answered:,} lines, {sizes[-1] >> 20} MB")
        feeder.join()
    found = Findings(facts={"lines": lines})
    early, late = max(sizes[: max(2, len(sizes) // 10)]), max(sizes)
    found.facts |= {"peak after a tenth, MB": early >> 20, "peak in all, MB": late >> 20}
    wrong = (
        "" if answered == lines and not process.returncode else f"{answered:,} of {lines:,} lines, code {process.returncode}"
    )
    flat = "" if late <= early * _ALLOWED else f"memory grows: {early >> 20} MB after a tenth, {late >> 20} MB in all"
    found.attempts = lines
    found.outcomes["lines answered"] = answered
    found.faults = [one for one in (wrong, flat) if one]
    return found


def _feed(process: "subprocess.Popen[bytes]", ground: Ground, lines: int) -> None:
    draw = ground.draw("stream")
    with process.stdin or open(os.devnull, "wb") as stream:  # noqa: PTH123
        for _ in range(0, lines, _CHUNK):
            stream.write("".join(f"{one}\n" for one in words(draw, min(_CHUNK, lines))).encode())


def _resident(process: int) -> int:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
