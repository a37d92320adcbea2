"""Files that others may have made: what is opened, and what is refused, whatever stands in a file's place."""

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from seqloom.system.files import (
    Found,
    RefusedError,
    create,
    found_at,
    make_folder,
    open_regular,
    open_stream,
    open_to_append,
    read_regular,
)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def listener(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


def loop(path: Path) -> None:
    path.symlink_to(path)


def directory(path: Path) -> None:
    path.mkdir()


IMPOSTORS = [pipe, endless, listener, loop, directory]


@pytest.mark.parametrize("make", IMPOSTORS)
def test_what_is_no_regular_file_is_refused_at_once(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "file")
    for inside in (None, tmp_path):
        with pytest.raises(OSError, match=r"regular file|symbolic links|leads out"):
            open_regular(tmp_path / "file", inside=inside)


def test_a_link_may_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("mine")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "own").write_text("theirs")
    (tmp_path / "run" / "inner").symlink_to("own")
    (tmp_path / "run" / "outer").symlink_to("../secret")
    (tmp_path / "run" / "up").symlink_to("..")
    (tmp_path / "link").symlink_to("run")
    for root in (tmp_path / "run", tmp_path / "link"):  # the folder itself may be a link: a person named it
        assert read_regular(root / "inner", limit=10, inside=root) == b"theirs"
        for name in ("outer", "up/secret", "../secret"):
            with pytest.raises(RefusedError, match="leads out of"):
                read_regular(root / name, limit=10, inside=root)
    assert read_regular(tmp_path / "run" / "outer", limit=10) == b"mine"


def test_sizes_are_limited_before_reading(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as stream:
        stream.truncate(1 << 40)  # takes no room on the disk, and all of the memory if it is read
    with pytest.raises(RefusedError, match="expected at most 1,000 bytes, found 1,099,511,627,776"):
        read_regular(tmp_path / "large", limit=1000)


def test_a_person_may_name_a_pipe_but_no_endless_device(tmp_path: Path) -> None:
    pipe(tmp_path / "lines")
    writer = threading.Thread(target=(tmp_path / "lines").write_text, args=("abc\n",))
    writer.start()
    with open_stream(tmp_path / "lines") as stream:
        assert stream.read() == b"abc\n"
    writer.join()
    with open_stream("/dev/null") as stream:
        assert stream.read() == b""
    with pytest.raises(RefusedError, match="expected a regular file, found a device"):
        open_stream("/dev/zero")


def test_what_is_at_a_path_can_always_be_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for make, found in ((pipe, Found.PIPE), (endless, Found.DEVICE), (loop, Found.LOOP), (directory, Found.FOLDER)):
        make(tmp_path / make.__name__)
        assert found_at(tmp_path / make.__name__) is found
    assert found_at(tmp_path / "nowhere") is Found.NOTHING
    assert found_at(tmp_path / ("x" * 300)) is Found.OVERLONG
    assert found_at("a\0b") is Found.NOTHING

    def closed(path: Path, **wishes: object) -> os.stat_result:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", closed)
    assert found_at(tmp_path) is Found.CLOSED


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "link").symlink_to("precious")
    with pytest.raises(RefusedError, match="found a link"):
        open_to_append(tmp_path / "link")
    with create(tmp_path / "link") as stream:
        stream.write(b"theirs")
    assert (tmp_path / "precious").read_text() == "mine"
    assert (tmp_path / "link").read_bytes() == b"theirs"
    pipe(tmp_path / "pipe")
    with pytest.raises(RefusedError, match="found a named pipe"):
        open_to_append(tmp_path / "pipe")
    (tmp_path / "elsewhere").symlink_to(tmp_path)
    with pytest.raises(RefusedError, match="expected a folder, found a link"):
        make_folder(tmp_path / "elsewhere")
