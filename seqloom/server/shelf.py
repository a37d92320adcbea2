"""The models of a server, by name: opened when they are first wanted, and anew when their folders have changed.

Opening takes a thread of its own. While a changed folder is opened, the model of before goes on answering; if what is there now
cannot be opened, it stays.
"""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from seqloom.errors import SeqloomError
from seqloom.prediction.backends import open_model
from seqloom.prediction.language_model import LanguageModel
from seqloom.prediction.predictor import Predictor
from seqloom.runs import RunFolder
from seqloom.server.answers.detection import Profile
from seqloom.server.answers.neighbours import Neighbourhood
from seqloom.server.describing import Description, describe
from seqloom.server.measuring import Meters
from seqloom.server.problems import RequestError, cannot
from seqloom.server.settings import ServedModel

log = logging.getLogger("seqloom.server")

_LOOK_EVERY = 1.0
"""So many seconds pass before a folder is looked at again."""
_FILES = ("run.json", "model.json", "weights.safetensors")

Stamp = tuple[tuple[int, int, int] | None, ...]
"""What tells that a folder's files were written anew: inode, time and size of each."""


@dataclass(eq=False)
class Opened:
    """A model in memory. Work that began with it ends with it, whatever its folder holds by then.

    neighbourhood and profile: made when they are first wanted.
    """

    name: str
    model: Predictor | LanguageModel
    description: Description
    neighbourhood: Neighbourhood = field(default_factory=Neighbourhood)
    profile: Profile | None = None

    @property
    def predictor(self) -> Predictor:
        """The model, if it reads sources."""
        if not isinstance(self.model, Predictor):
            raise cannot(
                f"{self.name!r} is a language model, which reads no source. Use /v1/complete, /v1/sample, /v1/step or /v1/score"
            )
        return self.model

    @property
    def language_model(self) -> LanguageModel:
        """The model, if it reads no source."""
        if not isinstance(self.model, LanguageModel):
            raise cannot(f"{self.name!r} reads a source and is no language model. Use /v1/predict, /v1/step or /v1/score")
        return self.model


class _Place:
    """A model's place on the shelf."""

    def __init__(self, served: ServedModel) -> None:
        self.served = served
        self.stamp = stamp_of(served.folder)
        self.description = describe(RunFolder.open(served.folder), served)
        self.opened: Opened | None = None
        self.opening: asyncio.Task[Opened] | None = None
        self.looked = time.monotonic()


class Shelf:
    """All models of a server. Their folders have to be there when it is made; their weights are read later."""

    def __init__(self, models: Sequence[ServedModel], meters: Meters) -> None:
        self._places: Mapping[str, _Place] = {one.name: _Place(one) for one in models}
        self._meters = meters
        self._opener = ThreadPoolExecutor(1, thread_name_prefix="seqloom-opener")
        meters.watch_models(lambda: sum(place.opened is not None for place in self._places.values()))

    @property
    def descriptions(self) -> list[Description]:
        """What each model is, in the order in which they were named."""
        return [place.description for place in self._places.values()]

    @property
    def names(self) -> tuple[str, ...]:
        """Of all models; the first is the one that is meant if none is named."""
        return tuple(self._places)

    def is_loaded(self, name: str) -> bool:
        """Whether a model is in memory."""
        return self._places[name].opened is not None

    def description(self, name: str | None) -> Description:
        """What a model is; that of the first without a name."""
        return self._place(name).description

    async def get(self, name: str | None = None) -> Opened:
        """A model, opened if it is not; the first without a name."""
        found = self.at_hand(name)
        return found if found is not None else await asyncio.shield(self._open(self._place(name)))

    def at_hand(self, name: str | None) -> Opened | None:
        """A model if it is opened, without waiting; the first without a name."""
        place = self._place(name)
        self._look(place)
        return place.opened

    def close(self) -> None:
        """Let the opening thread go."""
        self._opener.shutdown(wait=False, cancel_futures=True)

    def _place(self, name: str | None) -> _Place:
        if name is None:
            return next(iter(self._places.values()))
        if name not in self._places:
            raise RequestError(
                404, "no-such-model", "There is no model of this name. GET /v1/models lists those that there are"
            )
        return self._places[name]

    def _look(self, place: _Place) -> None:
        """See now and then whether the folder has changed, and if so, open it beside the model of before."""
        now = time.monotonic()
        if place.opened is None or now - place.looked < _LOOK_EVERY:
            return
        place.looked = now
        stamp = stamp_of(place.served.folder)
        if stamp != place.stamp and place.opening is None:
            place.stamp = stamp
            self._open(place).add_done_callback(lambda task: task.exception())  # told in the log

    def _open(self, place: _Place) -> "asyncio.Task[Opened]":
        if place.opening is None:
            place.opening = asyncio.create_task(self._opened(place))
        return place.opening

    async def _opened(self, place: _Place) -> Opened:
        name = place.served.name
        began = time.monotonic()
        try:
            opened = await asyncio.get_running_loop().run_in_executor(self._opener, open_served, place.served)
        except SeqloomError as error:
            log.error("model %s could not be opened: %s", name, error)
            problem = RequestError(503, "loading-failed", f"The model {name!r} could not be opened. The server's log says why")
            raise problem from None
        finally:
            place.opening = None
        if place.opened is not None:
            self._meters.reloads.labels(name).inc()
        place.opened, place.description = opened, opened.description
        log.info("model %s opened in %.1f s", name, time.monotonic() - began)
        return opened


def open_served(served: ServedModel) -> Opened:
    """Open a folder, with whichever backend it is for."""
    run = RunFolder.open(served.folder)
    if run.recipe.is_language_model:
        model: Predictor | LanguageModel = LanguageModel(open_model(served.folder))
    else:
        model = Predictor.load(served.folder)
    return Opened(served.name, model, describe(run, served))


def stamp_of(folder: Path) -> Stamp:
    """See `Stamp`."""
    return tuple(_facts(folder / name) for name in _FILES)


def _facts(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
