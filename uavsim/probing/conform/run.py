"""Run all probes on a simulator, each in a process of its own, and collect the answers."""

import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Callable
from typing import Final

from uavsim.environment import python_command
from uavsim.errors import SimulatorError
from uavsim.probing.conform.answers import Answer, AnswerFile
from uavsim.probing.conform.worker import AIRSIM, CARLA
from uavsim.simulate.ports import Endpoint
from uavsim.simulate.recognise import require
from uavsim.simulate.versions import client_python, refuse_unserved
from uavsim.typing import JsonDict

NOT_ASKED: Final = "not asked: the server had stopped answering"
_LIMIT_S: Final = 100.0  # of silence; a busy machine may take longer for a whole probe
_SILENT_PROBES: Final = 3  # after which the test ends
_WHO_S: Final = 60.0


def ask_everything(
    carla: str, airsim: str, *, heard: Callable[[str, AnswerFile, float], None], python: str = ""
) -> AnswerFile:
    """Run all probes; each probe restores the server's settings.

    The test ends if the server does not answer after a silent probe, or is silent in three probes; the answers record this.

    Args:
        carla: ``HOST:PORT``.
        airsim: ``HOST:PORT``; empty: without AirSim.
        heard: called after each probe with its name, all answers so far and its seconds.
        python: interpreter of the clients; empty: one with a client of the server's version.

    Raises:
        InputError: an address is invalid.
        SimulatorError: the server does not answer, or is no simulator.
    """
    endpoint = Endpoint.parse(carla, what="--simulator")
    version = require("carla", endpoint).detail  # the vendors' clients would wait a minute
    if not python:
        refuse_unserved(version, where=carla)
        python = client_python(version)
    if airsim:
        require("airsim", Endpoint.parse(airsim, what="--airsim"))
    started, start = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()), time.monotonic()
    server_info = _ask("who", carla, airsim, limit_s=_WHO_S, python=python)
    if "error" in server_info:
        raise SimulatorError(f"{server_info['error']} (server: {carla})")
    del server_info["answers"]
    known: dict[tuple[str, str], Answer] = {}  # of equal questions, the last answer
    probes = [*CARLA, *(f"airsim-{name}" for name in AIRSIM)] if airsim else [*CARLA]
    if airsim:
        probes.remove("loading")  # in a merged build it may remove AirSim's vehicles
    silent = 0
    for name in probes:
        began = time.monotonic()
        if silent < _SILENT_PROBES:
            answers = answers_of(name, carla, airsim, python=python)
            if any(a.note == _silence(_LIMIT_S) for a in answers):
                gone = "error" in _ask("who", carla, airsim, limit_s=_WHO_S, python=python)
                silent = _SILENT_PROBES if gone else silent + 1
        else:
            answers = [_unfinished(name, NOT_ASKED)]
        known |= {(a.capability, a.question): a for a in answers}
        seconds = round(time.monotonic() - start, 1)
        answer_file = AnswerFile(**server_info, started=started, seconds=seconds, answers=tuple(known.values()))
        heard(name, answer_file, time.monotonic() - began)
    return answer_file


def answers_of(name: str, carla: str, airsim: str, *, python: str = "") -> list[Answer]:
    """Return the answers of one probe; a dead client or a hanging server is an answer, too."""
    reply = _ask(name, carla, airsim, limit_s=_LIMIT_S, python=python)
    answers = [Answer.model_validate(a) for a in reply.get("answers", [])]
    if "error" in reply:
        answers.append(_unfinished(name, str(reply["error"])[:400]))
    return answers


def _unfinished(probe: str, note: str) -> Answer:
    return Answer(capability=probe, question="asked to the end", value=None, note=note)


def _silence(limit_s: float) -> str:
    return f"no answer within {limit_s:g} s"


def _ask(name: str, carla: str, airsim: str, *, limit_s: float, python: str) -> JsonDict:
    worker_command = python_command("uavsim.probing.conform.worker", name, "--carla", carla, "--airsim", airsim)
    command = [python or worker_command[0], *worker_command[1:]]
    with tempfile.TemporaryFile() as stderr, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr) as worker:
        lines, in_time = _heard(worker, limit_s)
        worker.kill()
        code = worker.wait()
        stderr.seek(0)
        last = (stderr.read().decode(errors="replace").strip().splitlines() or ["no output"])[-1]
    answers: list[JsonDict] = []
    for line in lines:
        try:
            message: JsonDict = json.loads(line)
        except ValueError:
            break
        if "answer" not in message:
            return {**message, "answers": answers}
        answers.append(message["answer"])
    why = f"the client ended with code {code}: {last}" if in_time else _silence(limit_s)
    return {"error": why, "answers": answers}


def _heard(worker: subprocess.Popen[bytes], limit_s: float) -> tuple[list[bytes], bool]:
    """Return a worker's output lines, and whether it ended before it was silent for ``limit_s``."""
    assert worker.stdout is not None
    output = b""
    while select.select([worker.stdout], [], [], limit_s)[0]:
        more = os.read(worker.stdout.fileno(), 1 << 16)
        if not more:
            return output.splitlines(), True
        output += more
    return output.splitlines(), False
