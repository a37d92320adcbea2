"""From bytes to numbered lines of text, in bounded memory.

Files are read in blocks and decoded a block at a time; only a block with something wrong in it is looked at line by line.
"""

import gzip
import io
import os
import shlex
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, cast

from seqloom.data.examples import Origin, ReadingProblem, Report, abbreviated
from seqloom.errors import DataError
from seqloom.system.content import hashed
from seqloom.system.files import Found, found_at, open_stream

LINE_LIMIT = 1_000_000
"""The longest line that is read, in bytes. Longer ones are nearly always another kind of file."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
DAMAGE = (OSError, EOFError, zlib.error)
"""What reading a truncated or corrupt gzip file, or a failing disk, raises."""

_BLOCK = 1 << 18
"""How much is read at once. Less than the limit of a line, so only a line that began in an earlier block can be over it."""

ByteStream = IO[bytes] | io.BufferedIOBase

Line = tuple[int, str | None]
"""A line's number, from 1, and its text without the line end; None if it was reported as a problem."""


def require_file(file: str) -> None:
    """Refuse a file that is not there or may not be read, before any work is spent on the others."""
    found = found_at(file)
    if found is Found.FOLDER:
        raise DataError(f"{file}: expected a file, found a directory. Name the files in it one by one.")
    if found is Found.NOTHING:
        raise DataError(f"{file}: expected a file, found nothing there. Check the path; relative paths start at {Path.cwd()}.")
    if found in (Found.CLOSED, Found.OVERLONG, Found.LOOP):
        raise DataError(f"{file}: expected a file, found {found}. {found.advice}.")
    if not os.access(file, os.R_OK):
        raise DataError(
            f"{file}: expected a file that may be read, found one without permission. Run: chmod u+r -- {shlex.quote(file)}"
        )


def open_bytes(file: str, *, in_order: bool = False) -> io.BufferedIOBase:
    """Open a file or a pipe for reading bytes; what ends in .gz is decompressed on the way.

    in_order: from its beginning to its end, so that the hash of a file is known then.
    """
    require_file(file)
    try:
        stream = open_stream(file)
    except OSError as error:
        raise DataError(f"{file}: {error.strerror}. Name a file with text.") from error
    if in_order and stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream = hashed(stream)
    if not file.endswith(".gz"):
        return stream
    unpacked = gzip.GzipFile(fileobj=stream)
    unpacked.myfileobj = cast(Any, stream)  # to be closed with it
    return unpacked


def read_lines(file: str, report: Report) -> Iterator[Line]:
    """Read a file's lines one after the other. Accepts a byte order mark and CRLF, and only UTF-8 without NULs."""
    with open_bytes(file, in_order=True) as stream:
        yield from lines_of(stream, file, report)


def lines_of(stream: ByteStream, file: str, report: Report) -> Iterator[Line]:
    """Read the lines of an open stream, as `read_lines` does. Standard input is answered as soon as a line is there."""
    number = 1
    for block in _blocks(_reader(stream), file, report):
        if block is None:
            report(_over_long(Origin(file, number)))
            yield number, None
            number += 1
            continue
        if number == 1:
            block = block.removeprefix(BYTE_ORDER_MARK)
        text = _decoded(block)
        if text is None:
            for raw in block.removesuffix(b"\n").split(b"\n"):
                yield number, _inspected(raw, Origin(file, number), report)
                number += 1
            continue
        lines = text.removesuffix("\n").split("\n")
        if "\r" in text:
            lines = [line.removesuffix("\r") for line in lines]
        yield from enumerate(lines, number)
        number += len(lines)


def _reader(stream: ByteStream) -> Callable[[int], bytes]:
    # read1 returns what a pipe holds now; read would wait for a whole block and keep a person at a terminal waiting.
    return stream.read1 if isinstance(stream, io.BufferedReader) else stream.read


def _blocks(read: Callable[[int], bytes], file: str, report: Report) -> Iterator[bytes | None]:
    """Cut a stream into blocks of whole lines; None stands for one line over the limit, which is never held in full."""
    rest = b""
    skipping = False
    while chunk := _chunk(read, file, report):
        if skipping:
            _, found, chunk = chunk.partition(b"\n")
            skipping = not found
            if not chunk:
                continue
        first = chunk.find(b"\n")
        if len(rest) + (len(chunk) if first < 0 else first) > LINE_LIMIT:
            yield None
            rest = b""
            skipping = first < 0
            chunk = b"" if skipping else chunk[first + 1 :]
        end = chunk.rfind(b"\n") + 1
        if end:
            yield rest + chunk[:end]
            rest = chunk[end:]
        else:
            rest += chunk
    if rest:
        yield rest


def _chunk(read: Callable[[int], bytes], file: str, report: Report) -> bytes:
    """Read some bytes; damage is reported and ends the stream."""
    try:
        return read(_BLOCK)
    except DAMAGE as error:
        report(damaged(file, error))
        return b""


def damaged(file: str, error: Exception) -> ReadingProblem:
    """Say that a file cannot be read to its end, or at all."""
    if isinstance(error, gzip.BadGzipFile) and "Not a gzipped file" in str(error):
        text = "expected gzip, as the ending .gz says, found something else. Remove .gz from the name, or compress the file."
    else:
        text = f"expected a whole file, but it is truncated or corrupt ({error}). Copy or download it again."
    return ReadingProblem("damaged-file", Origin(file, 0), text)


def _decoded(block: bytes) -> str | None:
    """Decode a block; None if anything in it needs a closer look."""
    try:
        text = block.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _inspected(raw: bytes, origin: Origin, report: Report) -> str | None:
    """Decode one line of a block that has something wrong in it."""
    raw = raw.removesuffix(b"\r")
    try:
        line = raw.decode()
    except UnicodeDecodeError as error:
        report(_bad_utf8(raw, error.start, origin))
        return None
    if "\0" in line:
        report(nul_character(line, origin))
        return None
    return line


def _over_long(origin: Origin) -> ReadingProblem:
    text = f"expected a line of at most {LINE_LIMIT:,} bytes, found a longer one. Split it, or check that this is a text file."
    return ReadingProblem("over-long-line", origin, text)


def _bad_utf8(raw: bytes, offset: int, origin: Origin) -> ReadingProblem:
    shown = abbreviated(raw[max(0, offset - 20) : offset + 20])
    found = f"expected UTF-8, found the byte 0x{raw[offset]:02x} at byte {offset + 1} of the line: {shown}."
    return ReadingProblem("bad-utf8", origin, f"{found} {_encoding_advice(raw, origin)}")


_BINARY = {
    b"\xff\xd8\xff": "a picture (JPEG)",
    b"\x89PNG": "a picture (PNG)",
    b"GIF8": "a picture (GIF)",
    b"RIFF": "a sound, a video or a picture (RIFF)",
    b"ID3": "a sound (MP3)",
    b"OggS": "a sound (Ogg)",
    b"fLaC": "a sound (FLAC)",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a ZIP archive, as documents and spreadsheets are",
    b"PAR1": "a Parquet table: its name has to end in .parquet",
}
"""How files begin that are no text, and what they are."""


def _encoding_advice(raw: bytes, origin: Origin) -> str:
    for begin, what in _BINARY.items():
        if origin.line == 1 and raw.startswith(begin):
            return f"The file is {what}, and here text is read. Name a file of text"
    if origin.line == 1 and raw.startswith(b"\x1f\x8b"):
        return "The file is gzipped: add .gz to its name."
    if origin.line == 1 and raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return f"The file is UTF-16. Run: iconv -f UTF-16 -t UTF-8 {shlex.quote(origin.file)}"
    return f"Save the file as UTF-8; if it is Latin-1, run: iconv -f ISO-8859-1 -t UTF-8 {shlex.quote(origin.file)}"


def nul_character(text: str, origin: Origin) -> ReadingProblem:
    """Say that a text has a NUL inside, which no text should and many programs take for its end."""
    place = text.index("\0")
    shown = abbreviated(text[max(0, place - 20) : place + 20])
    found = f"expected text, found a NUL character at character {place + 1}: {shown}."
    return ReadingProblem("nul-character", origin, f"{found} Remove it; a file full of them is probably UTF-16.")
