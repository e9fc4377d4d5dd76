# ruff: noqa: T201 - printing events is its job
"""A client process with a selected fault: ``fake_client_worker.py BEHAVIOUR [MARK_FILE]``.

With MARK_FILE the fault occurs only once: the second process finds the file and works.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path


def say(**event: object) -> None:
    print(json.dumps(event), flush=True)


def block_for_ever() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(60)


def misbehave(behaviour: str) -> None:
    match behaviour:
        case "hang":
            block_for_ever()
        case "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "die":
            print("libcarla: terminate called", file=sys.stderr, flush=True)
            os._exit(134)
        case "nonsense":
            while True:
                print("WARNING: attempting to destroy an actor that is already dead", flush=True)
                time.sleep(0.01)
        case "endless-line":
            while True:
                sys.stdout.write("x" * 65536)
                sys.stdout.flush()
        case "slow":
            for tick in range(10_000):
                say(event="heartbeat", phase="fly", tick=tick)
                time.sleep(0.02)
        case "closed":
            os.close(1)
            block_for_ever()
        case "error" | "void" | "storage" | "version":
            kind = {"error": "MissedTick", "void": "SceneVoid", "storage": "StorageError", "version": "SimulatorError"}[
                behaviour
            ]
            say(event="error", kind=kind, message=f"asked to: {behaviour}", retry=behaviour != "storage")
            sys.exit(3)
        case "old":
            say(event="ready", client="0.9.16", server="0.9.16", map="Town10HD")
            block_for_ever()
        case "short-done":
            say(event="done", scene="s", recording="r", vehicles=1, vehicles_asked=1)
            block_for_ever()
        case "odd-error":
            say(event="error", kind="__import__", message="line one\nline two", retry=True)
            sys.exit(3)


def main() -> None:
    behaviour = sys.argv[1]
    if len(sys.argv) > 2:
        mark = Path(sys.argv[2])
        if mark.exists():
            behaviour = "good"
        mark.touch()
    when, _, what = behaviour.rpartition("@")
    if what and when == "":
        what, when = behaviour, "fly"
    if when == "connect":
        misbehave(what)
    say(event="heartbeat", phase="connect", tick=0)
    say(event="ready", client="0.9.16", server="0.9.16", map_name="Town10HD", protocol=1)
    for line in sys.stdin:
        command = json.loads(line)
        if command["cmd"] == "quit":
            break
        if command["cmd"] == "probe":
            say(event="ready", client="0.9.16", server="0.9.16", map_name="Town10HD", protocol=1)
        if command["cmd"] == "fly":
            out = Path(command["out"])
            out.mkdir(parents=True, exist_ok=True)
            say(event="heartbeat", phase="load", tick=0)
            print("stray print of a C++ library", flush=True)
            say(event="heartbeat", phase="fly", tick=1)
            if when == "fly":
                misbehave(what)
            say(event="of_a_later_version", fields=3)
            say(event="sample", scene="s", sample=1, samples=1, images=25)
            (out / "log.msgpack").write_bytes(Path(command["plan"]).read_bytes())
            say(event="done", scene="s", recording=str(out), vehicles=90, vehicles_asked=200, images=25)


main()
