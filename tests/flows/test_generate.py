"""Generation through Prefect with a real server, flows, tasks and artifacts, and synthetic scenes."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Any, NoReturn

import httpx
import psutil
import pytest
from prefect.concurrency.asyncio import ConcurrencySlotAcquisitionError

from tests.conftest import RunningPrefect
from tests.run.every_front import EveryFront, Fly, Paper
from tests.run.test_stages import run_all
from tools.common.leftovers import contents
from uavsim.errors import InputError, SystemFailure
from uavsim.flows import runs
from uavsim.flows.command import generate
from uavsim.flows.server import check_api, use_api
from uavsim.run.request import Request
from uavsim.run.result import Result
from uavsim.store.ledger import read_ledger
from uavsim.store.local import LocalOutput
from uavsim.terminal import Screen


@pytest.fixture(scope="module")
def api(prefect: RunningPrefect) -> Iterator[str]:
    with use_api(prefect.url, key=prefect.key):
        yield prefect.url


def run(request: Request) -> Result:
    return generate(request.model_copy(update={"check": False}), console=Screen(quiet=True))


@pytest.fixture
def fly(api: str) -> Fly:
    return run


class TestPrefect(EveryFront):
    pass


def test_flow_and_stages_make_the_same_dataset(api: str, paper: Paper, tmp_path: Path) -> None:
    result = run(paper(simulators=2, scenes="4"))
    assert result.error is None
    assert result.committed == ("scene_00", "scene_01", "scene_02", "scene_03")
    assert result.images == 4 * 5 * 2
    assert result.contact_sheet is not None
    assert result.contact_sheet.stat().st_size > 1000
    run_all(paper(scenes="4", out=tmp_path / "plain"))
    flown, plain = contents(tmp_path / "out"), contents(tmp_path / "plain")
    assert flown == plain


@pytest.mark.parametrize(("error", "reason"), [(None, " 403"), (RuntimeError("no event loop"), "no event loop")])
def test_refused_concurrency_limit_ends_the_run_before_a_flight(
    error: Exception | None, reason: str, api: str, paper: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the limit, another run could fly on the same simulator."""

    def refused(*_: object, **__: object) -> NoReturn:
        if error is not None:
            raise error
        answer = httpx.Response(403, request=httpx.Request("POST", f"{api}/v2/concurrency_limits/increment"))
        raise ConcurrencySlotAcquisitionError("403 Forbidden") from httpx.HTTPStatusError(
            "403", request=answer.request, response=answer
        )

    monkeypatch.setattr(runs, "concurrency", refused)
    with pytest.raises(SystemFailure, match=rf"refuses the concurrency limit 'simulator 127\.0\.0\.1:\d+'.*{reason}"):
        run(paper(scenes="1"))
    assert read_ledger(LocalOutput(tmp_path / "out"))["scene_00"].state == "flying"


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow flows the tests' files and simulators; tests/hostile covers refusals of a worker."""
    monkeypatch.setattr("uavsim.flows.runs.of_worker", lambda request: request)
    monkeypatch.setattr("uavsim.flows.generate.of_worker", lambda request: request)


@pytest.mark.usefixtures("trusted")
def test_every_flow_takes_one_request_also_as_json(api: str, paper: Paper, tmp_path: Path) -> None:
    from uavsim.flows.generate import (
        assemble_dataset,
        generate_dataset,
        generate_town,
        regenerate_mini,
        validate_dataset,
    )

    for flow in (generate_dataset, generate_town, regenerate_mini, assemble_dataset, validate_dataset):
        assert list(flow.parameters.properties) == ["request"]
    request = paper(scenes="2").model_copy(update={"check": False})
    assert generate_town(request.model_dump(mode="json")).named("committed") == ("scene_00", "scene_01")  # type: ignore[call-overload]
    first = contents(tmp_path / "out")
    assert generate_dataset(request).named("committed") == ("scene_00", "scene_01")
    assert assemble_dataset({"out": str(tmp_path / "out")}) == ["v1.0-mini"]  # type: ignore[call-overload]
    assert contents(tmp_path / "out") == first
    with pytest.raises(InputError, match="flies one town; towns has 2"):
        generate_town(request.model_copy(update={"towns": ("Town10HD", "Town07")}))


@pytest.mark.usefixtures("trusted")
def test_two_flows_in_one_process_do_not_meet(api: str, paper: Paper, tmp_path: Path) -> None:
    """Each flow has its own simulators and context."""
    from uavsim.flows.generate import generate_dataset

    requests = [paper(scenes="2", out=tmp_path / name).model_copy(update={"check": False}) for name in ("a", "b")]
    with ThreadPoolExecutor() as threads:
        contexts = [copy_context() for _ in requests]
        runs = [threads.submit(c.run, generate_dataset, q) for c, q in zip(contexts, requests, strict=True)]
        assert [run.result().named("committed") for run in runs] == [("scene_00", "scene_01")] * 2
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_deployments_show_the_request_as_a_form(api: str) -> None:
    from prefect.client.orchestration import get_client

    from uavsim.flows.deploy import DEPLOYMENTS, deploy

    assert deploy("test-pool", cron="0 3 * * 1") == [f"{name}/uavsim" for name in DEPLOYMENTS]
    with get_client(sync_client=True) as client:
        for name in DEPLOYMENTS:
            found = client.read_deployment_by_name(f"{name}/uavsim")
            assert list(found.parameter_openapi_schema["properties"]) == ["request"]
            assert len(found.schedules) == (name == "regenerate-mini")
            assert found.job_variables["env"] == {"PREFECT_CLIENT_RETRY_EXTRA_CODES": "500"}  # a missing database
        form = client.read_deployment_by_name("generate-town/uavsim").parameter_openapi_schema["definitions"]["Request"]
    assert {"dataset", "towns", "scenes", "out", "simulators", "force"} <= set(form["properties"])


def test_people_see_runs_tasks_and_artifacts(api: str, paper: Paper, tmp_path: Path) -> None:
    from prefect import tags
    from prefect.client.orchestration import get_client

    tag = str(tmp_path)  # other workers' tests share the server, and their runs may have the same names
    with tags(tag):
        run(paper(scenes="2"))
    with get_client(sync_client=True) as client:

        def named(kind: str, key: str) -> dict[str, dict[str, Any]]:
            tag_filter = {"flow_runs": {"tags": {"all_": [tag]}}}
            return {found[key]: found for found in client._client.post(f"/{kind}/filter", json=tag_filter).json()}

        assert {"tiny Town10HD 2", "tiny all towns 2"} & set(named("flow_runs", "name"))
        artifacts = named("artifacts", "key")
        # Prefect's client reports task runs by events, which its server files away in its own time
        deadline = time.monotonic() + 60
        while not {"scene_00", "scene_01"} <= set(named("task_runs", "name")):
            assert time.monotonic() < deadline, sorted(named("task_runs", "name"))
            time.sleep(0.1)
    assert "contact-sheet-out" in artifacts
    assert "file:" not in artifacts["contact-sheet-out"]["description"]  # a page of a server may not open it
    assert json.loads(artifacts["scenes-tiny-town10hd"]["data"])[0]["vehicles"] == "11 of 11"


def test_bad_input_starts_nothing_and_writes_nothing(
    paper: Paper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/thesis.tex").write_text("x")
    before = psutil.Process().children(recursive=True)
    with pytest.raises(InputError, match=r"thesis\.tex"):
        run(paper())
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["thesis.tex"]
    assert psutil.Process().children(recursive=True) == before


def test_a_prefect_server_that_is_not_there() -> None:
    with pytest.raises(SystemFailure, match="unset PREFECT_API_URL"):
        check_api("http://127.0.0.1:9/api")
