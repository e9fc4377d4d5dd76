"""The report: stands alone, can be read by everyone, says what the tables say."""
