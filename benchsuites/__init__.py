"""The suites that come with pytest-benchkit: one file ``bench_<key>.py`` each, dashes as underscores."""
