"""Build the documentation into site/, with every link checked, and see to it that no page fetches anything from elsewhere.

python tools/site.py [FOLDER]
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

TOP = Path(__file__).parents[1]
# What a browser fetches by itself. Links that a reader may follow are something else.
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed|object|link)\b[^>]*?"""
    r"""\b(?:src|href|data)=["'](?:https?:)?//[^"']+"""
)
FETCHED_BY_STYLE = re.compile(r"""(?:@import\s+["']?|url\(["']?)(?:https?:)?//[^)"']+""")


def build(folder: Path) -> None:
    """Build the site. A broken link, a page that the navigation lacks or a warning of any kind ends it."""
    # The notice is about another program, and has no place in the output of a build.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if not line.startswith("INFO")]
        sys.exit("the documentation was not built:\n" + "\n".join(said))


def requests(folder: Path) -> Iterator[str]:
    """What pages and styles would fetch from elsewhere."""
    for path in sorted([*folder.rglob("*.html"), *folder.rglob("*.css"), *folder.rglob("*.svg")]):
        text = path.read_text(encoding="utf-8")
        found = FETCHED_BY_STYLE.findall(text) + ([] if path.suffix == ".css" else FETCHED.findall(text))
        yield from (f"{path.relative_to(folder)}: {one}" for one in found)


def main() -> None:
    """Build, look, say where it is."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else TOP / "site").resolve()
    build(folder)
    if outside := list(requests(folder)):
        sys.exit("these pages fetch something from elsewhere:\n" + "\n".join(outside))
    pages = len(list(folder.rglob("*.html")))
    print(f"{pages} pages in {folder}. To read and search them: python -m http.server --directory {folder}")


if __name__ == "__main__":
    main()
