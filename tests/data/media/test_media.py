"""Files that sources name: in folders and archives, and nowhere else."""

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from seqloom.data.media.files import MediaError, MediaRoot
from seqloom.errors import DataError

CONTENT = {"a.bin": b"first", "inner/b.bin": b"second", "again.bin": b"first"}


def folder(path: Path) -> Path:
    for name, content in CONTENT.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


def zipped(path: Path) -> Path:
    with zipfile.ZipFile(path / "media.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in CONTENT.items():
            archive.writestr(name, content)
    return path / "media.zip"


def tarred(path: Path) -> Path:
    with tarfile.open(path / "media.tar", "w") as archive:
        for name, content in CONTENT.items():
            member = tarfile.TarInfo(f"./{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo("link.bin")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        archive.addfile(link)
    return path / "media.tar"


EVERY_ROOT = pytest.mark.parametrize("make", [folder, zipped, tarred])


@EVERY_ROOT
def test_names_are_found_in_folders_and_archives_alike(make: Callable[[Path], Path], tmp_path: Path) -> None:
    root = MediaRoot.open(make(tmp_path))
    for name, content in CONTENT.items():
        found = root.resolve(name)
        assert (found.name, found.size, found.read()) == (name, len(content), content)


@EVERY_ROOT
def test_a_content_hash_does_not_depend_on_the_name(make: Callable[[Path], Path], tmp_path: Path) -> None:
    root = MediaRoot.open(make(tmp_path))
    first, inner, again = (root.resolve(name).content_hash for name in ("a.bin", "inner/b.bin", "again.bin"))
    assert first == again != inner


@EVERY_ROOT
@pytest.mark.parametrize("name", ["../secret", "/etc/hostname", "inner/../../secret", "..\\secret", ""])
def test_no_name_leads_out_of_a_root(make: Callable[[Path], Path], name: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "root").mkdir()
    with pytest.raises(MediaError, match="inside"):
        MediaRoot.open(make(tmp_path / "root")).resolve(name)


@EVERY_ROOT
def test_a_missing_file_is_named(make: Callable[[Path], Path], tmp_path: Path) -> None:
    with pytest.raises(MediaError, match=r"'.*none\.bin'.* Check the name"):
        MediaRoot.open(make(tmp_path)).resolve("none.bin")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match="found a folder"):
        MediaRoot.open(folder(tmp_path)).resolve("inner")


def test_links_in_a_tar_are_not_followed(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match="none of this name among 3"):
        MediaRoot.open(tarred(tmp_path)).resolve("link.bin")


def test_a_table_may_name_files_anywhere(tmp_path: Path) -> None:
    folder(tmp_path / "media")
    root = MediaRoot.beside(tmp_path / "tables" / "captions.tsv")
    assert root.resolve(str(tmp_path / "media" / "a.bin")).read() == b"first"
    (tmp_path / "tables").mkdir()
    assert root.resolve("../media/a.bin").read() == b"first"


def test_a_damaged_member_is_an_error_with_its_place(tmp_path: Path) -> None:
    path = zipped(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"K\xcb,*.\x01", b"K\xcb,*.\x02"))
    damaged = MediaRoot.open(path).resolve("a.bin")
    with pytest.raises(MediaError, match=r"media\.zip: a\.bin: could not be read"):
        damaged.read()


@pytest.mark.parametrize(
    ("name", "said"), [("none", "nothing there"), ("notes.txt", "something else"), ("media.tar.gz", "Make it a .zip")]
)
def test_what_is_no_root_is_refused(name: str, said: str, tmp_path: Path) -> None:
    if name != "none":
        (tmp_path / name).write_text("no archive")
    with pytest.raises(DataError, match=said):
        MediaRoot.open(tmp_path / name)
