"""Build wheel and sdist, check them, and install each into a fresh environment without torch, where seqloom must work.

python tools/release.py
"""

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

TOP = Path(__file__).parents[1]
PACKAGE_DATA = ("seqloom/py.typed", "seqloom/recipes/dates.yaml", "seqloom/server/page/", "seqloom/views/assets/")
IN_SDIST = ("README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", *PACKAGE_DATA)
PAIRS = "".join(f"word{number}\tWORD{number}\n" for number in range(120))


def run(*words: object, cwd: Path = TOP) -> str:
    """Run a command; what it printed. A failure ends everything."""
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}\nended with {done.returncode}")
    return done.stdout


def build(folder: Path) -> tuple[Path, Path]:
    """Make both files; the wheel is made from the sdist, so that nothing can be missing there."""
    run(sys.executable, "-m", "build", "--outdir", folder, TOP)
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    return wheel, sdist


def require(what: Path, names: list[str], wanted: tuple[str, ...]) -> None:
    """Complain about files that are not in a package, and about some that should not be."""
    missing = [one for one in wanted if not any(one in name for name in names)]
    if missing:
        sys.exit(f"{what.name} lacks {', '.join(missing)}")
    if any(name.endswith((".safetensors", ".pyc")) and "tests/" not in name for name in names):
        sys.exit(f"{what.name} has weights or compiled files in it")


def install_and_try(package: Path, folder: Path) -> None:
    """Install a package into a fresh environment and use what works without torch."""
    run(sys.executable, "-m", "venv", folder / "venv")
    run(folder / "venv/bin/python", "-m", "pip", "install", "--quiet", package)
    seqloom, elsewhere = folder / "venv/bin/seqloom", folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    version = run(seqloom, "--version", cwd=elsewhere).split()[-1]
    if f"-{version}" not in package.name:
        sys.exit(f"{package.name} says that it is version {version}")
    for words in (["--help"], ["recipes", "ls"], ["recipes", "show", "dates"], ["check", "pairs.tsv"]):
        run(seqloom, *words, cwd=elsewhere)
    run(folder / "venv/bin/python", "-c", "import importlib.util, seqloom; assert importlib.util.find_spec('torch') is None")
    print(f"{package.name}: installs without torch and works, version {version}")


def main() -> None:
    """Build, check, install, try."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        wheel, sdist = build(folder / "dist")
        require(wheel, zipfile.ZipFile(wheel).namelist(), PACKAGE_DATA)
        with tarfile.open(sdist) as archive:
            require(sdist, archive.getnames(), IN_SDIST)
        for package in (wheel, sdist):
            place = folder / package.name.replace(".", "-")
            place.mkdir()
            install_and_try(package, place)


if __name__ == "__main__":
    main()
