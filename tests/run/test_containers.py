"""Container files are checked by rules of engines and linters, without a container engine."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

from uavsim.config.run import CARLA_IMAGE

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
DOCKERFILES = sorted((ROOT / "docker").glob("Dockerfile*"))


@pytest.mark.parametrize("name", SERVICES)
def test_every_port_is_on_this_machine_only(name: str) -> None:
    for port in SERVICES[name].get("ports", []):
        assert str(port).startswith("127.0.0.1:"), f"{name} publishes {port}"


@pytest.mark.parametrize("name", SERVICES)
def test_images_are_pinned_and_services_have_a_profile(name: str) -> None:
    image = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", SERVICES[name]["image"])
    tag, _, digest = image.partition(":")[2].partition("@")
    assert re.match(r"\d+\.\d+", tag), f"{name}: {image}"
    assert image.startswith("uavsim") or re.fullmatch(r"sha256:[0-9a-f]{64}", digest), f"{name}: {image} has no digest"
    assert set(SERVICES[name]["profiles"]) <= {"headless", "gpu", "bridge"}
    assert SERVICES[name]["profiles"]


@pytest.mark.parametrize("profiles", [{"headless"}, {"gpu"}, {"gpu", "bridge"}], ids=sorted)
def test_profiles_are_complete(profiles: set[str]) -> None:
    inside = {name for name, service in SERVICES.items() if profiles & set(service["profiles"])}
    for name in inside:
        service = SERVICES[name]
        for other, condition in service.get("depends_on", {}).items():
            if not condition.get("required", True):
                continue
            assert other in inside, f"{name} needs {other}, which is not in {profiles}"
            if condition["condition"] == "service_healthy":
                assert "healthcheck" in SERVICES[other]
        if service.get("network_mode", "").startswith("service:"):
            assert service["network_mode"].removeprefix("service:") in inside
            assert "ports" not in service  # compose refuses both
        for volume in service.get("volumes", []):
            source = volume["source"] if isinstance(volume, dict) else volume.split(":")[0]
            assert source in COMPOSE["volumes"] or source.startswith(("${", "./", "/"))
    needed = {
        "headless": {"mock-sim", "worker", "prefect", "postgres"},
        "gpu": {"carla", "worker-gpu", "prefect"},
        "bridge": {"airsim"},
    }
    assert set().union(*(needed[profile] for profile in profiles)) <= inside
    assert ("airsim" in inside) == ("bridge" in profiles)  # its archive is not available to all


def test_the_example_of_the_environment_has_every_variable_and_no_password() -> None:
    lines = [line for line in (ROOT / ".env.example").read_text().splitlines() if line and not line.startswith("#")]
    example = dict(line.split("=", 1) for line in lines)
    assert set(example) == set(re.findall(r"\$\{(\w+)", (ROOT / "docker-compose.yml").read_text()))
    assert example["POSTGRES_PASSWORD"] == ""
    defaults = re.findall(r"\$\{(\w+):-([^}]*)\}", (ROOT / "docker-compose.yml").read_text())
    assert all(example[name] == value for name, value in defaults)


def test_carla_runs_off_screen_on_the_card_that_is_asked_for() -> None:
    carla = SERVICES["carla"]
    assert carla["image"] == f"${{CARLA_IMAGE:-{CARLA_IMAGE}}}"
    assert {"-RenderOffScreen", "-nosound"} <= set(carla["command"])
    (device,) = carla["deploy"]["resources"]["reservations"]["devices"]
    assert device["driver"] == "nvidia"
    assert {"gpu", "graphics"} <= set(device["capabilities"])  # Vulkan needs graphics


def test_no_secret_is_written_down() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    for line in text.splitlines():
        if re.search(r"password|secret|token", line, re.IGNORECASE) and not line.lstrip().startswith("#"):
            assert "${POSTGRES_PASSWORD" in line or "no-new-privileges" in line, line


def test_only_our_commands_are_registered() -> None:
    from typer.main import get_command

    from uavsim.cli import build_app

    known = set(vars(get_command(build_app()))["commands"])
    for service in SERVICES.values():
        if service["image"].startswith("uavsim:") and "entrypoint" not in service:
            assert service["command"][0] in known


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda p: p.name)
def test_dockerfiles_keep_the_linters_rules(path: Path) -> None:
    steps = instructions(path.read_text())
    base = dict(words.split("=", 1) for verb, words in steps if verb == "ARG").get("BASE", "")
    froms = [words.replace("${BASE}", base) for verb, words in steps if verb == "FROM"]
    for words in froms:
        assert re.search(r":\d+\.\d+", words.split()[0]), f"{words}: pin a version"
    last_stage = steps[max(i for i, (verb, _) in enumerate(steps) if verb == "FROM") :]
    users = [words for verb, words in last_stage if verb == "USER"]
    assert users, "runs as root"
    assert users[-1] not in {"root", "0"}
    for verb, words in steps:
        assert verb != "ADD", "COPY does what is meant"
        if verb in {"CMD", "ENTRYPOINT"}:
            assert words.startswith("["), f"{verb} {words}: write a JSON list, so that signals arrive"
        if verb == "RUN" and "apt-get install" in words:
            assert "--no-install-recommends" in words
            assert "rm -rf /var/lib/apt/lists" in words
            install = words.split("apt-get install", 1)[1].split("&&")[0]
            packages = [word for word in shlex.split(install) if not word.startswith("-")]
            assert all("=" in package for package in packages), f"pin {packages}"
        if verb == "RUN" and "pip install" in words:
            assert "--require-hashes" in words


def test_every_member_of_the_workspace_is_in_the_image() -> None:
    """``uv sync --locked`` refuses a workspace that lacks a member."""
    members = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["workspace"]["members"]
    copies = [
        words.split()[0] for verb, words in instructions((ROOT / "docker/Dockerfile").read_text()) if verb == "COPY"
    ]
    assert set(members) <= set(copies)
    assert {f"{member}/pyproject.toml" for member in members} <= set(copies)


def test_the_image_is_built_from_what_it_needs_only() -> None:
    included = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied: set[str] = set()
    for verb, words in instructions((ROOT / "docker/Dockerfile").read_text()):
        if verb == "COPY" and not words.startswith("--from"):
            copied.update(word.removeprefix("./") for word in words.split()[:-1])
    assert {name for name in copied if not any(name == k or name.startswith(f"{k}/") for k in included)} == set()
    assert {k for k in included if not any(name == k or name.startswith(f"{k}/") for name in copied)} == set()
    assert all((ROOT / name).exists() for name in included)


def instructions(text: str) -> list[tuple[str, str]]:
    """Return (verb, words) of every instruction; continued lines are joined, comments dropped."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [(line.split(None, 1)[0].upper(), line.split(None, 1)[1].strip()) for line in joined.splitlines()]


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda path: path.name)
def test_base_images_are_pinned_by_digest_and_uv_by_hash(file: Path) -> None:
    text = file.read_text()
    assert text.count("FROM ${BASE}") == 0 or "\nARG BASE=" in text
    for base in re.findall(r"^(?:FROM|ARG BASE=) ?(?!\$\{BASE\})(\S+)", text, re.MULTILINE):
        assert re.fullmatch(r"\S+:\S+@sha256:[0-9a-f]{64}", base), base
    for line in text.splitlines():
        assert "pip install" not in line or "--require-hashes" in line, line
    assert "--hash=sha256:" in (ROOT / "scripts/uv.txt").read_text()


def test_carlas_image_is_the_same_everywhere() -> None:
    assert f"FROM {CARLA_IMAGE}\n" in (ROOT / "docker/Dockerfile.carla").read_text()
