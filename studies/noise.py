"""Sounds in noise: as loud, by so many decibels, as a voice, and of its colour; the same noise every time.

Noise has the mean spectrum of some recordings, each frequency with a phase that is drawn, so that it covers a voice everywhere
alike. How loud a voice is, is measured while somebody speaks.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]

_LOUDEST = 0.99


def mean_spectrum(recordings: Sequence[Samples], size: int) -> Samples:
    """The root of the mean power of each frequency, of recordings that are cut or filled up to `size` samples."""
    powers = [np.abs(np.fft.rfft(one, size)) ** 2 for one in recordings]
    root: Samples = np.sqrt(np.mean(powers, axis=0)).astype(np.float32)
    return root


def noise_of(spectrum: Samples, size: int, seed: Sequence[int]) -> Samples:
    """So many samples of noise of a spectrum, with a mean power of 1."""
    phases = np.random.default_rng(seed).uniform(0, 2 * np.pi, len(spectrum))
    waves = np.fft.irfft(spectrum * np.exp(1j * phases))
    repeated = np.resize(waves, size)
    made: Samples = (repeated / np.sqrt(np.mean(repeated**2))).astype(np.float32)
    return made


def in_noise(voice: Samples, spoken: slice, noise: Samples, decibels: float) -> Samples:
    """A voice with noise that is quieter, by so much, than the voice is while it speaks."""
    power = float(np.mean(voice[spoken].astype(np.float64) ** 2))
    mixed: Samples = (voice + noise * np.sqrt(power / 10 ** (decibels / 10))).astype(np.float32)
    return mixed


def within_bounds(samples: Samples) -> Samples:
    """All of a sound quieter, if its loudest samples would be cut off in a file."""
    fitting: Samples = samples * np.float32(min(1.0, _LOUDEST / max(float(np.abs(samples).max()), _LOUDEST)))
    return fitting
