"""Tools that measure, try and check uavsim: never shipped, never imported by it."""
