"""The three symbols every vocabulary has, at fixed ids.

No pad symbol: padding is known by lengths and masks alone, so a model can neither read nor write it.
"""

BEGIN = 0
END = 1
UNKNOWN = 2

SPECIALS = ("< begin >", "< end >", "< unknown >")
"""How vocabularies store them. No tokenizer here yields a token with a space inside, so no text can forge one."""
