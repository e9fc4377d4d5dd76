"""Tests of ``uavsim.open``: arrays compared with masks, both dialects, third-party datasets."""
