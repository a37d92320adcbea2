"""Vocabularies: what makes symbols of text, and text of symbols. The only user of HuggingFace tokenizers."""

from seqloom.data.vocabulary.building import VocabularyBuilder, build_vocabulary, parts_of, sample_size
from seqloom.data.vocabulary.merge_dropout import MergeDropout
from seqloom.data.vocabulary.sequences import Encoded, IdArray, Sequences
from seqloom.data.vocabulary.vocabulary import Vocabulary

__all__ = [
    "Encoded",
    "IdArray",
    "MergeDropout",
    "Sequences",
    "Vocabulary",
    "VocabularyBuilder",
    "build_vocabulary",
    "parts_of",
    "sample_size",
]
