"""Samples from a microphone, where the library for it is there (sounddevice)."""

from collections.abc import Callable

import numpy as np

from seqloom.data.media.spectra import Samples
from seqloom.errors import UsageError


def listen(seconds: float, rate: int, *, begins: Callable[[], None]) -> Samples:
    """Listen for so long. begins: is called once it does. Raises `UsageError` where nothing can be heard."""
    try:
        import sounddevice
    except (ImportError, OSError) as problem:  # OSError: PortAudio itself is missing
        raise UsageError(
            f"--microphone needs the library sounddevice, which cannot be used here ({problem}). "
            "Install it (pip install sounddevice), or record into a file and name it"
        ) from problem
    begins()
    try:
        heard = sounddevice.rec(round(seconds * rate), samplerate=rate, channels=1, dtype="float32", blocking=True)
    except Exception as problem:  # PortAudio's errors have a type of their own
        raise UsageError(f"--microphone: nothing can be recorded here ({problem}). Record into a file and name it") from problem
    return np.asarray(heard, dtype=np.float32)[:, 0]
