"""What is heard of samples: energies in bands, from NumPy alone, so that a model needs nothing else where it runs."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from seqloom.recipe.sections import SoundSource

Samples = npt.NDArray[np.float32]
"""A sound: one number for each sample, from -1 to 1."""

Spectrum = npt.NDArray[np.float32]
"""Rows of numbers [L, F], one for each step in time."""

_LOWEST = 20.0
"""Hertz. Below, there is hum, and nothing that is said."""
_EMPHASIS = 0.97
"""So much of the sample before is taken from each: speech has far less energy in high bands, which tell consonants apart."""
_FLOOR = 1e-10
"""Silence has some energy, too: its logarithm is a number."""
_STEADY = 1e-3
"""A band that never changes says nothing, and is not blown up to a deviation of 1."""
_TOGETHER = 512
"""So many windows are transformed at once: what is in hand then stays near the processor."""


@dataclass(frozen=True)
class Spectra:
    """Makes rows of samples.

    window, step: in samples. bands: of energy. coefficients: so many of the bands' shape in their place, unless it is None.
    normalise: over the whole recording, as the recipe says.
    """

    rate: int
    window: int
    step: int
    bands: int
    coefficients: int | None
    normalise: Literal["recording", "together", "none"]

    @classmethod
    def of(cls, section: SoundSource) -> "Spectra":
        """What a recipe says."""
        window, step = (max(1, round(section.rate * milliseconds / 1000)) for milliseconds in (section.window, section.step))
        coefficients = section.width if section.features == "mfcc" else None
        return cls(section.rate, window, step, section.bands, coefficients, section.normalise)

    @property
    def key(self) -> str:
        """All that rows depend on. The number counts changes of the arithmetic."""
        what = "bands" if self.coefficients is None else f"{self.coefficients} of bands"
        means = {"recording": "normalised", "together": "normalised together", "none": "plain"}[self.normalise]
        return f"spectra 1 {self.rate} Hz {self.window}/{self.step} {self.bands} {what} {means}"

    @property
    def width(self) -> int:
        """How many numbers a row has."""
        return self.bands if self.coefficients is None else self.coefficients

    def length(self, samples: int) -> int:
        """How many rows so many samples become: windows that lie within them, and one at least."""
        return 1 + max(0, samples - self.window) // self.step

    def rows(self, samples: Samples) -> Spectrum:
        """The rows of a sound, [L, F]."""
        energies = self.log_energies(samples)
        rows = energies if self.coefficients is None else energies @ _cosines(self.bands, self.coefficients)
        return rows if self.normalise == "none" else normalised(rows, together=self.normalise == "together")

    def log_energies(self, samples: Samples) -> Spectrum:
        """Logarithms of the energy in each band, [L, bands]."""
        whole = np.pad(samples, (0, max(0, self.window - len(samples))))
        sharp = np.append(whole[:1] * (1 - _EMPHASIS), whole[1:] - _EMPHASIS * whole[:-1]).astype(np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(sharp, self.window)[:: self.step]
        size = 1 << (self.window - 1).bit_length()
        energies = np.empty((len(windows), self.bands), dtype=np.float32)
        for start in range(0, len(windows), _TOGETHER):
            seen = np.fft.rfft(windows[start : start + _TOGETHER] * self._taper, size)
            power = np.square(seen.real, dtype=np.float32) + np.square(seen.imag, dtype=np.float32)
            energies[start : start + _TOGETHER] = power @ self._filters
        return np.log(np.maximum(energies, _FLOOR))

    @cached_property
    def _taper(self) -> Samples:
        return np.hanning(self.window + 2)[1:-1].astype(np.float32)

    @cached_property
    def _filters(self) -> Spectrum:
        return mel_filters(self.rate, 1 << (self.window - 1).bit_length(), self.bands)


def normalised(rows: Spectrum, *, together: bool = False) -> Spectrum:
    """Rows of which every number has a mean of 0 and a deviation of 1 over the recording; or all together such a deviation."""
    centred = rows - rows.mean(axis=0)
    variance = np.square(centred).mean(axis=None if together else 0)
    return np.asarray(centred / np.sqrt(variance + _STEADY), dtype=np.float32)


@lru_cache(maxsize=8)
def mel_filters(rate: int, size: int, bands: int) -> Spectrum:
    """How much of each frequency of a transform of a size belongs to each band, [size / 2 + 1, bands].

    Bands are triangles, equally wide on the mel scale: about as wide as what an ear tells apart.
    """
    edges = from_mel(np.linspace(to_mel(_LOWEST), to_mel(rate / 2), bands + 2))
    frequencies = np.linspace(0, rate / 2, size // 2 + 1)[:, None]
    rising = (frequencies - edges[:-2]) / np.diff(edges)[:-1]
    falling = (edges[2:] - frequencies) / np.diff(edges)[1:]
    return np.maximum(0.0, np.minimum(rising, falling)).astype(np.float32)


def to_mel(hertz: float) -> float:
    """A frequency on the mel scale."""
    return float(1127.0 * np.log1p(hertz / 700.0))


def from_mel(mels: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Frequencies from the mel scale."""
    return np.asarray(700.0 * np.expm1(mels / 1127.0))


@lru_cache(maxsize=8)
def _cosines(bands: int, coefficients: int) -> Spectrum:
    """The first vectors of the discrete cosine transform (DCT-II, orthonormal), [bands, coefficients]."""
    places = np.pi / bands * (np.arange(bands) + 0.5)[:, None] * np.arange(coefficients)
    scale = np.where(np.arange(coefficients) == 0, np.sqrt(1 / bands), np.sqrt(2 / bands))
    return np.asarray(np.cos(places) * scale, dtype=np.float32)
