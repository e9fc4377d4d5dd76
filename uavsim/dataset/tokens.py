"""Tokens: the primary keys of every table, the same in every run and in both dialects."""

import hashlib


def token(*parts: object) -> str:
    """Return a token of 32 hex digits from the parts of a name: ``token(dataset, scene, "sample", 3)``.

    MD5 serves as an identifier, not as protection.
    """
    text = "|".join(map(str, parts))
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
