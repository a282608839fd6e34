"""Every exception this project raises on purpose, in one file.

    BenchkitError
    ├── UsageProblem            an option, a file or a combination of them cannot work (exit 4)
    ├── SuiteError              a suite class is wrong: misspelt hook, missing key
    ├── DataError
    │   ├── DataMissing         rows are not on this machine; says the command that gets them
    │   ├── DataDamaged         bytes whose hash is not the pinned one
    │   └── DataFault           a row that breaks the suite's own promise, named by its id
    ├── ModelError              a model server that cannot be started or understood
    ├── SandboxError            isolation that is there and does not work
    └── StoreError              a run folder that cannot be read or written
        └── StoreLocked         another live process writes to it

What a *request* came to is not an exception: see :class:`pytest_benchkit.reply.Failure`.
"""

from __future__ import annotations


class BenchkitError(Exception):
    """Base of all errors of this project. Its text is one sentence meant for the user."""


class UsageProblem(BenchkitError):
    """What the user asked for cannot work; the text says what, where, and what to do."""


class SuiteError(BenchkitError):
    """A suite class that cannot be used as written."""


class DataError(BenchkitError):
    """Base of everything that is wrong with a data set."""


class DataMissing(DataError):
    """The rows are not installed on this machine."""


class DataDamaged(DataError):
    """Bytes on disk or from the network do not have the pinned hash."""


class DataFault(DataError):
    """A row whose content breaks what its suite promises (gold outside the options, ...)."""


class ModelError(BenchkitError):
    """A model server that cannot be reached, started or understood."""


class SandboxError(BenchkitError):
    """Isolation that is there does not work, or a trial of ours is broken; never what a program did."""


class StoreError(BenchkitError):
    """A run folder that cannot be read or written."""


class StoreLocked(StoreError):
    """The run folder is being written by another live process."""


class SkipTask(Exception):
    """A row that cannot be asked on this machine or of this model: it is skipped, and says why.

    ``detail`` is a stable word (``not_perturbable``, ``no_sandbox``), the message a sentence.
    """

    def __init__(self, detail: str, message: str) -> None:
        super().__init__(message)
        self.detail = detail
