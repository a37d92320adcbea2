"""Sounds, videos and arrays to attack with, each small and well-formed, and tiny models that read them."""

import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from attacks.ground import Ground, small_recipe, trained

_RATE = 8000
_WIDTH = 3
_SOUNDS = ("WAV", "FLAC", "OGG", "MP3", "matroska")
_VIDEOS = {"mp4": "mpeg4", "avi": "mpeg4", "mkv": "mpeg4", "gif": "gif"}
_FRAMES = {"kind": "pyramid", "size": 4, "layers": 1}


def sound(draw: random.Random) -> bytes:
    """A fifth of a second of a tone and noise."""
    import soundfile

    times = np.arange(_RATE // 5) / _RATE
    noise = np.random.default_rng(draw.getrandbits(32)).normal(0, 0.05, len(times))
    samples = (0.5 * np.sin(2 * np.pi * draw.uniform(200, 2000) * times) + noise).astype(np.float32)
    stream, kind = io.BytesIO(), draw.choice(_SOUNDS)
    if kind == "matroska":
        _write_track(stream, samples)
    else:
        soundfile.write(stream, samples, _RATE, format=kind)
    return stream.getvalue()


def _write_track(stream: io.BytesIO, samples: npt.NDArray[np.float32]) -> None:
    """The sound of a video file."""
    import av

    with av.open(stream, "w", format="matroska") as container:
        track: Any = container.add_stream("pcm_s16le", rate=_RATE, layout="mono")
        frame = av.AudioFrame.from_ndarray((samples * 32767).astype(np.int16)[None], format="s16", layout="mono")
        frame.sample_rate, frame.pts = _RATE, 0
        for packet in (*track.encode(frame), *track.encode(None)):
            container.mux(packet)


def video(draw: random.Random) -> bytes:
    """Six frames of a square that moves."""
    import av

    ending = draw.choice(list(_VIDEOS))
    stream = io.BytesIO()
    with av.open(stream, "w", format={"mkv": "matroska"}.get(ending, ending)) as container:
        track: Any = container.add_stream(_VIDEOS[ending], rate=10)
        track.width, track.height, track.pix_fmt = 32, 24, "rgb8" if ending == "gif" else "yuv420p"
        for number in range(6):
            pixels = np.full((24, 32, 3), 40, np.uint8)
            pixels[8:16, 4 * number : 4 * number + 8] = draw.choices(range(256), k=3)
            container.mux(track.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(track.encode())
    return stream.getvalue()


def array(draw: random.Random) -> bytes:
    """A few rows of numbers, as NumPy saves them."""
    rows = np.random.default_rng(draw.getrandbits(32)).normal(size=(draw.randint(1, 9), _WIDTH))
    stream = io.BytesIO()
    if draw.random() < 0.5:
        np.save(stream, rows.astype(draw.choice(["f4", "f8", "f2"])))
    else:
        np.savez(stream, rows=rows)
    return stream.getvalue()


def ending_of(content: bytes) -> str:
    """An ending for a file of it: archives of arrays are told by theirs, all others by how they begin."""
    return "npz" if content.startswith(b"PK") else "npy"


def sound_run(ground: Ground) -> Path:
    """A model that reads sounds."""
    return _run(ground, "sounds", sound, {"sound": {"kind": "sound", "bands": 8, "rate": _RATE}}, _FRAMES)


def video_run(ground: Ground) -> Path:
    """A model that reads videos."""
    encoder = {"kind": "video", "frames": {"kind": "cnn", "channels": [4], "blocks": 0}}
    return _run(ground, "videos", video, {"video": {"kind": "video", "size": 8, "frames_per_second": None}}, encoder)


def array_run(ground: Ground) -> Path:
    """A model that reads given features."""
    return _run(ground, "arrays", array, {"frames": {"kind": "features", "width": _WIDTH}}, _FRAMES)


def _run(
    ground: Ground, name: str, make: Callable[[random.Random], bytes], sources: dict[str, Any], encoder: dict[str, Any]
) -> Path:
    """A run on a dozen files of a kind; made once."""
    out = ground.folder / name / "run"
    if not out.exists():
        folder, draw = ground.place(name), ground.draw(name)
        lines = []
        for number in range(12):
            content = make(draw)
            name = f"{number}.{ending_of(content)}"
            (folder / name).write_bytes(content)
            lines.append(f"{name}\t{'odd' if number % 2 else 'even'}\n")
        table = folder / "table.tsv"
        table.write_text("".join(lines), encoding="utf-8")
        recipe = small_recipe(table, 2)
        recipe["data"] |= {"sources": sources, "split": {"validation": 0.2, "test": 0.2}}
        recipe["model"]["encoder"] = encoder
        trained(out, recipe)
    return out
