"""Draw the rooms of the package and who imports whom, from the imports themselves, and print how deep and how full they are.

python tools/rooms.py [--svg FILE] [--at COMMIT]          --at: the numbers of another commit
"""

import argparse
import ast
import html
import subprocess
import tarfile
import tempfile
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from itertools import pairwise
from pathlib import Path

TOP = Path(__file__).parents[1]
PACKAGE = "seqloom"
FRONT = "top of the package"
"""Stands for the modules that are in no room."""

Graph = Mapping[str, frozenset[str]]
"""What each module, or room, imports."""

WIDTH, HEIGHT, GAP, ROW = 280, 116, 20, 160


@dataclass(frozen=True)
class House:
    """The modules of a package. sources: their text by dotted name; imports: of other modules, when they are imported."""

    sources: Mapping[str, str]
    imports: Graph

    @classmethod
    def at(cls, folder: Path) -> "House":
        """Read the package in a folder."""
        files = {_dotted(path.relative_to(folder)): path for path in sorted((folder / PACKAGE).rglob("*.py"))}
        sources = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
        imports = {name: frozenset(_imported(name, text, sources)) - {name} for name, text in sources.items()}
        return cls(sources, imports)

    @property
    def lines(self) -> int:
        """Of all modules."""
        return sum(text.count("\n") for text in self.sources.values())

    def room_of(self, module: str) -> str:
        """The room of a module: the package right below the top one."""
        parts = module.split(".")
        return parts[1] if len(parts) > 1 and f"{PACKAGE}.{parts[1]}" in self.packages else FRONT

    @property
    def packages(self) -> dict[str, str]:
        """What each package says of itself, in its first sentence."""
        inner = {name.rpartition(".")[0] for name in self.sources}
        return {name: _sentence(self.sources[name]) for name in sorted(inner & self.sources.keys())}

    def rooms(self) -> Graph:
        """Which room imports which, also inside functions."""
        found: dict[str, set[str]] = {self.room_of(module): set() for module in self.sources}
        for module, text in self.sources.items():
            found[self.room_of(module)] |= {self.room_of(one) for one in _imported(module, text, self.sources, inside=True)}
        return {room: frozenset(others - {room, FRONT}) for room, others in found.items() if room != FRONT}

    def files_at_the_top(self) -> dict[str, int]:
        """How many modules each package holds itself, beside its door; without those of the rooms inside it."""
        counts = dict.fromkeys(self.packages, 0)
        for module in self.sources.keys() - self.packages.keys():
            counts[module.rpartition(".")[0]] += 1
        return counts

    def longest_chain(self) -> list[str]:
        """The longest way from module to module along imports."""

        @cache
        def chain(module: str) -> tuple[str, ...]:
            further = [chain(one) for one in sorted(self.imports[module])]
            longest: tuple[str, ...] = max(further, key=len) if further else ()
            return (module, *longest)

        chains = [chain(module) for module in sorted(self.sources)]
        longest = max(chains, key=len)
        return list(longest)


def _dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _sentence(text: str) -> str:
    return (ast.get_docstring(ast.parse(text)) or "").split("\n")[0].split(". ")[0].rstrip(".")


def _imported(module: str, text: str, known: Mapping[str, str], *, inside: bool = False) -> Iterator[str]:
    """The modules of the package that a module imports. inside: in functions too; never what type checkers alone see."""
    for node in _statements(ast.parse(text), inside=inside):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                longer = f"{node.module}.{alias.name}"
                yield from (one for one in (longer if longer in known else node.module,) if one in known and one != module)


def _statements(node: ast.AST, *, inside: bool) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        if inside or not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _statements(child, inside=inside)


# --- the picture ----------------------------------------------------------------------------------------------------


def levels(rooms: Graph) -> dict[str, int]:
    """How high each room is above the lowest: one more than the highest that it imports."""

    @cache
    def level(room: str) -> int:
        return 1 + max((level(one) for one in rooms[room]), default=-1)

    return {room: level(room) for room in rooms}


def direct(rooms: Graph) -> dict[str, set[str]]:
    """Imports that no way through other rooms stands for."""

    @cache
    def below(room: str) -> frozenset[str]:
        return rooms[room].union(*(below(one) for one in rooms[room]))

    return {room: {one for one in others if not any(one in below(other) for other in others)} for room, others in rooms.items()}


def picture(house: House) -> str:
    """The rooms as SVG: who imports stands above, and a line leads to what it imports."""
    rooms = house.rooms()
    height_of = levels(rooms)
    edges = [(room, one) for room, others in sorted(direct(rooms).items()) for one in sorted(others)]
    ways = {edge: _way(*edge, height_of) for edge in edges}
    rows = _ordered(
        [[one for one in height_of if height_of[one] == level] for level in range(max(height_of.values()) + 1)], ways
    )
    width = max(map(_row_width, rows)) + 2 * GAP
    centres = {}
    for level, row in enumerate(rows):
        left = (width - _row_width(row)) / 2
        for one in row:
            centres[one] = (left + _width(one) / 2, GAP + (len(rows) - 1 - level) * ROW)
            left += _width(one) + GAP
    height = (len(rows) - 1) * ROW + HEIGHT + 2 * GAP
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" role="img">',
            "<title>The rooms of seqloom: each imports from those below it</title>",
            f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>',
            *(_line([centres[one] for one in (start, *way, end)]) for (start, end), way in ways.items()),
            *(_box(room, *centres[room], house) for room in rooms),
            "</svg>\n",
        ]
    )


def _way(start: str, end: str, height_of: Mapping[str, int]) -> list[str]:
    """The gaps between boxes that a line over several rows goes through, from above."""
    return [f"{start}>{end}@{level}" for level in range(height_of[start] - 1, height_of[end], -1)]


def _ordered(rows: list[list[str]], ways: Mapping[tuple[str, str], list[str]]) -> list[list[str]]:
    """Rows with the gaps in them, each ordered by where its neighbours are, so that few lines cross."""
    neighbours: dict[str, list[str]] = {}
    for (start, end), way in ways.items():
        for gap in way:
            rows[int(gap.rpartition("@")[2])].append(gap)
        for one, other in zip((start, *way), (*way, end), strict=True):
            neighbours.setdefault(one, []).append(other)
            neighbours.setdefault(other, []).append(one)
    for _ in range(12):
        place = {one: (index + 0.5) / len(row) for row in rows for index, one in enumerate(row)}
        for row in rows:
            row.sort(
                key=lambda one: sum(place[other] for other in neighbours.get(one, [one])) / len(neighbours.get(one, [one]))
            )
    return rows


def _width(one: str) -> float:
    return 8 if "@" in one else WIDTH


def _row_width(row: list[str]) -> float:
    return sum(map(_width, row)) + GAP * (len(row) - 1)


def _line(points: list[tuple[float, float]]) -> str:
    """From the bottom of one box, through gaps beside others, to the top of another."""
    (x, top), *gaps, (to, into) = points
    stops = [(x, top + HEIGHT), *((left, y + end) for left, y in gaps for end in (0, HEIGHT)), (to, into)]
    path = f"M {x:g} {top + HEIGHT:g}"
    for number, ((before, above), (after, below)) in enumerate(pairwise(stops)):
        bend = 0 if number % 2 else (below - above) / 2
        path += f" C {before:g} {above + bend:g} {after:g} {below - bend:g} {after:g} {below:g}"
    return f'<path d="{path}" fill="none" stroke="#8fa0b2" stroke-width="1.5"/>'


def _box(room: str, centre: float, top: float, house: House) -> str:
    name, left = f"{PACKAGE}.{room}", centre - WIDTH / 2
    inner = [one.removeprefix(f"{name}.") for one in house.packages if one.startswith(f"{name}.") and one.count(".") == 2]
    rooms = textwrap.wrap(", ".join(inner), 34)
    said = textwrap.shorten(house.packages[name], 33 * (4 - len(rooms)), placeholder=" …")
    lines = [*((line, "#33424f") for line in textwrap.wrap(said, 34)), *((line, "#8a5a00") for line in rooms)]
    text = [f'<text x="{left + 12:g}" y="{top + 25:g}" font-size="20" font-weight="bold" fill="#16324f">{room}</text>']
    for number, (line, colour) in enumerate(lines):
        place = f'x="{left + 12:g}" y="{top + 47 + 18 * number:g}"'
        text.append(f'<text {place} font-size="15" fill="{colour}">{html.escape(line)}</text>')
    frame = f'<rect x="{left:g}" y="{top:g}" width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#eef4fa" stroke="#5b7fa3"/>'
    return "\n".join([frame, *text])


# --- the numbers ----------------------------------------------------------------------------------------------------


def numbers(house: House) -> str:
    """What can be counted, as lines."""
    chain = house.longest_chain()
    files = house.files_at_the_top()
    fullest = ", ".join(f"{name.removeprefix(f'{PACKAGE}.')} {count}" for name, count in sorted(files.items()) if count)
    return "\n".join(
        [
            f"{len(house.sources)} modules, {house.lines:,} lines",
            f"longest chain of imports: {len(chain)} modules",
            *textwrap.wrap(
                " > ".join(one.removeprefix(f"{PACKAGE}.") for one in chain), 118, initial_indent="  ", subsequent_indent="  "
            ),
            "files at the top of each room, without its door:",
            *textwrap.wrap(fullest, 118, initial_indent="  ", subsequent_indent="  "),
        ]
    )


def main() -> None:
    """Print the numbers, of the files here or of a commit, and draw the picture if a file is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--svg", type=Path)
    parser.add_argument("--at", metavar="COMMIT")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if asked.at:
            packed = subprocess.run(["git", "archive", asked.at, PACKAGE], cwd=TOP, capture_output=True, check=True).stdout
            with tarfile.open(fileobj=BytesIO(packed)) as archive:
                archive.extractall(folder, filter="data")
        house = House.at(Path(folder) if asked.at else TOP)
    print(numbers(house))
    if asked.svg:
        asked.svg.write_text(picture(house), encoding="utf-8")


if __name__ == "__main__":
    main()
