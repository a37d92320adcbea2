"""Files that hold pictures and sound, which PyAV opens: they are what their first bytes say, and nothing else.

FFmpeg knows hundreds of kinds, among them lists that name other files and addresses. So the kind is never left to it.
"""

import io
from typing import TYPE_CHECKING

from seqloom.data.media.images import LARGEST_PICTURE
from seqloom.errors import MissingExtraError

if TYPE_CHECKING:
    from av.container import InputContainer


def demuxer_of(content: bytes) -> str | None:
    """What FFmpeg calls the kind of file that begins so: MP4, MOV, AVI, MKV, WebM, MPEG, GIF or APNG; None for others."""
    if content[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip"):
        return "mov"
    if content[:4] == b"RIFF" and content[8:12] == b"AVI ":
        return "avi"
    if content[:4] == b"\x1a\x45\xdf\xa3":
        return "matroska"
    if content[:4] == b"\x00\x00\x01\xba":
        return "mpeg"
    if content[:8] == b"\x89PNG\r\n\x1a\n":
        return "apng"
    return "gif" if content[:6] in (b"GIF87a", b"GIF89a") else None


def open_container(name: str, content: bytes, what: str) -> "InputContainer":
    """Open such a file; nothing is decoded. what: is looked for in it, in a sentence. PyAV's errors come as they are."""
    try:
        import av
    except ImportError as error:
        raise MissingExtraError(f"{name} is a video file. Reading the {what} in it", "video") from error
    # Decoders that look into a file to see what it holds refuse larger frames by themselves.
    limits = {"max_pixels": str(LARGEST_PICTURE)}
    return av.open(io.BytesIO(content), mode="r", format=demuxer_of(content), options=limits, metadata_errors="ignore")
