import threading
from collections.abc import Callable

import pytest
from headless_simulator.errors import ClientError
from headless_simulator.world.game_thread import EngineRules, GameThread


def blocking() -> GameThread:
    game = GameThread(EngineRules(waits_for_tick=True))
    game.is_synchronous = lambda: True
    return game


def start(
    game: GameThread, act: Callable[[], object], *, part: str = "scene", late_frames: int = 0
) -> threading.Thread:
    """Call from a client's thread, and return once the call waits."""
    before = game.waiting
    caller = threading.Thread(
        target=game.run, args=(act,), kwargs={"part": part, "late_frames": late_frames}, daemon=True
    )
    caller.start()
    while game.waiting == before and caller.is_alive():
        pass
    return caller


def test_a_call_waits_for_a_frame_and_is_served_within_it() -> None:
    game, served = blocking(), []
    caller = start(game, lambda: served.append("pose"))
    assert caller.is_alive()
    assert served == []
    game.frame()
    caller.join(10)
    assert served == ["pose"]


def test_images_are_taken_after_everything_else_of_a_frame() -> None:
    game, served = blocking(), []
    callers = [
        start(game, lambda: served.append("image"), part="image"),
        start(game, lambda: served.append("first pose")),
        start(game, lambda: served.append("second pose")),
    ]
    game.frame()
    for caller in callers:
        caller.join(10)
    assert served == ["first pose", "second pose", "image"]


def test_a_late_call_misses_frames() -> None:
    game, served = blocking(), []
    caller = start(game, lambda: served.append("image"), part="image", late_frames=2)
    for _ in range(2):
        game.frame()
        assert served == []
    game.frame()
    caller.join(10)
    assert served == ["image"]


def test_a_failed_call_ends_its_turn() -> None:
    game = blocking()

    def fail() -> None:
        raise ClientError("no such camera")

    problems: list[ClientError] = []

    def call() -> None:
        try:
            game.run(fail, part="scene")
        except ClientError as problem:
            problems.append(problem)

    caller = threading.Thread(target=call, daemon=True)
    caller.start()
    while not game.waiting:
        pass
    game.frame()
    caller.join(10)
    assert [str(problem) for problem in problems] == ["no such camera"]


def test_calls_do_not_wait_in_asynchronous_mode() -> None:
    game = GameThread(EngineRules(waits_for_tick=True))
    assert game.run(lambda: 7, part="image") == 7
    free = GameThread()
    free.is_synchronous = lambda: True
    assert free.run(lambda: 8, part="image") == 8


def test_rules_decide_what_a_pause_does() -> None:
    held = blocking()
    assert held.takes_step()
    held.pause(True)
    assert not held.takes_step()
    assert held.sends_snapshot
    held.leaks = 1
    assert [held.takes_step(), held.takes_step()] == [True, False]
    silent = GameThread(EngineRules(waits_for_tick=True).assuming(["pause-sends-snapshots=no"]))
    silent.pause(True)
    assert not silent.sends_snapshot
    free = GameThread()
    free.pause(True)
    assert free.takes_step()


@pytest.mark.parametrize("word", ["pause-freezes", "pause-freezes=maybe", "waits-for-tick=no", "pauses=no"])
def test_unknown_rule_is_refused(word: str) -> None:
    with pytest.raises(ClientError, match=r"--merged-assume .*RULE one of pause-freezes, pause-sends-snapshots"):
        EngineRules().assuming([word])
