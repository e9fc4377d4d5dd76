"""Build docker/Dockerfile on a stand-in base and run docker-compose.yml's headless services from it, health checks included.

    scripts/trial containers [--base FOLDER] [--work FOLDER]

No registry is asked: the base is Debian 12 by debootstrap (or FOLDER, one made before), buildah builds, and crun runs every
container with a read-only root, as the image's user, without capabilities, with the commands, environments, volumes and
tmpfs of docker-compose.yml. All share one network of the trial's own, so that the file's ports are free; PostgreSQL is this
machine's. Needs root and, of Debian, buildah, crun, debootstrap, iproute2 and postgresql. Exit code 1 where a service does not
get healthy, the worker's run does not complete, or its dataset differs from the same run in one container.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import yaml

from tools.common import ROOT
from tools.common.leftovers import dataset_files, differing
from tools.common.postgres import PASSWORD, PostgreSQL

NEEDED: Final = ("buildah", "crun", "debootstrap", "ip", "unshare", "chroot")
CERTIFICATES: Final = "/etc/ssl/certs/ca-certificates.crt"
NO_CONFIGS: Final[Mapping[str, Path]] = MappingProxyType({})
USER: Final = 10001
SCENE: Final = ("--dataset", "smoke", "--town", "Town10HD", "--scenes", "0", "--samples", "2")
REQUEST: Final = (
    '{"dataset": "smoke", "towns": ["Town10HD"], "scenes": "0", "samples": 2, "simulators": ["mock-sim"], '
    '"out": "/data/worker"}'
)


@dataclass(frozen=True, slots=True)
class Image:
    """The built image, unpacked where containers mount it."""

    root: Path
    work: Path
    config: dict[str, Any]

    def bundle(
        self, name: str, words: Sequence[str], *, env: dict[str, str], configs: Mapping[str, Path] = NO_CONFIGS
    ) -> Path:
        """Write an OCI bundle that runs ``words``: read-only, the image's user, no capability, no new privilege."""
        flags = ["nosuid", "noexec", "nodev"]
        extra = [spec.partition(":")[::2] for spec in common_service()["tmpfs"]]
        mounts = [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
            {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": flags},
            {
                "destination": "/etc/hosts",
                "type": "bind",
                "source": str(self.work / "hosts"),
                "options": ["bind", "ro"],
            },
        ]
        mounts += [
            {"destination": to, "type": "tmpfs", "source": "tmpfs", "options": [*flags, *filter(None, how.split(","))]}
            for to, how in extra
        ]
        volumes = {"/data": "data", "/home/uavsim/.cache": "cache"}
        mounts += [
            {"destination": to, "type": "bind", "source": str(self.work / volume), "options": ["rbind", "rw"]}
            for to, volume in volumes.items()
        ]
        mounts += [
            {"destination": to, "type": "bind", "source": str(source), "options": ["bind", "ro"]}
            for to, source in configs.items()
        ]
        variables = dict(word.split("=", 1) for word in self.config["Env"]) | {"HOME": "/home/uavsim"} | env
        spec = {
            "ociVersion": "1.0.2",
            "process": {
                "user": {"uid": USER, "gid": USER},
                "args": list(words),
                "env": [f"{key}={value}" for key, value in variables.items()],
                "cwd": self.config["WorkingDir"],
                "capabilities": {},
                "noNewPrivileges": True,
            },
            "root": {"path": str(self.root), "readonly": True},
            "mounts": mounts,
            "linux": {"namespaces": [{"type": kind} for kind in ("mount", "pid", "ipc", "uts")]},
        }
        folder = self.work / "bundles" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(spec))
        return folder


@dataclass
class Service:
    """One service of docker-compose.yml.

    Attributes:
        name: name of the service.
        definition: its definition in the file.
        process: process of its container's runtime, once started.
    """

    name: str
    definition: dict[str, Any]
    process: subprocess.Popen[bytes] | None = None
    begun: float = field(default_factory=time.monotonic)

    def start(self, image: Image) -> None:
        """Start the container."""
        words = [*self.definition.get("entrypoint", image.config["Entrypoint"]), *self.definition.get("command", [])]
        env = {key: filled_in(str(value)) for key, value in self.definition.get("environment", {}).items()}
        configs = {config["target"]: image.work / config["source"] for config in self.definition.get("configs", ())}
        bundle = image.bundle(self.name, words, env=env, configs=configs)
        self.begun = time.monotonic()
        with (image.work / f"{self.name}.log").open("wb") as log:
            self.process = subprocess.Popen(crun("run", "--bundle", str(bundle), self.name), stdout=log, stderr=log)

    def healthy_after_s(self) -> float:
        """Run the health check in the container until it succeeds; returns seconds since the start.

        Raises:
            RuntimeError: the container ended, or all retries failed.
        """
        check = self.definition["healthcheck"]
        assert check["test"][0] == "CMD"
        grace = time.monotonic() + 60 * float(check.get("start_period", "0m").removesuffix("m"))
        failures = 0
        while failures < int(check["retries"]):
            if self.process is None or self.process.poll() is not None:
                break
            done = subprocess.run(crun("exec", self.name, *check["test"][1:]), capture_output=True, check=False)
            if done.returncode == 0:
                return time.monotonic() - self.begun
            failures += time.monotonic() > grace
            time.sleep(float(check["interval"].removesuffix("s")))
        raise RuntimeError(f"{self.name} is not healthy: see its log")


def crun(*words: str) -> list[str]:
    """Return a command of crun, which creates no cgroups so that it works inside containers."""
    return ["crun", "--cgroup-manager=disabled", f"--root=/run/uavsim-trial-{os.getpid()}", *words]


def buildah(work: Path, *words: str) -> str:
    """Run buildah with a separate store."""
    store_options = ["--storage-driver", "vfs", "--root", str(work / "store"), "--runroot", str(work / "runroot")]
    done = subprocess.run(["buildah", *store_options, *words], check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"buildah {words[0]}: {done.stderr[-3000:]}")
    return done.stdout.strip()


def stand_in(work: Path, base: Path | None) -> None:
    """Make the base image: Debian 12 with Python 3.11, with commands ``python`` and ``pip`` as in python:3.11-slim."""
    root = work / "base"
    if base is None:
        packages = "--include=python3,python3-venv,python3-pip,ca-certificates"
        subprocess.run(
            ["debootstrap", "--variant=minbase", packages, "bookworm", str(root)], check=True, stdout=subprocess.DEVNULL
        )
    else:
        subprocess.run(["cp", "-a", str(base), str(root)], check=True)
    (root / "usr/lib/python3.11/EXTERNALLY-MANAGED").unlink(missing_ok=True)
    python = root / "usr/bin/python"
    if not python.is_symlink():
        python.symlink_to("python3")
    shutil.copyfile(CERTIFICATES, root / CERTIFICATES[1:])
    container = buildah(work, "from", "scratch")
    buildah(work, "add", "--quiet", container, str(root), "/")
    buildah(work, "config", "--env", f"SSL_CERT_FILE={CERTIFICATES}", container)
    buildah(work, "commit", "--quiet", "--rm", container, "localhost/base")
    shutil.rmtree(root)


def built(work: Path) -> Image:
    """Build the image and unpack it; prints its size, layers and time."""
    begun = time.monotonic()
    words = ("--isolation", "chroot", "--build-arg", "BASE=localhost/base", "--file", str(ROOT / "docker/Dockerfile"))
    buildah(work, "build", "--quiet", *words, "--tag", "localhost/uavsim", str(ROOT))
    seconds = time.monotonic() - begun
    manifest = json.loads(buildah(work, "inspect", "--type", "image", "localhost/uavsim"))["OCIv1"]
    root = Path(buildah(work, "mount", buildah(work, "from", "localhost/uavsim")))
    done = subprocess.run(["du", "-sm", str(root)], check=True, capture_output=True, text=True)
    layers = len(manifest["rootfs"]["diff_ids"])
    print(f"built in {seconds:.0f} s: {done.stdout.split()[0]} MB unpacked, {layers} layers", flush=True)
    (work / "hosts").write_text("127.0.0.1 localhost postgres prefect mock-sim\n")
    return Image(root, work, manifest["config"])


def once(image: Image, name: str, *words: str, env: dict[str, str] | None = None) -> None:
    """Run a command of the image and print its duration.

    Raises:
        RuntimeError: the command failed.
    """
    bundle = image.bundle(name, words, env=env or {})
    begun = time.monotonic()
    done = subprocess.run(
        crun("run", "--bundle", str(bundle), name),
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        raise RuntimeError(f"{name}: exit code {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    seconds = time.monotonic() - begun
    print(f"{name:12s} {' '.join(words)[:90]}: {seconds:.1f} s", flush=True)


def common_service() -> dict[str, Any]:
    """Return the common definition of our services in docker-compose.yml."""
    found: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["x-ours"]
    return found


def filled_in(text: str) -> str:
    """Substitute the trial's values in a text of docker-compose.yml."""
    return text.replace("${POSTGRES_PASSWORD:?}", PASSWORD)


def services(image: Image) -> bool:
    """Start the services of the headless profile in order and run a flow; returns whether its dataset is as expected."""
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    definitions = compose["services"]
    for name, config in compose["configs"].items():
        (image.work / name).write_text(config["content"])
    data = image.work / "data"
    running = {name: Service(name, definitions[name]) for name in ("prefect", "deploy", "mock-sim", "worker")}
    api = running["deploy"].definition["environment"]
    try:
        for name, service in running.items():
            service.start(image)
            if "healthcheck" in service.definition:
                print(f"{name:12s} healthy after {service.healthy_after_s():.1f} s", flush=True)
            elif name == "deploy":
                assert service.process is not None
                if service.process.wait(300):
                    raise RuntimeError("deploy failed: see its log")
                print(f"{name:12s} ended with 0 after {time.monotonic() - service.begun:.1f} s", flush=True)
        flow = ("prefect", "deployment", "run", "generate-town/uavsim", "--watch", "-p", f"request={REQUEST}")
        once(image, "run", *flow, env=api)
        once(image, "check", "uavsim", "validate", "/data/worker")
        alive = [name for name, service in running.items() if name != "deploy" and service.process.poll() is None]  # type: ignore[union-attr]
        print(f"still up: {', '.join(alive)}")
    finally:
        for service in running.values():
            if service.process is not None and service.process.poll() is None:
                subprocess.run(crun("kill", service.name, "KILL"), check=False)
                service.process.wait(30)
    differ = differing(dataset_files(data / "one"), dataset_files(data / "worker"))
    print(f"worker's dataset: {len(dataset_files(data / 'worker'))} files, {len(differ)} differ from one container's")
    return not differ and len(alive) == 3


def trial(work: Path, base: Path | None) -> int:
    """Build the image, then run in a separate network namespace."""
    if os.environ.get("UAVSIM_TRIAL_NETWORK") is None:
        stand_in(work, base)
        image = built(work)
        (work / "image.json").write_text(json.dumps({"root": str(image.root), "config": image.config}))
        again = [sys.executable, "-m", "tools.trials", "containers", "--work", str(work), "--built"]
        inside = 'mount -t tmpfs none /sys/fs/cgroup && ip link set lo up && exec "$@"'  # crun refuses cgroups in hybrid mode
        return subprocess.run(
            ["unshare", "--net", "--mount", "sh", "-c", inside, "sh", *again],
            check=False,
            env={**os.environ, "UAVSIM_TRIAL_NETWORK": "1"},
        ).returncode
    known = json.loads((work / "image.json").read_text())
    image = Image(Path(known["root"]), work, known["config"])
    for volume in ("data", "cache"):
        (work / volume).mkdir(exist_ok=True)
        os.chown(work / volume, USER, USER)
    once(image, "start", "uavsim", "--help")
    once(image, "generate", "uavsim", "generate", *SCENE, "--out", "/data/one", "--quiet")
    once(image, "again", "uavsim", "generate", *SCENE, "--out", "/data/two", "--quiet")
    once(image, "validate", "uavsim", "validate", "/data/one")
    begun = time.monotonic()
    with PostgreSQL(work):
        print(f"{'postgres':12s} healthy after {time.monotonic() - begun:.1f} s (of this machine)", flush=True)
        return 0 if services(image) else 1


def main() -> int:
    """Run the trial."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, help="a Debian 12 root that debootstrap made")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--built", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if missing := [name for name in NEEDED if shutil.which(name) is None]:
        sys.exit(f"not installed: {', '.join(missing)}; apt-get install buildah crun debootstrap iproute2 postgresql")
    if options.built:
        return trial(options.work, None)
    work = Path(tempfile.mkdtemp(prefix="containers-", dir=options.work))
    try:
        return trial(work, options.base)
    finally:
        with contextlib.suppress(RuntimeError):
            buildah(work, "umount", "--all")
        shutil.rmtree(work, ignore_errors=True)
