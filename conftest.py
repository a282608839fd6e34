"""What tests and suites of this repository share."""

from __future__ import annotations

import pytest

HOSTED = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OLLAMA_HOST",
    "BENCHKIT_API_KEY",
    "BENCHKIT_MODEL",
    "HF_TOKEN",
)


@pytest.fixture(autouse=True)
def no_hosted_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the keys and addresses of the person who runs it."""
    for name in HOSTED:
        monkeypatch.delenv(name, raising=False)
