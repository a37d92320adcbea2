"""Sources that are recordings."""

import statistics
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from seqloom.data.examples import Origin
from seqloom.data.kinds.contract import Player, Renderer
from seqloom.data.kinds.files import FileKind
from seqloom.data.media.files import PLAYED, Frontend, HandedFile, Media, MediaError, PlayedSound
from seqloom.data.media.sounds import SoundRows, check_header, samples_of, sound_facts, spoken_length, wav
from seqloom.data.media.spectra import Spectra
from seqloom.recipe.sections import SoundSource

_QUIET_COLOUR, _LOUD_COLOUR = np.array([243.0, 246.0, 249.0]), np.array([10.0, 50.0, 96.0])
"""Of spectrograms: red, green and blue."""
_SYMBOLS_PER_SECOND = 25
"""Hardly anybody speaks faster, counted in characters."""
_HURRIED = 40
"""So many a second are a mistake."""
_SILENT, _CLIPPED, _MUCH_CLIPPED = 0.003, 0.999, 0.001
"""Samples that are never so loud are silence; those as loud as this have been cut off, and so large a share matters."""


class SoundKind(FileKind[SoundSource]):
    """Recordings, each as long as it is."""

    section_type = SoundSource
    usual_name = "sound"
    noun = "sound"
    endings = frozenset(
        {".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".m4a", ".aac", ".aif", ".aiff", ".wma", ".sph", ".au"}
    )  # also of kinds that have to be converted first: a model that is given their names would learn letters
    metric = "wer"
    extra = ("soundfile", "audio")
    refusals: ClassVar[Mapping[str, str]] = {
        "not-a-sound": "files are not sounds of a known kind",
        "empty-sound": "sounds are empty",
        "truncated-sound": "sounds break off, or their header promises more than they hold",
        "enormous-sound": "sounds are too long to be decoded",
        "undecodable-sound": "sounds cannot be decoded",
    }

    def trouble_in(self, media: Media) -> str | None:
        """What its header tells: kind, length and rate."""
        return None if isinstance(media, PlayedSound) else check_header(media)

    def find(self, name: str, origin: Origin) -> Media:
        """The file of a name; a melody such as `tones:12` is the same everywhere."""
        if isinstance(name, HandedFile) or not self.is_named(name):
            return super().find(name, origin)
        from seqloom.data.builtin.tones import MelodyRoot

        return MelodyRoot().resolve(name)

    @classmethod
    def is_named(cls, place: str) -> bool:
        """Whether it is a melody."""
        return place.startswith(PLAYED)

    @property
    def row_seconds(self) -> float:
        """The recipe's step."""
        return self.section.step / 1000

    @property
    def row_overlap(self) -> float:
        """Windows are longer than steps."""
        return (self.section.window - self.section.step) / 1000

    def excess(self, media: Media) -> str | None:
        """How many seconds it has, if that is more than the recipe's."""
        seconds = sound_facts(media).seconds
        if seconds <= self.section.longest:
            return None
        return (
            f"expected a sound of at most {spoken_length(self.section.longest)} (`longest` in the recipe), found "
            f"{spoken_length(seconds)}. Cut it, or let `seqloom transcribe` do so"
        )

    def symbols(self, media: Media) -> int:
        """As many as can be said in its time."""
        return 1 + round(_SYMBOLS_PER_SECOND * sound_facts(media).seconds)

    def weaknesses(self, media: Media, target: str, *, sized: bool) -> dict[str, str]:
        """Silence, clipping, more words than its time has room for; a rate or a length that does not fit the recipe."""
        facts = sound_facts(media)
        samples = np.abs(samples_of(media, facts.rate))
        loudest, clipped = float(samples.max(initial=0.0)), float((samples >= _CLIPPED).mean())
        found = {
            "silent-sounds": loudest < _SILENT and f"at its loudest, {loudest:.4f} of what it could be",
            "clipped-sounds": clipped > _MUCH_CLIPPED and f"{100 * clipped:.2g} % of its samples",
            "hurried-sounds": len(target) > _HURRIED * facts.seconds
            and f"{len(target)} characters in {spoken_length(facts.seconds)}",
            "low-sounds": sized and facts.rate < self.section.rate and f"{facts.rate:,} samples a second",
            "long-sounds": sized and facts.seconds > self.section.longest and spoken_length(facts.seconds),
        }
        return {code: text for code, text in found.items() if isinstance(text, str)}

    def advice(self, code: str) -> str:
        """What is poor about several sounds, and what to do about it."""
        return {
            "silent-sounds": "are silent: nothing can be learnt from them. Record them again, or leave them out",
            "clipped-sounds": "are clipped: they were recorded too loud, and part of them is lost. Record them again",
            "hurried-sounds": "are too short for what is said to be in them: look for a wrong transcript or a cut recording",
            "low-sounds": f"have fewer than the recipe's {self.section.rate:,} samples a second: their highest bands are "
            "empty. Choose a lower rate if most have one",
            "long-sounds": f"are longer than the recipe's {self.section.longest:g} seconds, and left out of training: cut "
            "them, or raise `longest`",
        }[code]

    def frontend(self, threads: int = 1) -> SoundRows:
        """Energies in bands."""
        return SoundRows(Spectra.of(self.section), threads)

    def at_speed(self, frontend: Frontend, speed: float) -> Frontend:
        """Faster ones are higher, too."""
        return replace(frontend, speed=speed) if isinstance(frontend, SoundRows) else frontend

    def renderer(self, media: Media) -> Renderer:
        """A spectrogram: time from left to right, low bands at the bottom, loud ones dark."""

        def drawn() -> npt.NDArray[np.uint8]:
            spectra = Spectra.of(self.section)
            energies = spectra.log_energies(samples_of(media, spectra.rate)).T[::-1]
            low, high = np.quantile(energies, (0.4, 0.998))
            shares = np.clip((energies - low) / max(float(high - low), 1e-6), 0.0, 1.0)[..., None]
            return np.asarray(_QUIET_COLOUR + shares * (_LOUD_COLOUR - _QUIET_COLOUR), dtype=np.uint8)

        return drawn

    def player(self, media: Media) -> Player:
        """The sound as the model hears it, one channel at the recipe's rate."""
        return lambda: wav(samples_of(media, self.section.rate), self.section.rate)

    @classmethod
    def suggested(cls, files: Sequence[Media], width: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """A rate that most of them have, telephones or microphones; files that cannot be read are told of later."""
        rates = []
        for media in files:
            with suppress(MediaError):
                rates.append(sound_facts(media).rate)
        telephone = bool(rates) and statistics.median(rates) < 16_000
        encoder = {"kind": "pyramid", "convolution": {"channels": [32, 32]}, "size": width, "layers": 2, "dropout": 0.3}
        return {"kind": "sound", "rate": 8_000 if telephone else 16_000}, encoder
