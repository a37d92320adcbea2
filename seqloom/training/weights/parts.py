"""Parts of a model by how the names of their parameters begin: `encoder`, `decoder.embedding`, `encoder.question`.

Names are those in weights.safetensors. A recipe says `encoder` where they say `encoders.<source>`, so that word stands for all
encoders, and `encoder.embedding` for the embeddings of all of them.
"""

from collections.abc import Iterable, Mapping

from seqloom.errors import RecipeError
from seqloom.wording import listed, nearest

_SHOWN = 12


def factors_of(names: Iterable[str], rates: Mapping[str, float]) -> dict[str, float]:
    """The factor of each parameter's learning rate: that of the longest part it belongs to, 1 if it belongs to none."""
    known = list(names)
    for part in rates:
        if not any(_belongs(name, part) for name in known):
            raise RecipeError(f"training.rates: no part of this model is called {part!r}. {_remedy(part, known)}")
    factors = {}
    for name in known:
        parts = [part for part in rates if _belongs(name, part)]
        factors[name] = float(rates[max(parts, key=len)]) if parts else 1.0
    if not any(factors.values()):
        raise RecipeError("training.rates: nothing is left to learn, because every part has the factor 0. Raise one of them")
    return factors


def _belongs(name: str, part: str) -> bool:
    return any(one == part or one.startswith(f"{part}.") for one in _spellings(name))


def _spellings(name: str) -> list[str]:
    """All that a parameter may be called: as it is, and one of an encoder also by the word of recipes."""
    first, _, rest = name.partition(".")
    source, _, inner = rest.partition(".")
    return [name, f"encoder.{source}.{inner}", f"encoder.{inner}"] if first == "encoders" else [name]


def _remedy(part: str, names: Iterable[str]) -> str:
    """The nearest names, or the largest parts."""
    places = [name.split(".") for one in names for name in _spellings(one)]
    parts = list(dict.fromkeys(".".join(words[:depth]) for words in places for depth in range(1, len(words) + 1)))
    near = nearest(part, parts)
    if near is not None:
        return f"Did you mean {near!r}?"
    large = [one for one in parts if one.count(".") <= 1 and not one.startswith("encoders")]
    return f"Its parts are {listed(large[:_SHOWN])}, and what the names in weights.safetensors begin with"
