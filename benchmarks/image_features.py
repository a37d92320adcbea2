"""How many images a second a frozen network sees: the bare network on random pixels, and our frontend on files.

    python benchmarks/image_features.py images.zip [--images 400] [--features last] [--seconds 4]

The bare network (channels last, one process) is measured over batch sizes and numbers of threads, and its best rate counts;
the frontend reads, decodes and resizes JPEG files of a folder or an archive as well, with as many threads as there are.
Both are the median of several turns that they take in alternation, because clocks and neighbours change. Prints JSON, and a
line in words.
"""

import argparse
import json
import statistics
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from seqloom.data.media.files import Frontend, Media, MediaRoot
from seqloom.data.media.images import ImagePixels
from seqloom.models.encoders.efficientnet import EfficientNetLite0
from seqloom.models.encoders.frontends import build_frontend
from seqloom.models.encoders.frozen_features import frozen_network
from seqloom.recipe.sections import EfficientNetLite0Encoder, ImageSource

SIDE = 224
BATCHES = (1, 2, 4, 8, 16, 32)
ENDINGS = (".jpg", ".jpeg")


def first_files(place: Path, count: int) -> list[Media]:
    """The first JPEG files of a folder or a .zip, by name."""
    if place.is_dir():
        names = sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.suffix.lower() in ENDINGS)
    else:
        with zipfile.ZipFile(place) as archive:
            names = sorted(name for name in archive.namelist() if name.lower().endswith(ENDINGS))
    root = MediaRoot.open(place)
    return [root.resolve(name) for name in names[:count]]


def bare_rate(network: EfficientNetLite0, batch: int, threads: int, seconds: float) -> float:
    """Images a second of the network alone."""
    torch.set_num_threads(threads)
    pixels = torch.randn(batch, SIDE, SIDE, 3).permute(0, 3, 1, 2)
    return rate_of(lambda: network(pixels), batch, seconds)


@torch.inference_mode()
def rate_of(work: Callable[[], Tensor], images: int, seconds: float) -> float:
    """Images a second of work on so many images, repeated for a while after a first time that does not count."""
    work()
    begun, done = time.perf_counter(), 0
    while time.perf_counter() - begun < seconds:
        work()
        done += images
    return done / (time.perf_counter() - begun)


def frontend_rate(frontend: Frontend, files: Sequence[Media]) -> float:
    """Images a second from files to features."""
    begun = time.perf_counter()
    count = sum(1 for _ in frontend.arrays(files))
    return count / (time.perf_counter() - begun)


def decoding_rate(pixels: ImagePixels, files: Sequence[Media]) -> float:
    """Images a second from files to pixels, in one thread."""
    begun = time.perf_counter()
    for media in files:
        pixels.array(media)
    return len(files) / (time.perf_counter() - begun)


def measure(files: Sequence[Media], section: EfficientNetLite0Encoder, seconds: float, turns: int) -> dict[str, object]:
    """Find the best setting of the bare network, then let it and the frontend take turns."""
    most = torch.get_num_threads()
    network = frozen_network(section.features)
    grid = {
        f"{batch} x {threads}": bare_rate(network, batch, threads, seconds)
        for threads in range(1, most + 1)
        for batch in BATCHES
    }
    best = max(grid, key=lambda setting: grid[setting])
    batch, threads = map(int, best.split(" x "))
    torch.set_num_threads(most)
    source = ImageSource(size=SIDE)
    frontend, pixels = build_frontend(source, section, threads=most), ImagePixels(SIDE, SIDE)
    frontend_rate(frontend, files[:16])  # the weights are read, the files' index too
    bare, ours = [], []
    for _ in range(turns):
        bare.append(bare_rate(network, batch, threads, seconds))
        torch.set_num_threads(most)
        ours.append(frontend_rate(frontend, files))
    rates = statistics.median(bare), statistics.median(ours)
    return {
        "torch": torch.__version__,
        "threads": most,
        "features": section.features,
        "images": len(files),
        "bare_by_batch_and_threads": {setting: round(rate, 1) for setting, rate in grid.items()},
        "bare_best_setting": best,
        "bare_images_per_second": round(rates[0], 1),
        "decoding_images_per_second_and_thread": round(decoding_rate(pixels, files), 1),
        "frontend_images_per_second": round(rates[1], 1),
        "share": round(rates[1] / rates[0], 3),
    }


def main() -> None:
    """Measure on the files that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("place", type=Path, help="a folder or a .zip of JPEG files")
    parser.add_argument("--images", type=int, default=400, help="how many of them, the first by name")
    parser.add_argument("--features", choices=("last", "middle"), default="last")
    parser.add_argument("--seconds", type=float, default=4.0, help="for each setting of the bare network")
    parser.add_argument("--turns", type=int, default=3)
    wanted = parser.parse_args()
    section = EfficientNetLite0Encoder(features=wanted.features)
    found = measure(first_files(wanted.place, wanted.images), section, wanted.seconds, wanted.turns)
    print(json.dumps(found, indent=2))
    print(
        f"{found['frontend_images_per_second']} images/s from files to features, {found['bare_images_per_second']} by the bare "
        f"network at its best (batch x threads: {found['bare_best_setting']}): {100 * float(str(found['share'])):.0f} %"
    )


if __name__ == "__main__":
    main()
