"""A planted prior is found; without one, a model is near chance."""

import numpy as np
import pytest

from uavsim_benchmarks.questions.blind import CHANCE, MODELS, blind_scores, folds_of

WORDS = ("red", "green", "blue", "brown", "white", "black")


def make(count: int, *, leak: str = "") -> list[dict]:
    rng = np.random.default_rng(7)
    found = []
    for number in range(count):
        options = [f"a {word} one" for word in rng.permutation(WORDS)[:4]]
        right = int(rng.integers(4))
        if leak == "word":
            right = next((n for n, text in enumerate(options) if "red" in text), right)
        if leak == "letter" and number % 2:
            right = 2
        if leak == "length":
            options[right] += " of many"
        word = options[right].split()[1] if leak == "overlap" else "thing"
        options_of = dict(zip("ABCD", options, strict=True))
        found.append({"sequence_frame": f"f{number // 3}", "question_id": f"q{number}", "options": options_of,
                      "question": f"Which {word} is it?", "correct_answer": "ABCD"[right]})  # fmt: skip
    return found


@pytest.mark.parametrize(
    ("leak", "model"),
    [("word", "majority answer"), ("word", "text model"), ("letter", "majority letter"), ("length", "longest option"),
     ("length", "text model"), ("overlap", "text model")],
)  # fmt: skip
def test_a_prior_is_found(leak: str, model: str) -> None:
    assert blind_scores(make(300, leak=leak))[model].accuracy > CHANCE + 0.15


def test_without_a_prior_every_model_is_near_chance() -> None:
    for name, score in blind_scores(make(600)).items():
        assert abs(score.accuracy - CHANCE) < 4 * score.error, name
    assert set(MODELS) == set(blind_scores(make(5)))


def test_questions_of_one_frame_are_in_one_fold() -> None:
    questions = make(90)
    folds = dict.fromkeys(q["sequence_frame"] for q in questions)
    for frame in folds:
        rows = [n for n, q in enumerate(questions) if q["sequence_frame"] == frame]
        assert len(set(folds_of(questions)[rows])) == 1
    assert len(set(folds_of(questions))) == 5
