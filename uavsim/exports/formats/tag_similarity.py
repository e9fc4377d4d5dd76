"""Similarity of tags from their synonyms and hypernyms: unit vectors, and a table of their cosines.

The vectors replace OpenAD's text features of CLIP. A tag's vector is a weighted sum of its hypernyms' vectors and its own
component. Cosines: a synonym 0.95 (above OpenAD's strictest threshold of 0.9), two synonyms of one tag 0.90, the nearest
hypernym 0.72 (above 0.7), tags with the same nearest hypernym 0.52 to 0.65 (above 0.5), the next hypernym 0.35 (below 0.5),
unrelated tags 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from uavsim.typing import FloatArray

_SYNONYM: Final = 0.95
_HYPERNYMS: Final = (0.72, 0.35)
_LEAST: Final = 0.3  # least cosine in the table
_DEEPEST: Final = 8


@dataclass(frozen=True, slots=True)
class Words:
    """Synonyms and hypernyms of one tag, the nearest hypernym first."""

    synonyms: tuple[str, ...] = ()
    hypernyms: tuple[str, ...] = ()


def tag_vectors(tags: Mapping[str, Words]) -> dict[str, FloatArray]:
    """Return a (W,) unit vector of every tag, synonym and hypernym; W is their number."""
    words = list(dict.fromkeys([*tags, *(w for t in tags.values() for w in (*t.synonyms, *t.hypernyms))]))
    maker = _VectorMaker(tags, {word: k for k, word in enumerate(words)})
    owner = {synonym: tag for tag, related in tags.items() for synonym in related.synonyms}
    return {
        word: maker.synonym(word, owner[word]) if word in owner and word not in tags else maker.of(word)
        for word in words
    }


def similarity_table(vectors: Mapping[str, FloatArray]) -> dict[str, dict[str, float]]:
    """Return ``{tag: {other tag: cosine}}`` of (W,) unit vectors, each pair once, pairs below 0.3 left out."""
    names = list(vectors)
    stacked = np.stack([vectors[name] for name in names]) if names else np.zeros((0, 0))
    cosine = np.round(stacked @ stacked.T, 4)
    return {
        name: {names[j]: float(cosine[k, j]) for j in range(k + 1, len(names)) if cosine[k, j] >= _LEAST}
        for k, name in enumerate(names)
    }


@dataclass(slots=True)
class _VectorMaker:
    tags: Mapping[str, Words]
    axis: dict[str, int]
    cache: dict[str, FloatArray] = field(default_factory=dict)

    def of(self, word: str, depth: int = 0) -> FloatArray:
        """Return the (W,) unit vector of a tag or hypernym."""
        if word in self.cache:
            return self.cache[word]
        hypernyms = self.tags[word].hypernyms[: len(_HYPERNYMS)] if word in self.tags and depth < _DEEPEST else ()
        vector = np.zeros(len(self.axis))
        for weight, hypernym in zip(_HYPERNYMS, hypernyms, strict=False):
            vector += weight * self.of(hypernym, depth + 1)
        shared = float(vector @ vector)
        if shared < 1.0:
            vector[self.axis[word]] += np.sqrt(1.0 - shared)
        unit: FloatArray = vector / np.linalg.norm(vector)
        self.cache[word] = unit
        return unit

    def synonym(self, word: str, tag: str) -> FloatArray:
        vector = _SYNONYM * self.of(tag)
        vector[self.axis[word]] += np.sqrt(1.0 - _SYNONYM**2)
        return np.asarray(vector)
