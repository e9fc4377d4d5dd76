"""Tests of uavsim in the package's structure; shared helpers are modules of this folder."""
