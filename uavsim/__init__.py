"""YAML in, labelled multi-drone data sets out; one room per stage, and no logic here."""
