"""Questions with four options about a dataset's images, in AirCopBench's files: rules, no language model."""
