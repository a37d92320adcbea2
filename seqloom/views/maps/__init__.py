"""Attention over texts and pictures: heat maps and strips, as pages, SVG, PNG and JSON."""
