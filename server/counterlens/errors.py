"""Errors for users, with a message and a remedy."""


class CounterlensError(Exception):
    """An expected failure, worded for the user.

    Every front end (command line, language server, library) shows `message` and `hint` and nothing else;
    anything that is not a `CounterlensError` is a defect of Counterlens.

    Args:
        message: The event, in one sentence, without a full stop at the end.
        hint: A remedy, if there is one.

    Attributes:
        brief: The same in a word or two, for a status bar; empty if nothing shorter says it.
    """

    brief = ""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}" if self.hint else self.message


class SourceError(CounterlensError):
    """The source cannot be read, parsed, or does not contain what was asked for."""


class ModelError(CounterlensError):
    """A model could not be found, loaded or asked."""


class ModelProcessDiedError(ModelError):
    """The process of a local model ended in the middle of a request; the next request starts another."""


class EmptyPromptError(ModelError):
    """The prompt has no text to be continued."""

    def __init__(self) -> None:
        super().__init__("an empty prompt cannot be completed", "Give the model something to continue")


class UnsteadyModelError(CounterlensError):
    """The model does not answer the same question the same way twice: figures would be meaningless."""


class UnscorableError(ModelError):
    """The model is well, but cannot give the probabilities of this text."""


class SandboxError(CounterlensError):
    """Untrusted code could not be run in isolation; nothing is known about the code."""


class DataError(CounterlensError):
    """A dataset is not there, cannot be read, or a record of it is malformed."""


class Cancelled(CounterlensError):  # noqa: N818 - it is a request that was granted, not an error
    """The caller withdrew the request before it was finished."""

    def __init__(self, message: str = "cancelled") -> None:
        super().__init__(message)


class OptionError(CounterlensError):
    """An option that something does not take, or a value that it cannot have: bad usage."""
