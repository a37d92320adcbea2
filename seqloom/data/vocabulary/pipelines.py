"""What a stored tokenizers pipeline may consist of: what `vocabulary` makes, and nothing else.

The format of HuggingFace tokenizers can say far more than that: regular expressions that take for ever, a replacement that
makes a megabyte of every space, a padding to a thousand million symbols. A vocabulary from a stranger must not.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from seqloom.system.json_parsing import require_types

ANY_CHARACTER, GRAPHEME, WHITE_SPACE = r"[\s\S]", r"\X", r"\s+"
_LETTER, _MARK, _JOINING = r"[\p{L}\p{M}\p{N}]", r"[\p{P}\p{S}]", "['\u2019.,:\u2010\u00b7_-]"
MARKS = f"\u2581?(?:(?!\u2581|(?<={_LETTER}){_JOINING}(?={_LETTER})){_MARK})+"
"""The regular expressions of all vocabularies. MARKS: punctuation with the space before it; what joins parts of a word, as in
*well-known*, *it's* and *3.5*, is a part of the word."""

_MODELS = ("WordLevel", "BPE", "Unigram")
_STAGES = frozenset(
    {
        "Sequence",
        "NFC",
        "NFD",
        "NFKC",
        "NFKD",
        "Lowercase",
        "Replace",
        "Strip",
        "Split",
        "Metaspace",
        "Punctuation",
        "WhitespaceSplit",
        "Fuse",
    }
)
_PATTERNS = (
    {"Regex": ANY_CHARACTER},
    {"Regex": GRAPHEME},
    {"Regex": WHITE_SPACE},
    {"Regex": MARKS},
    {"String": "\u2581"},
)


def require_known(pipeline: Mapping[str, Any]) -> None:
    """Refuse a pipeline of parts that no vocabulary of ours has. Raises ValueError."""
    require_types(pipeline, {"model": dict})
    for stage in ("truncation", "padding", "post_processor", "added_tokens"):
        if pipeline.get(stage):
            raise ValueError(f"a vocabulary of seqloom has no {stage}")
    for stage in ("normalizer", "pre_tokenizer", "decoder"):
        for part in _parts(pipeline.get(stage)):
            _require_known_part(part)
    _require_known_model(pipeline["model"])


def _parts(stage: object) -> Iterator[Mapping[str, Any]]:
    """A stage and, if it is a sequence, what it consists of."""
    if stage is None:
        return
    if not isinstance(stage, dict):
        raise ValueError("a stage of the pipeline is no object")
    yield stage
    for several in ("normalizers", "pretokenizers", "decoders"):
        for part in stage.get(several, ()):
            yield from _parts(part)


def _require_known_part(part: Mapping[str, Any]) -> None:
    if part.get("type") not in _STAGES:
        raise ValueError(f"no vocabulary of seqloom has a stage {str(part.get('type'))[:40]!r}")
    if "pattern" in part and part["pattern"] not in _PATTERNS:
        raise ValueError(f"no vocabulary of seqloom has the pattern {str(part['pattern'])[:40]!r}")
    if part["type"] in ("Replace", "Strip") and part.get("content", " ") != " ":
        raise ValueError("a vocabulary of seqloom puts a space in the place of others, and nothing else")


def _require_known_model(model: Mapping[str, Any]) -> None:
    require_types(model, {"type": str, "vocab": (dict, list)})
    if model["type"] not in _MODELS:
        raise ValueError(f"no vocabulary of seqloom has a model {model['type'][:40]!r}")
    symbols = model["vocab"]
    if isinstance(symbols, dict) and set(symbols.values()) != set(range(len(symbols))):
        raise ValueError("its symbols are not numbered one by one")
