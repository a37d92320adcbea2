"""Fifty texts that would be scripts if a page forgot to escape them, in every page that seqloom makes, in a real browser.

They come as texts, as symbols of vocabularies, as features, and as names of runs, tables and files. All pages are opened by
Chromium, which is sent through a proxy of ours, so that no request to any place goes unseen. On up to fifty elements of every
page the events are dispatched that a person's pointer and keys would cause. Pages of our own that do not escape are the
control.
"""

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from attacks.ground import Findings, Ground, command, small_recipe, trained
from attacks.material import image_recipe
from attacks.recordings import sound_run, video_run

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_BROWSERS_OWN = frozenset(
    {"accounts.google.com", "clients2.google.com", "update.googleapis.com", "optimizationguide-pa.googleapis.com"}
)
"""Hosts of Chromium's own services, which it asks for whatever it opens; none that has fonts or scripts for pages."""
_SECONDS = 600
_TOGETHER = 12
"""So many pages are opened by one browser: more would take all of its time."""
_RUN = "console.log('RAN-{0}');new(Image)().src='http://beacon.example/{0}'"
_TEMPLATES = (
    "<script>{}</script>",
    "</script><script>{}</script>",
    "<ScRiPt>{}</sCrIpT>",
    "<script/x>{}</script>",
    "<script\n>{}</script>",
    "<svg/onload=\"{}\">",
    "<svg><script>{}</script></svg>",
    "</svg><script>{}</script>",
    "</title><script>{}</script>",
    "</style><script>{}</script>",
    "</textarea><script>{}</script>",
    "<img/src=\"x\"/onerror=\"{}\">",
    "<img src=x onerror=\"{}\">",
    "\"><img src=x onerror=\"{}\">",
    "'><img src=x onerror=\"{}\">",
    "\" onmouseover=\"{}\" x=\"",
    "' onmouseover='{}' x='",
    "\" onfocus=\"{}\" autofocus tabindex=0 x=\"",
    "\"onclick=\"{}\"",
    "` onmouseover=`{}`",
    "<body onload=\"{}\">",
    "<details open ontoggle=\"{}\">",
    "<video><source onerror=\"{}\">",
    "<audio src=x onerror=\"{}\">",
    "<input autofocus onfocus=\"{}\">",
    "<marquee onstart=\"{}\">",
    "<iframe srcdoc=\"<script>{}</script>\">",
    "<iframe src=\"javascript:{}\">",
    "<object data=\"data:text/html,<script>{}</script>\">",
    "<embed src=\"javascript:{}\">",
    "<a href=\"javascript:{}\">x</a>",
    "javascript:{}",
    "<form action=\"javascript:{}\"><button>x</button></form>",
    "<meta http-equiv=\"refresh\" content=\"0;url=javascript:{}\">",
    "<base href=\"http://beacon.example/\">{}",
    "<link rel=stylesheet href=\"http://beacon.example/style\">{}",
    "<style>@import'http://beacon.example/import';</style>{}",
    "</style><style>*{{background:url(http://beacon.example/css)}}</style>{}",
    "<foreignObject><script>{}</script></foreignObject>",
    "<math><mtext></mtext><script>{}</script></math>",
    "<use href=\"data:image/svg+xml,<svg onload='{}'/>\"/>",
    "<animate onbegin=\"{}\" attributeName=x dur=1s>",
    "<!--><script>{}</script>-->",
    "<![CDATA[<script>{}</script>]]>",
    "]]><script>{}</script>",
    "\\u003cscript\\u003e{}\\u003c/script\\u003e",
    "&lt;script&gt;{}&lt;/script&gt;",
    "${{{}}}",
    "\";{};//",
    "';{};//",
    "\u2028{}//",
    "__proto__",
)  # fmt: skip

_OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-sync", "--disable-component-update", "--disable-default-apps", "--disable-extensions", "--log-level=0"),
    *("--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom", "--proxy-bypass-list=<-loopback>"),
)
_DRIVER = """<script>addEventListener('load', () => setTimeout(() => {
  const some = (all) => all.filter((_, index) => index % Math.ceil(all.length / 25) === 0);
  const found = ['button, input, select, summary, a, [tabindex]', 'body *'].map((what) => [...document.querySelectorAll(what)]);
  for (const one of found.flatMap(some)) {
    for (const kind of ['pointerover', 'mouseover', 'pointermove', 'mousemove', 'focus', 'focusin', 'click', 'mouseout'])
      one.dispatchEvent(new MouseEvent(kind, {bubbles: true, clientX: 20, clientY: 20}));
    for (const key of ['ArrowRight', 'Enter']) one.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
  }
  console.log('DRIVEN-NAME');
}, 50));</script>"""


def browser() -> str | None:
    """The browser to open pages with: SEQLOOM_BROWSER, or a Chromium that is installed."""
    return os.environ.get("SEQLOOM_BROWSER") or next(filter(None, map(shutil.which, _BROWSERS)), None)


def payloads() -> list[str]:
    """The texts, each with a number by which it is known if it runs."""
    return [template.format(_RUN.format(number)) for number, template in enumerate(_TEMPLATES)]


def attack(ground: Ground) -> Findings:
    """Make all pages, open them, and look at what ran, what was asked for, and what the console says."""
    program = browser()
    if program is None:
        return Findings(1, faults=["no browser: install Chromium, or name one in SEQLOOM_BROWSER"])
    folder = ground.place("pages")
    pages = list(_pages(ground, folder))
    ground.say(f"{len(pages)} pages")
    with _proxy() as (port, asked):
        ran = _control(program, ground, folder, port)
        if ran < 4 or not any("beacon.example" in one for one in asked):
            raise RuntimeError(f"only {ran} payloads ran where nothing is escaped, so nothing would be noticed here")
        asked.clear()
        seen = _opened(program, folder, pages, port)
        # A host that no page names was not asked for by a page.
        named = "".join(page.read_text(encoding="utf-8") for page in pages)
        own = {_host(one) for one in asked} & {host for host in _BROWSERS_OWN if host not in named}
        found = _judged(pages, seen, [one for one in asked if _host(one) not in own])
        found.facts["asked for by Chromium itself, named in no page, and not counted"] = sorted(own)
    found.facts |= {
        "payloads": len(_used(ground)),
        "of these, ran in the control, which does not escape": ran,
        "pages": len(pages),
        "browser": _version(program),
    }
    return found


def _control(program: str, ground: Ground, folder: Path, port: int) -> int:
    """How many payloads run in pages of ours that do not escape them: where none does, nothing would be noticed."""
    pages = []
    for number, text in enumerate(payloads()[12:18] if ground.quick else payloads()):
        pages.append(folder / f"control-{number}.html")
        pages[-1].write_text(f'<!doctype html><body><p title="{text}">{text}</p></body>', encoding="utf-8")
    return len(set(re.findall(r"RAN-[0-9]+", _opened(program, folder, pages, port))))


def _judged(pages: list[Path], seen: str, asked: list[str]) -> Findings:
    found = Findings()
    lines = [line for line in seen.splitlines() if "CONSOLE" in line]
    for number, page in enumerate(pages):
        if page.suffix == ".html":
            driven = f"DRIVEN-{number}-" in seen
            found.add(
                "opened, with events on its elements: nothing ran", "" if driven else f"{page.name}: its scripts did not end"
            )
        else:
            found.add("a drawing (SVG) opened: nothing ran")
    found.faults += [f"a script ran: {line}" for line in lines if "RAN-" in line]
    found.faults += [f"a request left: {one}" for one in asked]
    found.faults += [f"the console says: {line}" for line in lines if "RAN-" not in line and "DRIVEN-" not in line]
    return found


# --- pages ----------------------------------------------------------------------------------------------------------


def _used(ground: Ground) -> list[str]:
    return payloads()[:: 8 if ground.quick else 1]


def _pages(ground: Ground, folder: Path) -> Iterator[Path]:
    """Every page that a command makes, with the payloads in it in every way that they can get there."""
    texts = _used(ground)
    flat = [re.sub(r"\s+", " ", text) for text in texts]
    name = re.sub("/", "", "".join(payloads()[12:13]))[:120]
    table = folder / f"{name}.tsv"
    features = ["".join(text.split()) for text in flat]
    table.write_text("".join(f"{one}\t{one}\t{two}\n" for one, two in zip(flat, features, strict=True)), encoding="utf-8")
    book = folder / f"{name}.txt"
    book.write_text("".join(f"{text}\n" for text in flat), encoding="utf-8")
    run = trained(folder / name, _of_symbols(table))
    text_run = trained(folder / f"text {name}", _of_text(book))
    picture_run = trained(ground.folder / "pictures" / "run", image_recipe(ground))
    joined = " ".join(flat[:12])
    for ending in ("html", "svg"):
        for number, options in enumerate(([], ["--tree"], ["--steps"])):
            out = folder / f"explain-{number}.{ending}"
            yield _made(out, "explain", run, joined, "--feature", features[-1], *options, "--out", out)
    yield _made(folder / "beside.html", "explain", run, run, joined, "--out", folder / "beside.html")
    yield _made(folder / "report.html", "report", run, "--out", folder / "report.html")
    yield _made(folder / "errors.html", "errors", run, table, "--out", folder / "errors.html")
    for ending in ("html", "svg"):
        yield _made(folder / f"plane.{ending}", "plane", run, table, "--out", folder / f"plane.{ending}")
    yield from _single_maps(folder, run, flat)
    yield from _text_pages(folder, text_run, book, joined)
    for kind, reader in (("pictures", picture_run), ("sounds", sound_run(ground)), ("videos", video_run(ground))):
        [file, *_] = (ground.folder / kind).glob("0.*")
        yield from _file_pages(folder, reader, kind, file, name)


def _made(out: Path, *words: object) -> Path:
    answer = command(*words)
    if answer.code or not out.exists():
        raise RuntimeError(f"{words[:2]}: no page was made: {answer.err[-600:]}")
    return out


def _of_symbols(table: Path) -> dict[str, Any]:
    """A recipe in whose vocabularies the payloads are symbols."""
    recipe = small_recipe(table, 2, validation={"every_steps": 2, "examples": 4})
    symbols = {"kind": "symbols"}
    recipe["data"] = {
        "train": str(table),
        "validation": str(table),
        "test": str(table),
        "columns": {"features": [3]},
        "vocabularies": {"source": symbols, "target": symbols},
    }
    return recipe


def _single_maps(folder: Path, run: Path, texts: list[str]) -> Iterator[Path]:
    """A map of each payload alone, through Python."""
    import seqloom

    for number, prediction in enumerate(seqloom.load(run).predict(texts, beam=2, nbest=2)):
        yield prediction.save(folder / f"map-{number}.html")


def _of_text(book: Path) -> dict[str, Any]:
    """A recipe for a language model of payloads."""
    recipe = small_recipe(book, 2, validation={"every_steps": 2})
    recipe["data"] = {
        "train": str(book),
        "validation": str(book),
        "test": str(book),
        "text": "lines",
        "vocabularies": {"target": {"kind": "symbols"}},
    }
    recipe["model"] = {
        "encoder": None,
        "decoder": {"size": 8, "embedding": 8, "cell": "lstm"},
        "bridge": {"kind": "none"},
    }
    return recipe


def _text_pages(folder: Path, run: Path, book: Path, joined: str) -> Iterator[Path]:
    """The pages of a language model."""
    for ending in ("html", "svg"):
        following, units, written = (folder / f"{name}.{ending}" for name in ("next", "units", "written"))
        yield _made(following, "explain", run, joined, "--out", following)
        yield _made(units, "explain", run, joined, "--units", "top", "--out", units)
        yield _made(written, "sample", run, "--count", 2, "--length", 30, "--out", written)
    yield _made(folder / "score.html", "score", run, book, "--html", folder / "score.html")
    yield _made(folder / "text-report.html", "report", run, "--out", folder / "text-report.html")


def _file_pages(folder: Path, run: Path, kind: str, file: Path, name: str) -> Iterator[Path]:
    """A file whose name is a payload."""
    named = shutil.copy(file, folder / f"{name}{file.suffix}")
    for what, words in (("map", ["explain", run, named]), ("report", ["report", run])):
        out = folder / f"{kind}-{what}.html"
        yield _made(out, *words, "--out", out)


# --- the browser ----------------------------------------------------------------------------------------------------


@contextmanager
def _proxy() -> Iterator[tuple[int, list[str]]]:
    """A proxy that answers nothing and remembers what it was asked for: its port, and the addresses."""
    asked: list[str] = []

    class Refusing(BaseHTTPRequestHandler):
        def _refuse(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        do_GET = do_POST = do_HEAD = do_CONNECT = do_OPTIONS = _refuse  # noqa: N815

        def log_message(self, format: str, *arguments: object) -> None:
            del format, arguments

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port, asked
    finally:
        server.shutdown()
        server.server_close()


def _host(address: str) -> str:
    """The host of an address as a proxy is asked for it: `http://host/...`, or `host:443` for a tunnel."""
    return re.sub(r"^[a-z]+://", "", address).split("/")[0].split(":")[0]


def _opened(program: str, folder: Path, pages: list[Path], port: int) -> str:
    """Open all pages, some at a time, each in a frame; what the browser wrote to its log."""
    seen = []
    for start in range(0, len(pages), _TOGETHER):
        some = range(start, min(start + _TOGETHER, len(pages)))
        frames = [f'<iframe src="{_driven(folder, pages[one], one).name}" width="900" height="700"></iframe>' for one in some]
        (folder / "all.html").write_text(f"<!doctype html>{''.join(frames)}", encoding="utf-8")
        shutil.rmtree(folder / "profile", ignore_errors=True)
        options = [*_OPTIONS, f"--proxy-server=127.0.0.1:{port}", f"--user-data-dir={folder / 'profile'}"]
        words = [program, *options, (folder / "all.html").as_uri()]
        ended = subprocess.run(words, capture_output=True, check=False, timeout=_SECONDS, text=True, errors="replace")
        seen.append(ended.stderr)
    return "\n".join(seen)


def _driven(folder: Path, page: Path, number: int) -> Path:
    """A copy of a page that dispatches events on its elements."""
    copy, text = folder / f"opened-{number}{page.suffix}", page.read_text(encoding="utf-8")
    driver = _DRIVER.replace("DRIVEN-NAME", f"DRIVEN-{number}-") if page.suffix == ".html" else ""
    copy.write_text(text.replace("</body>", f"{driver}</body>") if "</body>" in text else text + driver, encoding="utf-8")
    return copy


def _version(program: str) -> str:
    return subprocess.run([program, "--version"], capture_output=True, check=False, text=True).stdout.strip()
