"""Commands of ``uavsim`` that hand a dataset on, and take clips back."""
