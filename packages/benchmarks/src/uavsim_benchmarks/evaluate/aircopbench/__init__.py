"""AirCopBench's accuracy of answers."""
