"""Tokens: the primary keys of every table, the same in every run and in both dialects."""

import hashlib


def token(*parts: object) -> str:
    """Return 32 hex digits for what ``parts`` name: ``token(dataset, scene, "sample", 3)``.

    MD5 is an identifier here, not a protection.
    """
    text = "|".join(map(str, parts))
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
