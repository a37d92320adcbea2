"""What the site has beyond docs/: two pages from the top of the repository, and plain names for what only a clone has."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

TOP = Path(__file__).parents[1]
PAGES = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}
LINK = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+)([^)#]+)(#[^)]*)?\)")


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Add the pages that stand at the top of the repository."""
    from mkdocs.structure.files import File

    for name, origin in PAGES.items():
        text = (TOP / origin).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=_seen_from_docs(text)))
    return files


def _seen_from_docs(text: str) -> str:
    for name, origin in PAGES.items():
        text = text.replace(f"]({origin})", f"]({name})")
    return text.replace("](docs/", "](")


def on_page_markdown(markdown: str, page: "object", **_: object) -> str:
    """Let links to those pages lead to them. A link to code, which the site does not have, becomes the code's name."""
    folder = (TOP / "docs" / page.file.src_uri).parent  # type: ignore[attr-defined]
    return LINK.sub(lambda found: _link(found, folder), markdown)


def _link(found: re.Match[str], folder: Path) -> str:
    words, up, name, anchor = found[1], found[2], found[3], found[4] or ""
    target = (folder / f"{up}{name}").resolve()
    if target.is_relative_to(TOP / "docs"):
        return found[0]
    pages = {origin: page for page, origin in PAGES.items()}
    if target.name in pages and target.parent == TOP:
        # One step less: the page is where docs/ begins.
        return f"[{words}]({up.removesuffix('../')}{pages[target.name]}{anchor})"
    return f"`{target.relative_to(TOP).as_posix()}`" if words.startswith("`") else words
