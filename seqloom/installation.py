"""How this copy of seqloom was installed, so that what it tells people to type works as it stands."""

import json
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit


def install_command(extra: str) -> str:
    """The command that adds an extra to this installation: from the clone that it came from, or by its name."""
    clone = _clone()
    if clone is None:
        return f"{_pip()} install 'seqloom[{extra}]'"
    editable = "--editable " if _is_here(clone) else ""
    return f"{_pip()} install {editable}'{_shown(clone)}[{extra}]'"


def activation() -> str | None:
    """What a shell has to be told before it finds `seqloom`; None if it finds it, or nothing helps."""
    script = Path(sys.prefix) / "bin" / "activate"
    if shutil.which("seqloom") or sys.prefix == sys.base_prefix or not script.is_file():
        return None
    return f". {_shown(script)}"


def _clone() -> Path | None:
    """The folder that this package was installed from; None if it came from an index."""
    here = Path(__file__).resolve().parents[1]
    if (here / "pyproject.toml").is_file():
        return here
    try:
        origin = json.loads(distribution("seqloom").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return None
    url = urlsplit(str(origin.get("url", "")))
    folder = Path(unquote(url.path))
    return folder if url.scheme == "file" and (folder / "pyproject.toml").is_file() else None


def _is_here(clone: Path) -> bool:
    return Path(__file__).resolve().is_relative_to(clone)


def _pip() -> str:
    """The pip of this Python: the one that a shell finds need not be it."""
    found = shutil.which("pip")
    own = found is not None and Path(found).parent.absolute() == Path(sys.executable).parent.absolute()
    return "pip" if own else f"{_shown(Path(sys.executable))} -m pip"


def _shown(path: Path) -> str:
    """A path as one would type it from here."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
