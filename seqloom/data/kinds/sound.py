"""Sources that are recordings."""

import statistics
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar

from seqloom.data.kinds.files import FileKind
from seqloom.data.media.files import Media, MediaError
from seqloom.data.media.sounds import SoundRows, check_header, sound_facts, spoken_length
from seqloom.data.media.spectra import Spectra
from seqloom.recipe.sections import SoundSource

_SYMBOLS_PER_SECOND = 25
"""Nobody speaks faster, counted in characters."""


class SoundKind(FileKind[SoundSource]):
    """Recordings, each as long as it is."""

    section_type = SoundSource
    usual_name = "sound"
    noun = "sound"
    endings = frozenset(
        {".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".m4a", ".aac", ".aif", ".aiff", ".wma", ".sph", ".au"}
    )  # also of kinds that have to be converted first: a model that is given their names would learn letters
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
        return check_header(media)

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

    def frontend(self, threads: int = 1) -> SoundRows:
        """Energies in bands."""
        return SoundRows(Spectra.of(self.section), threads)

    @classmethod
    def suggested(cls, files: Sequence[Media], width: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """A rate that most of them have, telephones or microphones; files that cannot be read are told of later."""
        rates = []
        for media in files:
            with suppress(MediaError):
                rates.append(sound_facts(media).rate)
        telephone = bool(rates) and statistics.median(rates) < 16_000
        return {"kind": "sound", "rate": 8_000 if telephone else 16_000}, {"kind": "pyramid", "size": width}
