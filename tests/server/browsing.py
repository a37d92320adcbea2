"""A browser that watches what a page does: its console, its requests, its dialogs."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

TOP = Path(__file__).parents[2]
PATIENCE = 30_000
"""Milliseconds until something has to be there: machines that run tests are busy."""


def attacks() -> Any:
    """The attacks on pages, which know browsers and payloads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(TOP / "benchmarks"))
        from attacks import pages  # type: ignore[import-not-found]

        return pages


@contextmanager
def opened_browser() -> Iterator[Browser]:
    """Debian's Chromium, or the one that SEQLOOM_BROWSER names; in CI there has to be one."""
    program = attacks().browser()
    if program is None and not os.environ.get("CI"):
        pytest.skip("no Chromium here, and `make test` could not install it: install it, or name one in SEQLOOM_BROWSER")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


class Watched:
    """A page of the studio, and all that happened on it that should not."""

    def __init__(self, browser: Browser, address: str, **options: Any) -> None:
        self.address = address
        self.faults: list[str] = []
        self.asked: list[str] = []
        self._context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "accept_downloads": True, **options})
        self._context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.page: Page = self._context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))
        self.page.on("request", self._requested)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") or "RAN-" in message.text:
            self.faults.append(f"console: {message.text}")

    def _requested(self, request: Request) -> None:
        if request.url.startswith(self.address):
            self.asked.append(request.url.removeprefix(self.address))
        elif not request.url.startswith(("blob:", "data:")):
            self.faults.append(f"a request left: {request.url}")

    def go(self, link: str = "") -> "Watched":
        """Open the page, and wait for its first answer."""
        self.page.goto(self.address + link)
        self.page.wait_for_selector("html[data-ready]")
        return self

    def tab(self, name: str) -> None:
        """Choose what to look at."""
        self.page.click(f"#tab-{name}")

    def type(self, text: str) -> None:
        """Type into the first text field of the input, without features."""
        self.page.evaluate(
            """(text) => {
              const fields = [...document.querySelectorAll("#fields input[type=text], #fields textarea")];
              fields.reverse().forEach((field) => {
                field.value = field.matches("textarea") ? text : "";
                field.dispatchEvent(new Event("input", { bubbles: true }));
              });
            }""",
            text,
        )

    @property
    def output(self) -> str:
        """What the model has written."""
        return self.page.inner_text("#live")

    def expect_output(self, text: str) -> None:
        """Wait until the model has written this, and all of it is shown."""
        expect(self.page.locator("#live")).to_have_text(text)
        expect(self.page.locator("#answer")).not_to_have_attribute("aria-busy", "true")

    def close(self) -> None:
        """Close it; nothing wrong may have happened."""
        self._context.close()
        assert self.faults == []
