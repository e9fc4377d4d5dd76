"""Load worlds one after the other with the real CARLA client while other processes keep the machine busy.

    python -m conformance.load_world [--loads 500] [--busy 3] [--loads-per-process 25] [--without-silence] [--stops]

Client processes load and reload worlds of one headless simulator: freely running, in lockstep, with a camera that listens,
and with a Traffic Manager that drives. A client process that aborts, fails or hangs is counted with what ended it. With
``--stops`` they spawn, stop and destroy listening sensors instead. With ``--without-silence`` the simulator ticks on around
a load, as it did before it kept silent; that shows that the trial finds the crash. Ends with 0 only when no client crashed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from conformance.processes import run_to_end
from headless_simulator.testing import running_simulator

HANG_S = 240
KINDS = ("free", "lockstep", "camera", "traffic manager")
TALKATIVE_SERVER = """
from headless_simulator.carla.load_silence import LoadSilence
def talk_on(self):
    self.end(self._loader)
LoadSilence.settle = talk_on
from headless_simulator.cli import main
raise SystemExit(main())
"""
SETTING = """
import faulthandler, os, sys, time, queue
faulthandler.enable()
import carla
port, kind, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
client = carla.Client('127.0.0.1', port); client.set_timeout(60)
def lockstep(world):
    s = world.get_settings(); s.synchronous_mode = True; s.fixed_delta_seconds = 0.05; world.apply_settings(s)
def camera(world):
    bp = world.get_blueprint_library().find('sensor.camera.rgb')
    bp.set_attribute('image_size_x', '64'); bp.set_attribute('image_size_y', '48')
    eye = world.spawn_actor(bp, carla.Transform(carla.Location(z=40), carla.Rotation(pitch=-90)))
    eye.box = queue.Queue(); eye.listen(eye.box.put)
    return eye
"""
LOADS = """
kept = []
for n in range(count):
    if n % 2: world = client.reload_world(n % 4 == 1)
    else: world = client.load_world('Town10HD')
    if kind != 'free':
        lockstep(world)
    if kind == 'camera': kept.append(camera(world))
    if kind == 'traffic manager':
        manager = client.get_trafficmanager(port + 500); manager.set_synchronous_mode(True)
        library, places = world.get_blueprint_library().filter('vehicle.tesla.*'), world.get_map().get_spawn_points()
        kept += [world.spawn_actor(library[0], place) for place in places[:5]]
        for car in kept[-5:]: car.set_autopilot(True, manager.get_port())
    for _ in range(3): world.tick() if kind != 'free' else world.wait_for_tick()
    print('DONE', flush=True)
os._exit(0)
"""
STOPS = """
world = client.get_world()
if kind != 'free': lockstep(world)
for n in range(count):
    eyes = [camera(world) for _ in range(3)]
    for _ in range(2): world.tick() if kind != 'free' else world.wait_for_tick()
    if n % 2:
        for eye in eyes: eye.stop()
    for eye in eyes: eye.destroy()
    print('DONE', flush=True)
os._exit(0)
"""


@dataclass(frozen=True)
class Ending:
    """The end of one client process; ``trouble`` is empty on success."""

    done: int
    trouble: str


@contextlib.contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Keep ``count`` processors busy."""
    idlers = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for idler in idlers:
            idler.kill()
            idler.wait()


def run_client(port: int, kind: str, *, program: str, count: int) -> Ending:
    """Run one client process to its end."""
    command = [sys.executable, "-c", SETTING + program, str(port), kind, str(count)]
    code, lines = run_to_end(command, limit_s=HANG_S)
    done = lines.count("DONE")
    if code == 0 and done == count:
        return Ending(done, "")
    output = [line for line in lines if line not in ("DONE", "") and not line.startswith(("Extension modules", "  "))]
    where = next(
        (line.strip() for line in lines if line.startswith("  File")), ""
    )  # of a crash: the innermost call first
    how = "hung" if code is None else f"signal {-code}" if code < 0 else f"exit {code}"
    return Ending(done, f"{how}: {(output or [''])[-1][:100]} {where}".strip())


def main() -> None:
    """Run all loads; print a line per client process and a summary."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--loads", type=int, default=500)
    parser.add_argument("--busy", type=int, default=3, help="number of processes that only use CPU time")
    parser.add_argument("--loads-per-process", type=int, default=25)
    parser.add_argument("--without-silence", action="store_true", help="let the simulator tick on around a load")
    parser.add_argument("--stops", action="store_true", help="stop and destroy sensors instead of loading")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # stops the simulator that this program started
    began, done, clients, crashes = time.monotonic(), 0, 0, Counter[str]()
    program = STOPS if options.stops else LOADS
    server = ("-c", TALKATIVE_SERVER) if options.without_silence else ("-m", "headless_simulator")
    with running_simulator(command=(sys.executable, *server)) as simulator, busy_processes(options.busy):
        while done < options.loads:
            kind = KINDS[clients % (3 if options.stops else len(KINDS))]
            count = min(options.loads_per_process, options.loads - done)
            ending = run_client(simulator.carla_port, kind, program=program, count=count)
            clients, done = clients + 1, done + max(ending.done, 1)
            if ending.trouble:
                crashes[ending.trouble] += 1
            print(f"{kind:16} {ending.done:3} of {count:3}  {ending.trouble or 'ok'}", flush=True)
    summary = {"loads": done, "clients": clients, "crashed": crashes.total(), "busy": options.busy}
    print(json.dumps({**summary, "s": round(time.monotonic() - began), "endings": dict(crashes)}))
    sys.exit(1 if crashes else 0)


if __name__ == "__main__":
    main()
