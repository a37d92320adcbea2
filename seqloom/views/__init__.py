"""From predictions and run records to pages and pictures. Knows no model."""

from seqloom.views.exhibits import Exhibit, Picture
from seqloom.views.fonts import MissingFontWarning
from seqloom.views.heatmap import to_fragment, to_html
from seqloom.views.maps import to_json, write_map
from seqloom.views.png import to_png
from seqloom.views.svg import to_svg

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
