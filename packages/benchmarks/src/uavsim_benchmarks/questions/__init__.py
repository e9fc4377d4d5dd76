"""Questions with four options about a data set's images, in AirCopBench's files: rules, no language model."""
