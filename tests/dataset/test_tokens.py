"""Tokens are MD5 hashes of names, so any program can reproduce them."""

import hashlib

from uavsim.dataset.tokens import token


def test_a_token_is_the_md5_of_its_parts_between_bars():
    assert token("smoke", "scene_0", "sample", 3) == hashlib.md5(b"smoke|scene_0|sample|3").hexdigest()


def test_parts_are_distinguished():
    assert token("a", "bc") != token("ab", "c")
    assert token("a", "b") != token("b", "a")
    assert token(1) == token("1")
