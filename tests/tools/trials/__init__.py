"""The trials' own readings of what programs of others say."""
