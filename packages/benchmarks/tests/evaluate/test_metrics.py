"""Every benchmark refuses unknown options and missing files."""

from pathlib import Path

import pytest

from uavsim.errors import InputError
from uavsim_benchmarks.evaluate.metrics import METRICS, evaluate
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest


@pytest.mark.parametrize("name", METRICS.names())
def test_unknown_option_is_refused_with_the_known_ones(name: str, tmp_path: Path) -> None:
    request = EvaluationRequest(tmp_path, tmp_path, options={"colour": "red"})
    with pytest.raises(InputError, match=f"{name}: no option 'colour'; it takes") as caught:
        evaluate(name, request)
    assert all(option in str(caught.value) for option in METRICS.pick(name).options)
    assert METRICS.pick(name).help


@pytest.mark.parametrize("name", METRICS.names())
def test_missing_results_are_refused(name: str, tmp_path: Path) -> None:
    missing = tmp_path / "none"
    with pytest.raises(InputError, match="none: no such file or folder"):
        evaluate(name, EvaluationRequest(tmp_path, missing))
