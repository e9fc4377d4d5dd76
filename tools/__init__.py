"""Benchmarks, trials and checks of uavsim; not shipped and not imported by it."""
