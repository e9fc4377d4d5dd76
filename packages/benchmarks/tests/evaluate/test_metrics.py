"""The benchmarks by name: what is not known is refused with what is."""

from pathlib import Path

import pytest

from uavsim.errors import InputError, UnknownNameError
from uavsim_benchmarks.evaluate.metrics import METRICS, evaluate
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest


def test_an_unknown_benchmark_or_mode_names_the_nearest(tmp_path: Path) -> None:
    request = EvaluationRequest(tmp_path, tmp_path)
    with pytest.raises(UnknownNameError, match="nuscenes-detection"):
        evaluate("nuscenes-detektion", request)
    with pytest.raises(UnknownNameError, match="corrected"):
        evaluate("aot", EvaluationRequest(tmp_path, tmp_path, mode="correct"))


@pytest.mark.parametrize("name", METRICS.names())
def test_an_option_of_another_benchmark_is_refused_and_its_own_are_reported(name: str, tmp_path: Path) -> None:
    request = EvaluationRequest(tmp_path, tmp_path, options={"colour": "red"})
    with pytest.raises(InputError, match=f"{name}: no option 'colour'; it takes") as caught:
        evaluate(name, request)
    assert all(option in str(caught.value) for option in METRICS.pick(name).options)


@pytest.mark.parametrize("name", METRICS.names())
def test_a_place_where_nothing_is_is_refused_before_anything_is_imported(name: str, tmp_path: Path) -> None:
    missing = tmp_path / "none"
    with pytest.raises(InputError, match="none: no such file or folder"):
        evaluate(name, EvaluationRequest(tmp_path, missing))
