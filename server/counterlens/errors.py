"""Errors for users, with a message and a remedy."""


class CounterlensError(Exception):
    """An expected failure, worded for the user.

    Every front end (command line, language server, library) shows `message` and `hint` only; any other
    exception is a bug in Counterlens.

    Args:
        message: The event, in one sentence, without a full stop at the end.
        hint: A remedy, if there is one.

    Attributes:
        brief: The event in one or two words, for a status bar; empty if there is no such text.
    """

    brief = ""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}" if self.hint else self.message


class SourceError(CounterlensError):
    """The source cannot be read or parsed, or does not contain the requested item."""


class ModelError(CounterlensError):
    """A model could not be found or loaded, or a request to it failed."""


class ModelProcessDiedError(ModelError):
    """The process of a local model ended during a request; the next request starts a new one."""


class UnreachableError(ModelError):
    """The endpoint of a remote model cannot be reached; any other request would fail as well."""

    brief = "offline"


class EmptyPromptError(ModelError):
    """The prompt has no text to continue."""

    def __init__(self) -> None:
        super().__init__("an empty prompt cannot be completed", "Give the model something to continue")


class UnsteadyModelError(CounterlensError):
    """The model gives different answers to the same question, so that figures would be meaningless."""


class UnscorableError(ModelError):
    """The model works, but cannot give the probabilities of this text."""


class SandboxError(CounterlensError):
    """Untrusted code could not be run in isolation; nothing is known about its behaviour."""


class DataError(CounterlensError):
    """A dataset is missing or unreadable, or one of its records is malformed."""


class Cancelled(CounterlensError):  # noqa: N818 - a granted request, not an error
    """The caller cancelled the request before it finished."""

    def __init__(self, message: str = "cancelled") -> None:
        super().__init__(message)


class OptionError(CounterlensError):
    """An unknown option, or an invalid value of one: incorrect usage."""
