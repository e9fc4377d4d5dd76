from headless_simulator.rpc.call_counts import MOST_NAMES, NAME_CHARS, CallCounts


def test_calls_are_counted_by_name() -> None:
    counts = CallCounts()
    for name in ("b", "a", "b"):
        counts.add(counts.unknown, name)
    counts.add(counts.without_effect, "draw")

    assert counts.report() == ["unknown RPCs: a x1, b x2", "RPCs without effect: draw x1"]


def test_call_names_are_shortened_and_limited() -> None:
    counts = CallCounts()
    for number in range(2 * MOST_NAMES):
        counts.add(counts.unknown, f"{number}" + "x" * 1000)

    assert len(counts.unknown) == MOST_NAMES
    assert max(map(len, counts.unknown)) == NAME_CHARS
