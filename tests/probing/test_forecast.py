"""Forecasts calculated by hand, and the probe with synthetic scenes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.run.conftest import paper_job
from uavsim.capture.client_events import Progress, SampleTaken
from uavsim.errors import InputError
from uavsim.probing import forecast
from uavsim.probing.forecast import FinishProbe, Flight, Measured, TownProbe, forecast_of, predicted
from uavsim.run.job import Job
from uavsim.run.on_top import OnTop
from uavsim.run.request import Request
from uavsim.terminal import Screen, duration, size

Paper = Callable[..., Request]
QUIET = Screen(quiet=True)
FIRST = Flight(
    began_s=0.0, samples_s=(24.0, 26.0, 28.0, 30.0), flown_s=31.0, committed_s=33.0
)  # 22 s to load, 2 a sample
LATER = Flight(began_s=31.0, samples_s=(36.0, 38.0, 40.0, 42.0), flown_s=43.0, committed_s=45.0)


def test_one_town_one_simulator_worked_out_on_paper(paper: Paper) -> None:
    job = paper_job(paper(scenes="10"))  # 10 scenes of Town10HD
    assert job.samples == 2
    probe = Measured(10.0, {"Town10HD": TownProbe((FIRST,), (LATER,))}, FinishProbe(3.0, 0.1), 5e6, 1e6, 60.0)

    reported = predicted(job, job.scenes, probe, simulators=1)

    # a sample 2 s; beside the samples 12 - 8 = 4 s of a later scene, 31 - 8 = 23 s of the first
    flying_s = 10 + (23 - 4) + 10 * (2 * 2 + 4) + 2 * 0.5
    assert reported.seconds == pytest.approx(flying_s + 3 + 20 * 0.1)
    assert reported.simulator_s == pytest.approx(flying_s)
    assert reported.size_bytes == pytest.approx(1e6 + 20 * 5e6)
    assert reported.images == (10 * 2 * 5 * 2, 0)  # five cameras with masks, which do not settle


def test_ticks_of_shutters_and_images_between_samples_are_parts_of_a_sample() -> None:
    """Three samples are 5 s apart; each event repeats at the following ticks, the last one until the end."""
    begun = Progress("loads", 1)
    taken = [SampleTaken("s", sample, 3, 25 * sample) for sample in (1, 1, 1, 2, 2, 3)]
    times_s = (10.0, 11.0, 12.0, 15.0, 16.5, 20.0)
    flight = Flight.of([(begun, 4.0), *zip(taken, times_s, strict=True)], committed_s=21.0)
    assert flight == Flight(began_s=4.0, samples_s=(10.0, 15.0, 20.0), flown_s=20.0, committed_s=21.0)
    assert TownProbe((flight,), ()).sample_s == 5.0


def test_simulators_side_by_side_share_the_scenes(paper: Paper) -> None:
    job = paper_job(paper(scenes="9"))
    probe = Measured(
        10.0, {"Town10HD": TownProbe((FIRST, FIRST), (LATER, LATER))}, FinishProbe(0.0, 0.0), 0.0, 0.0, 0.0
    )

    reported = predicted(job, job.scenes, probe, simulators=4)

    assert reported.seconds == pytest.approx(10 + 19 + 3 * (2 * 2 + 4) + 2 * 0.5)  # nine scenes by four: three rounds
    assert reported.simulator_s == pytest.approx(4 * reported.seconds)


def scenes_are_drawn(monkeypatch: pytest.MonkeyPatch, *, count: int) -> list[Request]:
    """Return the list of resolved requests: the run has ``count`` scenes, the probe its named scenes."""
    requests: list[Request] = []

    def resolved(request: Request, on_top: OnTop) -> Job:
        del on_top
        requests.append(request)
        named = len(request.scenes.split("-")) if request.scenes and "-" in request.scenes else None
        return paper_job(request.model_copy(update={"scenes": str(named or count)}))

    monkeypatch.setattr(forecast, "resolve", resolved)
    monkeypatch.setattr("uavsim.run.context.resolve", resolved)
    return requests


def test_forecast_measures_a_short_run_and_leaves_no_files(paper: Paper, tmp_path: Path, monkeypatch) -> None:
    requests = scenes_are_drawn(monkeypatch, count=6)
    reported = forecast_of(paper(), console=QUIET)
    assert reported.scenes == 6
    assert reported.simulators == 1
    assert reported.seconds > 0
    assert reported.size_bytes > 0
    assert not (tmp_path / "out").exists()
    assert requests[-1].samples == 4
    assert json.loads(json.dumps(reported.as_json()))["scenes"] == 6


def test_run_without_remaining_scenes_is_refused(paper: Paper, monkeypatch) -> None:
    monkeypatch.setattr(forecast, "resolve", paper_job)
    monkeypatch.setattr(forecast, "read_ledger", lambda _: {f"scene_{k:02d}": Committed() for k in range(3)})
    with pytest.raises(InputError, match="nothing is left to forecast"):
        forecast_of(paper(), console=QUIET)


class Committed:
    state = "committed"


@pytest.mark.parametrize(("seconds", "text"), [(40.0, "40 s"), (700.0, "12 min"), (12_000.0, "3.3 h")])
def test_times_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(("count", "text"), [(12_300_000, "12 MB"), (3_400_000_000, "3.4 GB")])
def test_sizes_for_people(count: float, text: str) -> None:
    assert size(count) == text
