"""Questions answered without an image: by position, by the options' words, by length, by a learned text model.

Scores are cross-validated in five folds; questions of one sequence frame are in one fold. A question that can be answered by
its text alone measures no perception.
"""

import re
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.typing import FloatArray, IntArray, JsonDict

CHANCE: Final = 0.25
_FOLDS: Final = 5
_BUCKETS: Final = 96  # buckets of hashed words
_SHAPE: Final = 8  # features of an option's form, in front of its words
_STEPS, _RATE, _DECAY = 100, 0.5, 0.01
_LETTERS: Final = "ABCD"
_WORD: Final = re.compile(r"[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class BlindScore:
    """Accuracy of a model without images, with the standard error of guessing."""

    accuracy: float
    questions: int

    @property
    def error(self) -> float:
        """Standard error of guessing."""
        return float(np.sqrt(CHANCE * (1 - CHANCE) / self.questions)) if self.questions else 1.0


def folds_of(questions: Sequence[JsonDict]) -> IntArray:
    """Return (Q,) folds of questions by their sequence frame."""
    return np.array([zlib.crc32(str(q["sequence_frame"]).encode()) % _FOLDS for q in questions], dtype=np.int64)


def blind_scores(questions: Sequence[JsonDict]) -> dict[str, BlindScore]:
    """Return each model's cross-validated score.

    Args:
        questions: questions of one task.
    """
    fold = folds_of(questions)
    right = np.array([_LETTERS.index(q["correct_answer"]) for q in questions], dtype=np.int64)
    found = {}
    for name, model in MODELS.items():
        hits = 0
        for number in range(_FOLDS):
            train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            if len(test):
                guess = model([questions[n] for n in train.tolist()], [questions[n] for n in test.tolist()])
                hits += int((guess == right[test]).sum())
        found[name] = BlindScore(hits / len(questions) if len(questions) else 0.0, len(questions))
    return found


def _majority_letter(train: Sequence[JsonDict], test: Sequence[JsonDict]) -> IntArray:
    counts = Counter(q["correct_answer"] for q in train)
    best = max(_LETTERS, key=lambda letter: counts[letter])
    return np.full(len(test), _LETTERS.index(best), dtype=np.int64)


def _majority_answer(train: Sequence[JsonDict], test: Sequence[JsonDict]) -> IntArray:
    """Return the options with the highest rate of being right in training."""
    offered: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for q in train:
        offered.update(q["options"].values())
        right[q["options"][q["correct_answer"]]] += 1

    def rate(text: str) -> float:
        return (right[text] + 1.0) / (offered[text] + 4.0)

    return _best(test, lambda _, text: rate(text))


def _longest(_: Sequence[JsonDict], test: Sequence[JsonDict]) -> IntArray:
    return _best(test, lambda _, text: float(len(text)))


def _shortest(_: Sequence[JsonDict], test: Sequence[JsonDict]) -> IntArray:
    return _best(test, lambda _, text: -float(len(text)))


def _best(test: Sequence[JsonDict], value: Callable[[JsonDict, str], float]) -> IntArray:
    """Return the options with the highest value; the question's text breaks ties."""
    guesses = []
    for q in test:
        values = np.array([value(q, q["options"][letter]) for letter in _LETTERS])
        best = np.flatnonzero(values == values.max())
        guesses.append(best[zlib.crc32(str(q["question_id"]).encode()) % len(best)])
    return np.array(guesses, dtype=np.int64)


def _text_model(train: Sequence[JsonDict], test: Sequence[JsonDict]) -> IntArray:
    """Rank options by a softmax over words, numbers, length and overlap with the question."""
    if not train:
        return np.zeros(len(test), dtype=np.int64)
    inputs = np.stack([_features(q) for q in train])
    right = np.array([_LETTERS.index(q["correct_answer"]) for q in train])
    mean, spread = inputs.mean(axis=(0, 1)), inputs.std(axis=(0, 1)) + 1e-6
    spread[_SHAPE:] = 1.0
    inputs = (inputs - mean) / spread
    flat, weights = inputs.reshape(-1, inputs.shape[-1]), np.zeros(inputs.shape[-1])
    for _ in range(_STEPS):
        share = _softmax(np.einsum("qof,f->qo", inputs, weights))
        share[np.arange(len(train)), right] -= 1.0
        slope = np.einsum("n,nf->f", share.ravel(), flat) / len(train)
        weights -= _RATE * (slope + _DECAY * weights)
    scores = ((np.stack([_features(q) for q in test]) - mean) / spread) @ weights
    return np.asarray(scores.argmax(axis=1), dtype=np.int64)


def _features(question: JsonDict) -> FloatArray:
    """Return (4, F) features of the options."""
    options = [str(question["options"][letter]) for letter in _LETTERS]
    question_words = set(_WORD.findall(str(question["question"]).lower()))
    words = [_WORD.findall(option.lower()) for option in options]
    found = np.zeros((len(options), _SHAPE + _BUCKETS))
    length = np.array([len(option) for option in options], dtype=np.float64)
    number = np.array([_number(option_words) for option_words in words])
    found[:, 0], found[:, 1] = length, length.argsort().argsort()
    found[:, 2], found[:, 3] = number.argsort().argsort(), np.abs(number - np.median(number))
    found[:, 4] = [len(question_words.intersection(option_words)) for option_words in words]
    found[:, 5] = [sum(word in other for word in option_words for other in words) for option_words in words]
    found[:, 6 : 6 + 2] = [[len(option_words), len(set(option_words))] for option_words in words]
    for row, option_words in enumerate(words):
        for word in option_words:
            found[row, _SHAPE + zlib.crc32(word.encode()) % _BUCKETS] = 1.0
    return found


def _number(words: Sequence[str]) -> float:
    return next((float(word) for word in words if word.isdigit()), 0.0)


def _softmax(scores: FloatArray) -> FloatArray:
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=1, keepdims=True), dtype=np.float64)


MODELS: Final[dict[str, Callable[[Sequence[JsonDict], Sequence[JsonDict]], IntArray]]] = {
    "majority letter": _majority_letter,
    "majority answer": _majority_answer,
    "longest option": _longest,
    "shortest option": _shortest,
    "text model": _text_model,
}
"""Models that learn from some questions and answer others."""
