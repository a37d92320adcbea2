"""The studio's page: how large it is, and how soon it answers.

    seqloom serve runs/dates &
    python benchmarks/studio.py http://127.0.0.1:8000/ --text "le 3 mai 1979"

Chromium opens the page several times. `opening_ms`: from the navigation until the first example is answered and drawn, with
nothing in the browser's cache. `typing_ms`: from the last keystroke until the output is there, the page's pause included.
"""

import argparse
import json
import statistics
import time
from typing import Any

from attacks.pages import browser
from playwright.sync_api import Browser, Page, Response, sync_playwright


def measure(address: str, text: str, times: int) -> dict[str, Any]:
    """Medians over some visits; the first, which loads the model, does not count."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser(), args=["--no-sandbox", "--disable-gpu"])
        _, *visits = [_visit(chromium, address, text) for _ in range(times + 1)]
        chromium.close()
    opening, typing, sizes = zip(*visits, strict=True)
    return {
        "bytes": max(sizes),
        "opening_ms": round(statistics.median(opening), 1),
        "typing_ms": round(statistics.median(typing), 1),
        "least_typing_ms": round(min(typing), 1),
        "times": times,
    }


def _visit(chromium: Browser, address: str, text: str) -> tuple[float, float, int]:
    """Milliseconds of opening and of typing, and the bytes of the page."""
    context = chromium.new_context()
    page = context.new_page()
    loaded: list[Response] = []
    page.on("response", lambda answer: loaded.append(answer))
    begun = time.perf_counter()
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    opened = 1000 * (time.perf_counter() - begun)
    size = sum(map(_size, loaded))
    typed = _typing(page, text)
    context.close()
    return opened, typed, size


def _size(answer: Response) -> int:
    """Of a file of the page; what models answer is not a part of it."""
    return 0 if "/v1/" in answer.url else len(answer.body())


def _typing(page: Page, text: str) -> float:
    """From the last keystroke to the answer, by the page's own clock."""
    page.fill("#fields textarea", text[:-1])
    page.wait_for_timeout(800)
    found: float = page.evaluate(
        """(text) => new Promise((resolve) => {
          const field = document.querySelector("#fields textarea"), facts = document.getElementById("facts");
          const begun = performance.now();
          new MutationObserver(() => resolve(performance.now() - begun)).observe(facts, { childList: true });
          field.value = text;
          field.dispatchEvent(new Event("input", { bubbles: true }));
        })""",
        text,
    )
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("--text", default="le 3 mai 1979")
    parser.add_argument("--times", type=int, default=9)
    given = parser.parse_args()
    print(json.dumps(measure(given.address, given.text, given.times)))
