"""Gates: thresholds in ``kernels/<hardware>/<model>/BENCH.toml``, and the judgement of runs by them.

Everything that decides is a pure function over data; reading files and probing the machine stay in
:mod:`.tree`, :mod:`.subject` and the callers. Knows nothing of pytest.
"""
