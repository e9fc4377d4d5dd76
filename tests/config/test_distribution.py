from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from uavsim.config.dataset import dataset_config
from uavsim.config.distribution import Distribution
from uavsim.config.formation import Formation
from uavsim.config.load import Loaded, load
from uavsim.config.weather import Weather
from uavsim.errors import ConfigError

DRAWS = 1000
REJECTED = 1e-3  # a right law fails with this probability, for a seed; the seed is fixed


def formation(tmp_path: Path, line: str) -> Loaded[Formation]:
    path = tmp_path / "mine.yaml"
    path.write_text(f"drones: 5\nshape: cross\n{line}\n")
    return load(path, Formation)


def drawn(law: Distribution) -> np.ndarray:
    rng = np.random.default_rng(5)
    return np.array([law.draw(rng) for _ in range(DRAWS)])


@pytest.mark.parametrize(
    ("text", "cdf"),
    [
        ("{uniform: [10, 30]}", stats.uniform(10, 20).cdf),
        ("{normal: [20, 10], min: 15, max: 40}", stats.truncnorm(-0.5, 2, 20, 10).cdf),
    ],
)
def test_numbers_follow_their_law(tmp_path: Path, text: str, cdf) -> None:
    (law,) = formation(tmp_path, f"spacing_m: {text}").draws.values()
    assert stats.kstest(drawn(law), cdf).pvalue > REJECTED


def test_choices_follow_their_weights(tmp_path: Path) -> None:
    (law,) = formation(tmp_path, "spacing_m: {choice: [10, 20, 30], weights: [1, 1, 2]}").draws.values()
    counts = [np.sum(drawn(law) == value) for value in (10, 20, 30)]
    assert stats.chisquare(counts, [DRAWS / 4, DRAWS / 4, DRAWS / 2]).pvalue > REJECTED


def test_a_whole_number_is_drawn_whole_and_both_ends_belong_to_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    towns = "towns: {Town10HD: {scenes: 1}}\nformation: cross\nrig: uav3d\n"
    path.write_text(f"{towns}traffic: {{vehicles: {{uniform: [3, 6]}}}}\n")
    loaded = load(path, dataset_config())
    (law,) = loaded.draws.values()
    counts = np.bincount(drawn(law).astype(int), minlength=7)
    assert counts[:3].sum() == 0
    assert stats.chisquare(counts[3:]).pvalue > REJECTED
    scene, numbers = loaded.drawn(lambda _: np.random.default_rng(1))
    assert scene.model.block("traffic").vehicles == numbers["traffic.vehicles"]
    assert type(numbers["traffic.vehicles"]) is int


def test_each_key_has_a_generator_of_its_own(tmp_path: Path) -> None:
    keys: list[str] = []

    def generator(key: str) -> np.random.Generator:
        keys.append(key)
        return np.random.default_rng(len(key))

    path = tmp_path / "w.yaml"
    path.write_text("from: {cloudiness: {uniform: [0, 50]}}\nto: {cloudiness: {uniform: [50, 100]}}\n")
    loaded, numbers = load(path, Weather).drawn(generator)
    assert keys == ["from.cloudiness", "to.cloudiness"]
    assert loaded.model.from_ is not None
    assert loaded.model.from_.cloudiness == numbers["from.cloudiness"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("spacing_m: {uniform: [10]}", "mine.yaml:3: spacing_m: uniform needs two numbers"),
        ("spacing_m: {uniform: [30, 10]}", "the lower bound 30 must be below the upper bound 10"),
        ("spacing_m: {uniform: [10, 30], min: 3}", "min does not belong to uniform"),
        ("spacing_m: {uniform: 5}", "uniform needs a list of numbers, not a number"),
        ("spacing_m: {normal: [10, 3]}", "normal needs min and max"),
        ("spacing_m: {normal: [10, 3], min: 30, max: 40}", "the mean within 3 std"),
        ("spacing_m: {choice: []}", "choice needs 1 to 100 numbers"),
        ("spacing_m: {choice: [1, 2], weights: [1]}", "one number above 0 for each"),
        ("spacing_m: {uniform: [0.5, 2000]}", "mine.yaml:3: spacing_m: must be less than or equal to 1000"),
        ("spacing_m: {unifrom: [10, 30]}", "unknown distribution 'unifrom'; did you mean 'uniform'?"),
        ("spacing_m: {normla: [10, 3], min: 5, max: 20}", "unknown distribution 'normla'; did you mean 'normal'?"),
        ("spacing_m: {min: 5, max: 20}", "must be a number"),
        ("drones: {uniform: [3, 5]}\n", "duplicate key"),
        ("min_separation_m: {uniform: [3, 5]}", "cannot be drawn for each scene; drawable: spacing_m"),
    ],
)
def test_what_is_no_distribution_is_refused_with_its_line(tmp_path: Path, line: str, reason: str) -> None:
    with pytest.raises(ConfigError) as error:
        formation(tmp_path, line)
    assert reason in str(error.value)
