"""A drawn picture with things in it, and captions whose attention moves over them."""

from collections.abc import Mapping, Sequence

import numpy as np

from seqloom.results.layouts import Grid
from seqloom.results.predictions import Alignment, Candidate, FloatArray, Prediction
from seqloom.views.drawing.pixels import Pixels
from seqloom.views.maps.exhibits import Box, Exhibit, Picture

from . import samples

GRID = (8, 10)
HEIGHT, WIDTH = 240, 300

BOXES: Mapping[str, Sequence[Box]] = {
    "sun": [(206, 22, 254, 70)],
    "house": [(40, 92, 124, 196)],
    "ball": [(180, 158, 230, 208)],
}
PLACES = {
    "sun": (1.0, 7.2),
    "house": (4.6, 2.2),
    "red": (5.6, 6.4),
    "ball": (5.8, 6.4),
    "beside": (5.4, 4.4),
    "under": (2.6, 5.4),
}
"""Where on the grid a word looks, (row, column); a word that is not here looks everywhere."""


def scene() -> Pixels:
    """A sky that pales towards the ground, a sun, a house and a red ball."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    sky = np.stack([110 + y * 0.55, 165 + y * 0.3, np.full_like(y, 232)], axis=-1)
    ground = np.stack([118 - y * 0.15, 168 - y * 0.2, 84 - y * 0.1], axis=-1)
    drawn = np.where((y > 168 + 10 * np.sin(x / 42))[..., None], ground, sky)
    for centre, radius, colour in (((46, 230), 24, (250, 214, 84)), ((183, 205), 25, (206, 48, 44))):
        distance = np.hypot(y - centre[0], x - centre[1])
        shading = 1.0 - 0.3 * np.clip((x - centre[1] + y - centre[0]) / (2 * radius), 0, 1)
        drawn = np.where((distance < radius)[..., None], shading[..., None] * np.array(colour), drawn)
    drawn[130:196, 48:116] = (226, 208, 180)
    drawn = np.where(((y >= 92) & (y < 130) & (abs(x - 82) < (y - 92) * 1.1))[..., None], (150, 70, 52), drawn)
    drawn[156:196, 74:92] = (96, 66, 48)
    drawn[140:154, 54:68] = (120, 160, 196)
    return np.clip(drawn, 0, 255).astype(np.uint8)


def looking(tokens: Sequence[str], *, heads: int = 1, hard: bool = False) -> FloatArray:
    """Weights [H, T, S]: each word looks at its place, later heads a little beside it; hard: at one cell only."""
    y, x = np.mgrid[: GRID[0], : GRID[1]]
    weights = np.empty((heads, len(tokens), GRID[0] * GRID[1]))
    for head in range(heads):
        for step, token in enumerate(tokens):
            row, column = PLACES.get(token, (3.5, 4.5))
            width = 0.9 if token in PLACES else 6.0
            near = np.exp(-((y - row - head * 0.4) ** 2 + (x - column - head * 0.7) ** 2) / (2 * width**2)) + 2e-3
            weights[head, step] = (near / near.sum()).ravel()
    if hard:
        weights = np.eye(weights.shape[-1])[weights.argmax(axis=-1)]
    return weights.astype(np.float32)


def picture_alignment(tokens: Sequence[str], *, heads: int = 1, hard: bool = False) -> Alignment:
    places = [f"{row + 1},{column + 1}" for row in range(GRID[0]) for column in range(GRID[1])]
    return Alignment(looking(tokens, heads=heads, hard=hard), tuple(places), ((0, 0),) * len(places), Grid(*GRID))


def captioned(text: str, *, heads: int = 1, hard: bool = False, seed: int = 0) -> Candidate:
    tokens = [*text.split(), "<end>"]
    return samples.candidate(text, tokens, seed=seed, image=picture_alignment(tokens, heads=heads, hard=hard))


def caption(
    *texts: str, heads: int = 1, hard: bool = False, label: str = "", boxes: Mapping[str, Sequence[Box]] | None = None
) -> Exhibit:
    """Captions of the scene, best first."""
    found = [captioned(text, heads=heads, hard=hard, seed=seed) for seed, text in enumerate(texts)]
    prediction = Prediction({"image": "scene.png"}, found[0], tuple(found[1:]))
    return Exhibit(prediction, {"image": Picture(scene(), boxes or {})}, label)


def answer() -> Exhibit:
    """A question about the scene, answered."""
    tokens = ("red", "ball", "<end>")
    question = "what lies beside the house ?"
    best = samples.candidate(
        "red ball", tokens, image=picture_alignment(tokens, heads=2), question=samples.word_alignment(question, len(tokens))
    )
    return Exhibit(Prediction({"image": "scene.png", "question": question}, best), {"image": Picture(scene(), BOXES)})
