"""Views as data, for pages whose scripts make elements of it."""

import json
from typing import Any

from seqloom.results.search_tree import Branch, FoundOutput, SearchTree
from seqloom.views.charts.tree import tree_drawing
from seqloom.views.drawing.elements import as_elements
from seqloom.views.drawing.page import script
from seqloom.views.maps.heatmap import SCRIPTS, drawing

from . import pictures, samples

HARMFUL = "<script>alert(1)</script> & \"'"


def texts(element: list[Any]) -> str:
    return "".join(one if isinstance(one, str) else texts(one) for one in element[2])


def names(element: list[Any]) -> set[str]:
    return {element[0]}.union(*(names(one) for one in element[2] if not isinstance(one, str)))


def test_markup_is_data_with_texts_as_they_are() -> None:
    assert as_elements('<p class="a">x &lt; y<b dir="auto">z</b>!</p>') == [
        "p",
        {"class": "a"},
        ["x < y", ["b", {"dir": "auto"}, ["z"]], "!"],
    ]


def test_a_map_as_data_leaves_the_drawing_to_the_script() -> None:
    found = drawing(samples.characters(HARMFUL, HARMFUL, "other"))
    assert texts(found["markup"]).count(HARMFUL) == 3  # the source, the output, its line among the candidates
    assert not {"script", "svg", "img"} & names(found["markup"])
    assert [one["text"] for one in found["data"]["candidates"]] == [HARMFUL, "other"]
    json.dumps(found, allow_nan=False)


def test_what_has_no_attention_says_so_as_data() -> None:
    assert "This model has no attention" in texts(drawing(samples.without_attention())["markup"])


def test_a_look_at_a_picture_is_data_too() -> None:
    found = drawing(pictures.answer())
    assert found["data"]["lighting"]
    assert "ol" in names(found["markup"])
    assert "img" not in names(found["markup"])


def test_the_nodes_of_a_tree_are_numbered_through_all_steps() -> None:
    def branch(symbol: str, parent: int, *, kept: bool) -> Branch:
        return Branch(symbol, parent, -0.5, -0.5, "kept" if kept else "pruned", "a reason", chosen=kept)

    steps = ((branch("a", -1, kept=True), branch("<b>", -1, kept=False)), (branch("c", 0, kept=True),))
    tree = SearchTree({"source": "x"}, 1, 1.0, steps, (FoundOutput("ac", -0.5, -1.0, 2, True),), ("ac", -1.0))
    nodes = [one for one in tree_drawing(tree)[2] if one[1].get("class") == "node"]
    assert [one[1]["data-index"] for one in nodes] == ["0", "1", "2"]
    assert texts(nodes[1]).startswith("<b>: pruned; a reason")


def test_modules_become_one_script() -> None:
    code = script(SCRIPTS)
    lines = code.splitlines()
    assert lines[0] == "(() => {"
    assert not any(line.startswith(("import ", "export ")) for line in lines)
    assert "class HeatMap" in code
