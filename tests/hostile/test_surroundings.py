"""Credentials in addresses, flow parameters, proxies, and low limits."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.e2e.command import uavsim
from uavsim.config.run import RunConfig
from uavsim.environment import cache_folder, keep_local_direct, open_file_limit
from uavsim.errors import InputError, SystemFailure, UnknownNameError
from uavsim.flows.server import check_api
from uavsim.run.request import Request
from uavsim.run.worker import WORKER_RUN, of_worker
from uavsim.store.journal import redact

SECRETS = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=12, max_size=40)


@given(SECRETS, SECRETS)
def test_no_secret_survives_redaction(key: str, secret: str) -> None:
    for text in (
        f"s3://{key}:{secret}@bucket/x",
        f"cannot reach https://{key}:{secret}@host:4200/api today",
        f"password={secret} next",
        f"AWS_SECRET_ACCESS_KEY = {secret}",
        json.dumps({"aws_secret_access_key": secret}, ensure_ascii=False),
        f"Authorization: Bearer {secret}",
        f"--api-key={secret}",
    ):
        assert secret not in redact(text)
        assert redact(redact(text)).count("***") >= 1


def test_status_prints_no_key() -> None:
    done = uavsim("status", "s3://KEY:SEC/RET@bucket/x")
    assert done.returncode == 2
    assert "KEY" not in done.stdout + done.stderr.replace("AWS_ACCESS_KEY_ID", "").replace("AWS_SECRET_ACCESS_KEY", "")
    assert "SEC/RET" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "parameters",
    [
        {"dataset": "smoke", "run": {"simulators": ({"kind": "command", "command": ("touch", "/x")},)}},
        {"dataset": "smoke", "run": {"simulators": ({"kind": "docker", "image": "evil"},)}},
        {"dataset": "/etc/x.yaml"},
        {"dataset": "smoke", "rig": "../rig.yaml"},
    ],
)
def test_flow_parameters_carry_no_commands_images_or_files(parameters: dict[str, Any]) -> None:
    if "run" in parameters:
        parameters = parameters | {"run": RunConfig.model_validate(parameters["run"])}
    with pytest.raises(InputError):
        of_worker(Request(out="/x", **parameters))


def test_a_worker_knows_its_own_simulators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "run.yaml"
    file.write_text("simulators: [{name: big, kind: command, command: [/opt/CarlaUE4.sh]}]\n")
    monkeypatch.setenv(WORKER_RUN, str(file))
    request = of_worker(Request(dataset="smoke", out="/x", simulators=("big", "mock")))
    assert [s.kind for s in request.run_config().simulators] == ["command", "mock"]
    with pytest.raises(UnknownNameError, match="big"):
        of_worker(Request(dataset="smoke", out="/x", simulators=("bog",)))
    with pytest.raises(UnknownNameError):
        of_worker(Request(dataset="smoke", out="/x", simulators=("10.0.0.1:2000",)))


def test_local_addresses_never_go_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "example.com")
    monkeypatch.setenv("http_proxy", "http://10.255.255.1:9")
    keep_local_direct()
    keep_local_direct()
    assert os.environ["no_proxy"] == "example.com,127.0.0.1,localhost,::1"
    with pytest.raises(SystemFailure, match="refused"):
        check_api("http://127.0.0.1:9/api")


def test_no_home_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    assert cache_folder().is_absolute()


def test_a_low_limit_is_the_hosts() -> None:
    code = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))"
    code += "; from uavsim.environment import open_file_limit; open_file_limit()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "this host allows a process 40 open files" in done.stderr
    open_file_limit()
