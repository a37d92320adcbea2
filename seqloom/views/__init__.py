"""From predictions and run records to pages and pictures. Knows no model."""

from seqloom.views.drawing.fonts import MissingFontWarning
from seqloom.views.maps.exhibits import Exhibit, Picture
from seqloom.views.maps.files import to_json, write_map
from seqloom.views.maps.heatmap import to_fragment, to_html
from seqloom.views.maps.png import to_png
from seqloom.views.maps.svg import to_svg

__all__ = [
    "Exhibit",
    "MissingFontWarning",
    "Picture",
    "to_fragment",
    "to_html",
    "to_json",
    "to_png",
    "to_svg",
    "write_map",
]
