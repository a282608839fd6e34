"""What tests and suites of this repository share."""

pytest_plugins = ["pytester"]
