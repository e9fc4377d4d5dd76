"""Reading of datasets, through ``uavsim.open`` only, and writing of result files."""
