"""The Prefect server of ``uavsim ui``: private, ends with its process, and runs survive its end."""

import contextlib
import signal
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.run.every_front import Paper, interrupted_when
from uavsim.errors import SystemFailure
from uavsim.flows import runs
from uavsim.flows import server as server_module
from uavsim.flows.command import generate
from uavsim.flows.server import Address, account_address, account_server, open_runs, prefect_server, use_api
from uavsim.run import finish
from uavsim.store.output import Output
from uavsim.supervise.process import GuardedProcess
from uavsim.terminal import Screen


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Address, Path]]:
    """Run the account's server in an environment with conflicting variables and an occupied port."""
    folder = tmp_path_factory.mktemp("account")
    database = folder / "theirs.db"
    env = {
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{database}",
        "PREFECT_SERVER_API_CORS_ALLOWED_ORIGINS": "*",
        "PREFECT_SERVER_API_AUTH_STRING": "",
        "PREFECT_LOGGING_LEVEL": "chatty",
        "http_proxy": "http://127.0.0.1:9",
    }
    with pytest.MonkeyPatch.context() as patch, socket.create_server(("127.0.0.1", 0)) as other:
        patch.setenv("XDG_DATA_HOME", str(folder))
        with pytest.MonkeyPatch.context() as start, contextlib.ExitStack() as stack:
            for name, value in env.items():
                start.setenv(name, value)
            address = stack.enter_context(account_server(port=other.getsockname()[1]))
            running_on = stack.pop_all()
        with running_on:
            assert not address.url.endswith(f":{other.getsockname()[1]}")
            yield address, database


def ask(url: str, *, key: str = "", origin: str = "") -> tuple[int, dict[str, str]]:
    import base64

    headers = {"Origin": origin} if origin else {}
    if key:
        headers["Authorization"] = "Basic " + base64.b64encode(key.encode()).decode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, headers=headers), timeout=30) as answer:
            return answer.status, dict(answer.headers)
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers)


def test_the_accounts_server_is_private(running: tuple[Address, Path]) -> None:
    address, database = running
    assert not database.exists()
    assert address.key_file.stat().st_mode & 0o077 == 0
    assert ask(f"{address.api}/admin/version")[0] in {401, 403}
    status, headers = ask(f"{address.api}/admin/version", key=address.key, origin="http://evil.example")
    assert status == 200
    assert not any(name.lower() == "access-control-allow-origin" for name in headers)


def test_runs_use_the_accounts_server_and_a_second_one_is_refused(running: tuple[Address, Path]) -> None:
    address, _ = running
    assert account_address() == address
    with pytest.raises(SystemFailure, match=f"running already at {address.url}"), account_server(port=0):
        pass


def test_a_server_that_does_not_start_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(server_module, "python_command", lambda *_: ["sh", "-c", "echo no such table >&2; exit 7"])
    with pytest.raises(SystemFailure, match=r"ended with code 7: no such table"), prefect_server(tmp_path):
        pass


@pytest.fixture
def fragile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Address, psutil.Process]]:
    """Run a server for one test; yields its address and process."""
    (tmp_path / "prefect").mkdir()
    processes: list[GuardedProcess] = []

    class Watched(GuardedProcess):
        def __init__(self, *arguments: object, **options: object) -> None:
            super().__init__(*arguments, **options)  # type: ignore[arg-type]
            processes.append(self)

    with monkeypatch.context() as patch, contextlib.ExitStack() as stack:
        patch.setattr(server_module, "GuardedProcess", Watched)
        address = stack.enter_context(prefect_server(tmp_path / "prefect"))
        stack.enter_context(use_api(address.api, key=address.key))
        monkeypatch.setattr(runs, "_ANSWER_S", 1.0)
        pid = processes[0].child_pid
        assert pid is not None
        with stack.pop_all():
            yield address, psutil.Process(pid)


@pytest.mark.release
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
def test_a_run_outlives_its_server(
    end: signal.Signals,
    fragile: tuple[Address, psutil.Process],
    paper: Paper,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The server is killed, or freezes, after the last scene; the run ends with the next call of the server."""
    address, process = fragile
    before = psutil.Process().children(recursive=True)
    assemble = finish.assemble_tables
    using, drawn_s = [], []

    def end_and_assemble(output: Output) -> list[str]:
        using.extend(open_runs(address))
        process.send_signal(end)
        return assemble(output)

    def draw(root: Path, *, versions: list[str]) -> Path:
        page = sheet(root, versions=versions)
        drawn_s.append(time.monotonic())
        return page

    sheet = finish.sheet
    monkeypatch.setattr(finish, "assemble_tables", end_and_assemble)
    monkeypatch.setattr(finish, "sheet", draw)
    result = generate(paper(scenes="4").model_copy(update={"check": False}), console=Screen(stderr=True))
    assert time.monotonic() - drawn_s[0] < 10
    assert using == ["tiny Town10HD 4"]
    assert result.error is None
    assert len(result.committed) == 4
    assert result.contact_sheet is not None
    assert capsys.readouterr().err.count("the run continues without it") == 1
    assert set(psutil.Process().children(recursive=True)) <= set(before)


@pytest.mark.release
def test_an_interrupt_does_not_wait_for_a_frozen_server(
    fragile: tuple[Address, psutil.Process], paper: Paper, tmp_path: Path
) -> None:
    request = paper(faults={"scene_00": ["hang"]}, patience_s=600.0)
    frozen_s = []

    def freeze() -> None:
        fragile[1].suspend()
        frozen_s.append(time.monotonic())

    with interrupted_when("flying", tmp_path / "out", first=freeze):
        generate(request, console=Screen(quiet=True))
    assert time.monotonic() - frozen_s[0] < 10
