"""Attack seqloom in all the ways that docs/reliability.md tells of, and count what comes of it.

    python benchmarks/reliability.py                          # all attacks: minutes, an hour on a busy machine
    python benchmarks/reliability.py malformed folders        # some of them
    python benchmarks/reliability.py --quick                  # a small part of each, about a minute; the tests run most of it
    python benchmarks/reliability.py --page docs/reliability.md --of all.jsonl    # what --json has printed, as a page

Everything is drawn from --seed, so that a fault can be had again. Nothing is written outside a temporary folder, and nothing
is asked of the network. The exit code is 1 if anything is not as it should be.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attacks import damage, disks, folders, kills, malformed, memory, pages, repeats
from attacks.ground import Findings, Ground, clock, isolated


@dataclass(frozen=True)
class Attack:
    """A kind of attack. what: what is done, in words; promise: what must come of it."""

    name: str
    what: str
    promise: str
    run: Callable[[Ground], Findings]


ATTACKS = (
    Attack(
        "kills",
        "a training is killed: by SIGKILL at random moments and just before a change of the file system (a file opened to be "
        "written, a rename, a removal), and by the kernel's SIGXFSZ with a file half written; then the same command again, "
        "over and over",
        "weights, kept weights, checkpoints, samples and records at the end are those of an undisturbed run, to the bit",
        kills.attack,
    ),
    Attack(
        "disks",
        "a disk that is full after so many bytes, under a run and under the cache; then room is made",
        "exit code 5 and a sentence; what was saved is valid; the run ends like an undisturbed one, to the bit",
        disks.attack,
    ),
    Attack(
        "damage",
        "one bit flipped, or the end cut off, in every file of a finished run, of an interrupted one, of an exported model and "
        "of the caches",
        "refused with a sentence, or without consequence: predictions, records, counters, vocabularies, checkpoints and what a "
        "training sees of its data are the same to the bit; nothing changes silently. What no command reads (samples of "
        "validations, the model card) has no checksum, and damage to it is for the eyes of a reader",
        damage.attack,
    ),
    Attack(
        "malformed",
        "well-formed inputs of every kind with bytes flipped, cut, repeated, dropped and put in: NULs, lone surrogates, "
        "nesting without end, enormous numbers, YAML tags, pickles, paths that lead out",
        "one sentence and the right exit code, within a minute and 3 GB of memory; never a traceback",
        malformed.attack,
    ),
    Attack(
        "folders",
        "pipes, sockets, endless devices, links out, links to themselves, folders and two sparse terabytes in the place of "
        "every file of a run and of an exported model; documents that lie, with the right hashes; a run that names a file of "
        "yours",
        "exit code 4 (3 for data, 2 for what is typed), within a minute and 3 GB of memory; nothing of other files is shown",
        folders.attack,
    ),
    Attack(
        "pages",
        "markup and scripts as texts, symbols, features and names of runs, tables, pictures, sounds and videos, in every page, "
        "in Chromium, with the events of pointer and keys on up to fifty elements of each",
        "no script runs, no request leaves, the console has no error; a page that does not escape is found out (the control)",
        pages.attack,
    ),
    Attack(
        "memory",
        "a stream of lines through `seqloom predict`",
        "every line is answered, and the memory is never more than 5 % above what it is in the first tenth",
        memory.attack,
    ),
    Attack(
        "same-seed",
        "the same recipe in two processes with other hash seeds, folders and caches",
        "the same run, to the bit",
        repeats.same_seed,
    ),
    Attack(
        "two-at-once",
        "a second training in the folder of a running one; then the first is killed",
        "the second is refused (4) and names the first; the lock dies with its process; the end is that of a run alone",
        repeats.two_at_once,
    ),
)


def main() -> int:
    """Run the attacks that are asked for."""
    asked = _arguments()
    if asked.page is not None:
        asked.page.write_text(
            page([json.loads(line) for line in asked.of.read_text(encoding="utf-8").splitlines()]), encoding="utf-8"
        )
        return 0
    os.environ |= {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}  # threads do not survive a fork
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="seqloom-reliability-") as folder:
        os.environ["SEQLOOM_CACHE"] = str(Path(folder) / "cache")
        _import_once()
        ground = Ground(Path(folder), asked.seed, asked.quick, asked.scale)
        for attack in ATTACKS:
            if asked.attacks and attack.name not in asked.attacks:
                continue
            results.append(_result(attack, ground))
            _print(results[-1], json_wanted=asked.json)
    return 1 if any(result["faults"] for result in results) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [attack.name for attack in ATTACKS]
    parser.add_argument("attacks", nargs="*", choices=[*names, []], help=f"which ones; by default all: {', '.join(names)}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a small part of each")
    parser.add_argument("--scale", type=float, default=1.0, help="a factor of the number of attempts")
    parser.add_argument("--json", action="store_true", help="print one object for each attack")
    parser.add_argument("--page", type=Path, help="write the page of the documentation, from results that were printed as JSON")
    parser.add_argument("--of", type=Path, help="with --page: the file that has the results")
    asked = parser.parse_args()
    if (asked.page is None) != (asked.of is None):
        parser.error("--page and --of go together")
    return asked


def _import_once() -> None:
    """What all children need, so that none of them has to import it by itself. No training: a fork does not survive it."""
    import importlib

    from seqloom.cli.app import app_for

    needed = ("rapidfuzz", "sacrebleu", "torch._dynamo", "seqloom.training.session", "seqloom.prediction.predictor")
    for name in needed:
        importlib.import_module(name)
    app_for(None)


def _result(attack: Attack, ground: Ground) -> dict[str, Any]:
    print(f"{attack.name}: {attack.what}", file=sys.stderr, flush=True)
    began = clock()
    found = isolated(lambda: attack.run(ground))
    facts = {"seconds": round(clock() - began, 1), "seed": ground.seed, "date": datetime.now(UTC).date().isoformat()}
    size = "--quick" if ground.quick else "" if ground.scale == 1 else f"--scale {ground.scale:g}"
    return {"attack": attack.name, **found.as_json(), **facts, "size": size, "machine": _machine()}


def _print(result: dict[str, Any], *, json_wanted: bool) -> None:
    if json_wanted:
        print(json.dumps(result, ensure_ascii=False), flush=True)
        return
    outcomes = "; ".join(f"{count:,} {name}" for name, count in result["outcomes"].items())
    print(f"{result['attack']}: {result['attempts']:,} attempts, {len(result['faults'])} faults ({outcomes})", flush=True)
    for fault in result["faults"]:
        print(f"  FAULT {fault}", flush=True)


# --- the page -------------------------------------------------------------------------------------------------------


def page(results: list[dict[str, Any]]) -> str:
    """docs/reliability.md."""
    known = {attack.name: attack for attack in ATTACKS}
    order = sorted(results, key=lambda one: list(known).index(one["attack"]))
    rows = [
        f"| [{one['attack']}](#{one['attack']}) | {one['attempts']:,} | {len(one['faults'])} | {one['seconds'] / 60:.1f} | "
        f"{one['seed']} | {one['date']} |"
        for one in order
    ]
    sections = (line for one in order for line in _section(known[one["attack"]], one))
    machines = sorted({one["machine"] for one in order})
    return "\n".join([*_INTRODUCTION, *machines, "", *_HEADER, *rows, "", *sections]).rstrip() + "\n"


_INTRODUCTION = (
    "# Reliability",
    "",
    "What was tried against seqloom, and what came of it. Every attack can be repeated: a name runs one alone, `--seed` draws",
    "others, `--quick` does a small part of each, most of which the tests do at every change. [SECURITY.md](../SECURITY.md)",
    "says what is promised, and [runs.md](runs.md) how a run keeps it.",
    "",
    "The faults that attacks found are repaired and have tests; any below without a note is open. They were: recipes of",
    "strangers that ask for a hundred million layers, for sizes that torch cannot count, or for lengths and powers beyond all",
    "floats (hanging, tracebacks, warnings: they have bounds now); caches whose arrays are empty or have a damaged header",
    "(tracebacks: checksums come first now); Parquet files with a column whose name is no text, videos in a coding that",
    "nobody knows or that end too early for FFmpeg, archives of arrays whose parts lie before their beginning, arrays whose",
    "header does not end, exported models that attend to what they do not have (tracebacks, or a wrong exit code); graphs",
    "that take any amount of memory (they have 4 GB now); a page with sound where the browser does not let it play (an error",
    "in the console).",
    "",
    "This page is printed from results, as by",
    "",
    "```sh",
    "make reliability     # every attack, each as its section says, and this page of the results",
    "```",
    "",
)
_HEADER = ("| attack | attempts | faults | minutes | seed | date |", "|---|---|---|---|---|---|")


def _section(attack: Attack, result: dict[str, Any]) -> list[str]:
    typed = " ".join(["python benchmarks/reliability.py", attack.name, f"--seed {result['seed']}", result["size"]]).strip()
    listed = {**result["outcomes"], **result["facts"]}
    lines = [f"- {name}: {_shown(value)}" for name, value in listed.items()]
    lines += [f"- **fault**: {fault.splitlines()[0]}" for fault in result["faults"]]
    told = [f"What is done: {attack.what}.", f"What must come of it: {attack.promise}."]
    told += [result["note"]] if "note" in result else []  # put into the results by hand, if something is to be said of them
    head = [f"## {attack.name}", "", f"`{typed}`", "", *(line for one in told for line in (*textwrap.wrap(one, 124), ""))]
    return [*head, *(line for one in lines for line in textwrap.wrap(one, 124, subsequent_indent="  ")), ""]


def _shown(value: object) -> str:
    if isinstance(value, dict) and not value:
        return "none"
    if isinstance(value, list) and not value:
        return "nothing"
    if isinstance(value, dict):
        return ", ".join(f"{one} {name}" if isinstance(one, str) else f"{one:,} {name}" for name, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def _machine() -> str:
    """Processor, system and versions."""
    import torch

    import seqloom

    found = Path("/proc/cpuinfo")
    models = [line.partition(":")[2].strip() for line in found.read_text().splitlines() if line.startswith("model name")]
    processor = models[0] if models else platform.machine()
    versions = f"Python {platform.python_version()}, torch {torch.__version__}, seqloom {seqloom.__version__}"
    return f"Measured on {processor}, one core, shared with other work; {platform.system()}, {versions}."


if __name__ == "__main__":
    sys.exit(main())
