"""Recordings: files of many kinds become samples of one channel and one rate.

What comes from outside is not trusted. The kinds of files that are decoded are a closed list, lengths are checked in the header
before anything is decoded, and a file that breaks off is refused, not filled up.

Channels are mixed to one, and other rates are resampled, piece by piece: a recording takes the memory of its result.
"""

import io
import itertools
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import numpy.typing as npt

from seqloom.data.examples import abbreviated
from seqloom.data.media.containers import demuxer_of, open_container
from seqloom.data.media.files import Media, MediaError, PlayedSound
from seqloom.data.media.spectra import Samples, Spectra
from seqloom.data.media.threads import in_order
from seqloom.errors import MissingExtraError

if TYPE_CHECKING:
    from soundfile import SoundFile

FORMATS = frozenset({"WAV", "WAVEX", "FLAC", "OGG", "MP3"})
"""What libsndfile decodes here. It knows many more."""

LONGEST_SOUND = 2 * 3600
"""How many seconds a recording may have: half a gigabyte at 16 kHz."""

RATES = (1_000, 768_000)
"""Between these lie the rates of all recordings."""

Trouble = Literal["not-a-sound", "empty-sound", "truncated-sound", "enormous-sound", "undecodable-sound"]

_MELODY_RATE = 16_000
"""What melodies are said to have, which can be played at any."""
_BLOCK = 1 << 16
"""So many samples of each channel are decoded at once."""
_UNKNOWN_LENGTHS = (0, 0x7FFFFFFF, 0xFFFFFFFF)
"""What programs write into the header of a recording whose end they do not know yet."""


class SoundProblem(MediaError):  # noqa: N818
    """A file that cannot be used as a recording. The text begins with its name; `code` is stable."""

    def __init__(self, text: str, code: Trouble = "undecodable-sound") -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True)
class SoundFacts:
    """What the header of a recording says. samples: of each channel."""

    rate: int
    channels: int
    samples: int

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.samples / self.rate


class _Decoder(Protocol):
    """An open recording. Blocks are [N, channels]."""

    @property
    def facts(self) -> SoundFacts: ...

    def blocks(self) -> Iterator[npt.NDArray[np.float32]]: ...


def sound_facts(media: Media) -> SoundFacts:
    """What the header of a recording says, once it is found to be sensible. Nothing is decoded."""
    if isinstance(media, PlayedSound):
        return SoundFacts(_MELODY_RATE, 1, round(media.seconds * _MELODY_RATE))
    with _problems_of(media.name):
        return _opened(media).facts


def check_header(media: Media) -> str | None:
    """What is wrong with a recording as far as its header tells: kind, length and rate."""
    try:
        sound_facts(media)
    except MediaError as problem:
        return str(problem)
    return None


def samples_of(media: Media, rate: int, speed: float = 1.0) -> Samples:
    """All of a recording, one channel, resampled. Raises `SoundProblem` if it is not a whole recording of a sensible length.

    speed: at which it is played; higher ones sound higher, too.
    """
    if isinstance(media, PlayedSound):
        return media.play(rate / speed)
    with _problems_of(media.name):
        decoder = _opened(media)
        mixed = _whole(media, decoder)
        played = decoder.facts.rate * speed
        found = mixed if played == rate else _resampled(mixed, played, rate)
        return np.concatenate(list(found))


def _whole(media: Media, decoder: _Decoder) -> Iterator[Samples]:
    """One channel of a recording, block by block. What breaks off is refused at its end."""
    count = 0
    for block in decoder.blocks():
        mixed: Samples = block.mean(axis=1, dtype=np.float32)
        if not np.isfinite(mixed).all():
            first = (count + int(np.argmin(np.isfinite(mixed)))) / decoder.facts.rate
            raise SoundProblem(
                f"{media.name}: expected samples that are numbers, found NaN or infinity {first:.2f} seconds into it. "
                "Save it anew, or remove it from the data"
            )
        count += len(mixed)
        yield mixed
    if count < decoder.facts.samples:
        raise _truncated(media.name, decoder.facts.seconds, count / decoder.facts.rate)


def _resampled(blocks: Iterator[Samples], rate: float, wanted: int) -> Iterator[Samples]:
    """Samples at another rate."""
    from soxr import ResampleStream

    stream = ResampleStream(rate, wanted, 1, dtype="float32")
    for block in blocks:
        yield stream.resample_chunk(block)
    yield stream.resample_chunk(np.zeros(0, np.float32), last=True)


def wav(samples: Samples, rate: int) -> bytes:
    """Samples as a WAV file of 16 bits and one channel."""
    body = (np.clip(samples, -1.0, 1.0) * 32767).astype("<i2").tobytes()
    form = struct.pack("<HHIIHH", 1, 1, rate, 2 * rate, 2, 16)
    return b"".join(
        [
            struct.pack("<4sI4s", b"RIFF", 36 + len(body), b"WAVE"),
            struct.pack("<4sI", b"fmt ", len(form)),
            form,
            struct.pack("<4sI", b"data", len(body)),
            body,
        ]
    )


# --- opening --------------------------------------------------------------------------------------------------------


def _opened(media: Media) -> _Decoder:
    """A recording of which the header was read and found sensible, and nothing else."""
    content = media.read()
    if not content:
        raise SoundProblem(f"{media.name}: expected a sound, found an empty file. Copy or download it again", "empty-sound")
    decoder = _decoder(media.name, content)
    facts = decoder.facts
    if not RATES[0] <= facts.rate <= RATES[1]:
        expected = f"{RATES[0]:,} to {RATES[1]:,} samples a second"
        raise SoundProblem(f"{media.name}: expected {expected}, found {facts.rate:,}. Its header may lie: save it anew")
    if facts.samples == 0:
        raise SoundProblem(f"{media.name}: expected a sound, found one without a sample. Record it again", "empty-sound")
    if facts.seconds > LONGEST_SOUND:
        raise SoundProblem(
            f"{media.name}: expected a sound of at most {spoken_length(LONGEST_SOUND)}, found {spoken_length(facts.seconds)}. "
            "Cut it into pieces",
            "enormous-sound",
        )
    return decoder


def _decoder(name: str, content: bytes) -> _Decoder:
    """What decodes a file, by how it begins."""
    _require_soundfile()
    import soundfile

    if demuxer_of(content) is not None:
        return _SoundTrack(name, content)
    if content[:4] in (b"RIFF", b"RIFX") and content[8:12] == b"WAVE":
        _check_riff(name, content)
    if content[:4] == b"OggS":
        _check_ogg(name, content)
    try:
        opened = soundfile.SoundFile(io.BytesIO(content))
    except (soundfile.LibsndfileError, TypeError) as problem:  # TypeError: raw samples, of which nobody knows the rate
        raise _unknown(name, content) from problem
    if opened.format not in FORMATS:
        raise _unknown(name, content)
    return _SoundFile(opened)


class _SoundFile:
    """A recording that libsndfile decodes."""

    def __init__(self, opened: "SoundFile") -> None:
        self._opened = opened
        self.facts = SoundFacts(opened.samplerate, opened.channels, opened.frames)

    def blocks(self) -> Iterator[npt.NDArray[np.float32]]:
        while len(block := self._opened.read(_BLOCK, dtype="float32", always_2d=True)):
            yield block


class _SoundTrack:
    """The first track of sound in a video file, which PyAV decodes."""

    def __init__(self, name: str, content: bytes) -> None:
        self._container = open_container(name, content, "sound")
        if not self._container.streams.audio:
            raise SoundProblem(f"{name}: expected a video with sound, found one without", "not-a-sound")
        self._track = track = self._container.streams.audio[0]
        if track.codec_context is None:  # PyAV has no decoder for what the header names
            raise SoundProblem(f"{name}: expected sound whose coding is known, found another. Convert it", "not-a-sound")
        length = track.duration * track.time_base if track.duration and track.time_base else 0
        seconds = float(length) or (self._container.duration or 0) / 1_000_000
        self.facts = SoundFacts(track.rate, track.channels, round(seconds * track.rate))

    def blocks(self) -> Iterator[npt.NDArray[np.float32]]:
        from av.audio.resampler import AudioResampler

        same = AudioResampler(format="fltp", layout=self._track.layout, rate=self.facts.rate)
        decoded = itertools.chain(self._container.decode(self._track), [None])
        for frame in (one for part in decoded for one in same.resample(part)):
            yield np.asarray(frame.to_ndarray().T, dtype=np.float32)


def _check_riff(name: str, content: bytes) -> None:
    """Refuse a WAV whose header promises more than the file holds: libsndfile would take what there is."""
    order = "<" if content[:4] == b"RIFF" else ">"
    place, per_second = 12, 0
    while place + 8 <= len(content):
        kind, size = struct.unpack_from(f"{order}4sI", content, place)
        if kind == b"fmt " and place + 20 <= len(content):
            (per_second,) = struct.unpack_from(f"{order}I", content, place + 16)
        if kind == b"data":
            held = len(content) - place - 8
            if size not in _UNKNOWN_LENGTHS and size > held:
                raise _truncated(name, size / max(1, per_second), held / max(1, per_second))
            return
        place += 8 + size + size % 2
    raise _broken_off(name)


def _check_ogg(name: str, content: bytes) -> None:
    """Refuse an OGG file that ends within a page."""
    place = content.rfind(b"OggS")
    header = content[place : place + 27]
    if len(header) == 27:
        table = content[place + 27 : place + 27 + header[26]]
        if len(table) == header[26] and place + 27 + header[26] + sum(table) <= len(content):
            return
    raise _broken_off(name)


def _unknown(name: str, content: bytes) -> SoundProblem:
    found = f"a file that begins with {abbreviated(content[:12])}"
    kinds = "WAV, FLAC, OGG or MP3, or a video with sound"
    text = f"{name}: expected a sound ({kinds}), found {found}. Convert it, or remove it from the data"
    return SoundProblem(text, "not-a-sound")


def _broken_off(name: str) -> SoundProblem:
    text = f"{name}: expected a whole sound, found one that breaks off. Copy or download it again"
    return SoundProblem(text, "truncated-sound")


def _truncated(name: str, promised: float, held: float) -> SoundProblem:
    return SoundProblem(
        f"{name}: expected {promised:.2f} seconds of sound, as its header says, found {held:.2f}. Copy or download it again",
        "truncated-sound",
    )


def spoken_length(seconds: float) -> str:
    """A length of time as one would say it."""
    if seconds < 120:
        return f"{seconds:.3g} seconds"
    return f"{seconds / 60:.3g} minutes" if seconds < 7200 else f"{seconds / 3600:.3g} hours"


@contextmanager
def _problems_of(name: str) -> Iterator[None]:
    """Say in a sentence why a recording cannot be decoded, whatever the decoder stumbled over."""
    try:
        yield
    except (MediaError, MissingExtraError, MemoryError):
        raise
    except Exception as problem:  # decoders raise what they meet
        reason = str(problem) or type(problem).__name__
        if "lost sync" in reason:  # what libsndfile says of a FLAC file that ends too early
            raise _broken_off(name) from problem
        raise SoundProblem(f"{name}: could not be decoded ({reason}). Save it anew, or remove it from the data") from problem


def _require_soundfile() -> None:
    try:
        import soundfile  # noqa: F401
        import soxr  # noqa: F401
    except (ImportError, OSError) as error:  # OSError: libsndfile itself is missing
        raise MissingExtraError("Reading sounds", "audio") from error


# --- rows -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SoundRows:
    """Makes rows of recordings, in half precision. speed: at which they are played.

    threads: how many recordings are decoded at once. It changes nothing but speed.
    """

    spectra: Spectra
    threads: int = 1
    speed: float = 1.0

    @property
    def key(self) -> str:
        """All that rows depend on beside the files."""
        return f"sound {self.spectra.key}{'' if self.speed == 1 else f' at {self.speed:g}'}"

    @property
    def row(self) -> tuple[int, ...]:
        """How many numbers a row has."""
        return (self.spectra.width,)

    def arrays(self, files: Sequence[Media]) -> Iterator[npt.NDArray[np.float16]]:
        """Yield the rows of each file, [L, F]. Raises `SoundProblem` at the first that is no sound."""
        return map(self.array, files) if self.threads == 1 else in_order(self.array, files, threads=self.threads)

    def array(self, media: Media) -> npt.NDArray[np.float16]:
        """The rows of a file, [L, F]."""
        return self.spectra.rows(samples_of(media, self.spectra.rate, self.speed)).astype(np.float16)
