"""Reading pages in tests: that they are well formed, what they say, and that they ask for nothing from outside."""

import json
import re
from html.parser import HTMLParser
from typing import Any

_VOID = {"meta", "br", "img", "input", "link", "hr"}


class Page(HTMLParser):
    """A parsed page: elements by name with their attributes, visible text, embedded data. Unbalanced tags are errors."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self.feed(markup)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1:] == [tag], f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        inside = self.open[-1] if self.open else ""
        if inside == "script":
            self.scripts.append(data)
        elif inside != "style":
            self.text += data

    def count(self, tag: str, **attributes: str) -> int:
        wanted = {("class" if name == "kind" else name): value for name, value in attributes.items()}
        return sum(name == tag and wanted.items() <= found.items() for name, found in self.elements)

    def data(self, index: int = 0) -> Any:
        return json.loads([one for one in self.scripts if one.startswith("{")][index])


def assert_self_contained(markup: str) -> None:
    """Nothing is fetched: pictures are held inside, and an element may only refer to another of the same document."""
    held = re.sub(r"data:image/png;base64,[A-Za-z0-9+/=]+", "data:", markup.replace("http://www.w3.org/2000/svg", ""))
    held = held.replace("url(data:)", "").replace(' src="data:"', "").replace(' href="data:"', "")
    held = re.sub(r' href="#[\w-]+"', "", held)
    assert not re.search(r"https?://|url\(|@import", held)
    assert not re.search(r"<(link|iframe|object|embed)\b|<[a-z][^<>]*\s(src|href|srcset)=", held)
