"""The application: routes, the engine behind them and the door before them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from importlib.metadata import version

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from seqloom.errors import SeqloomError
from seqloom.server.dispatching import Dispatcher
from seqloom.server.engine import Engine
from seqloom.server.guarding import Guard
from seqloom.server.measuring import Meters
from seqloom.server.problems import RequestError, answer_problem, answer_status
from seqloom.server.routes import about, figures, files, predicting, probing, translating
from seqloom.server.settings import Settings
from seqloom.server.shelf import Shelf
from seqloom.server.waiting import Service

_WHAT = (
    "Encoder-decoder models with attention: predictions with alternatives, where the model looked, what it held probable, and "
    "what it would have done if it had looked or begun otherwise."
)


def build_app(settings: Settings) -> ASGIApp:
    """The whole service. Its models' folders have to be there; their weights are read when they are first wanted."""
    meters = Meters()
    engine = Engine(settings.limits, meters)
    service = Service(settings, Shelf(settings.models, meters), engine, meters)
    app = FastAPI(
        title="seqloom", version=version("seqloom"), description=_WHAT, docs_url=None, redoc_url=None, lifespan=_lifespan
    )
    app.state.service = service
    for router in (about.router, predicting.router, probing.router, translating.router, figures.router, files.router):
        app.include_router(router)
    app.add_exception_handler(RequestError, answer_problem)
    app.add_exception_handler(SeqloomError, answer_problem)
    app.add_exception_handler(HTTPException, answer_status)
    app.add_exception_handler(Exception, answer_problem)
    asked = [route for router in (predicting.router, probing.router, figures.router) for route in router.routes]
    return Guard(Dispatcher(app, service, asked), settings, engine, meters)


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """The engine runs, and the first model is opened so that the first question need not wait for it."""
    service: Service = app.state.service
    service.engine.start()
    warming = asyncio.create_task(_warm(service))
    yield
    warming.cancel()
    await asyncio.to_thread(service.engine.stop)
    service.shelf.close()


async def _warm(service: Service) -> None:
    with contextlib.suppress(RequestError):  # the log says why, and every request will
        await service.shelf.get()
