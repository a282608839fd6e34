"""Our scorers held against the published evaluators. One module per suite: ``test_<suite>.py`` with
``compare()`` and a test that runs it; ``python -m tests.conformance`` prints the table of all."""
