"""Where data is kept that took time to prepare."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """Where prepared data is kept: $SEQLOOM_CACHE, or the user's cache folder. To delete it is always safe."""
    own = os.environ.get("SEQLOOM_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seqloom"
