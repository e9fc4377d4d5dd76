"""What trials, benchmarks and tests share: made-up plans and recordings, small data sets, what a run leaves."""
