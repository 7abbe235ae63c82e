"""Persistent response cache keyed by model, request and parameters.

Models answer at temperature 0 or with a seed, so a response is a function of the request. The store is one
SQLite file; several processes may use it at once, and a damaged one is replaced by an empty one.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
import sqlite3
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any, Unpack

import numpy as np
import platformdirs

from counterlens.atomic_file import make_folder
from counterlens.errors import ModelError
from counterlens.models.base import (
    Api,
    Capability,
    Completion,
    Model,
    Prompt,
    Reply,
    TokenScores,
    Vectors,
)
from counterlens.models.wrapped import UninstructedModel, WrappedModel
from counterlens.progress import RequestOptions
from counterlens.regular_file import check_database
from counterlens.text import printable

LOG = logging.getLogger("counterlens")

_FORMAT = 3
_LIMIT_BYTES = 256 << 20
_PRUNE_EVERY = 512
_SUM = 16  # bytes of the checksum at the beginning of a value
_TABLE = "CREATE TABLE answers (key BLOB PRIMARY KEY, value BLOB, time REAL)"
_LOOKED_UP = "SELECT value FROM answers WHERE key = ?"
_DAMAGED = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_MISMATCH}
_ARRAYS = ("start", "end", "logprob", "entropy", "rank", "alternative_logprob", "context")


class AnswerStore:
    """Values by key; the oldest are dropped first. Thread-safe; an unusable store behaves as an empty one.

    Args:
        path: The file; by default in the user's cache folder.
        limit: Maximum size of the stored responses, in bytes.
    """

    def __init__(self, path: Path | None = None, *, limit: int = _LIMIT_BYTES) -> None:
        self._path = path or Path(platformdirs.user_cache_dir("counterlens")) / "answers.sqlite"
        self._limit = limit
        self._lock = threading.Lock()
        self._written = 0
        self._database = self._open()

    def get(self, key: bytes) -> bytes | None:
        """Look up a key."""
        with self._lock:
            row = None
            try:
                if self._database:
                    row = self._database.execute(_LOOKED_UP, (key,)).fetchone()
            except sqlite3.Error as error:
                self._set_aside_if_damaged(error)
            value = row[0] if row else None
        if not isinstance(value, bytes) or value[:_SUM] != _checksum(key, value[_SUM:]):
            return None
        return value[_SUM:]

    def put(self, key: bytes, value: bytes) -> None:
        """Store a value under a key."""
        self.put_all([(key, value)])

    def put_all(self, answers: Sequence[tuple[bytes, bytes]]) -> None:
        """Store all of several values, or none of them if this process ends in between."""
        now = time.time()
        rows = [(key, _checksum(key, value) + value, now) for key, value in answers]
        with self._lock:
            try:
                self._write(rows)
            except sqlite3.Error as error:
                self._set_aside_if_damaged(error)

    def _write(self, rows: list[tuple[bytes, bytes, float]]) -> None:
        if self._database is None:
            return
        self._database.execute("BEGIN IMMEDIATE")
        try:
            self._database.executemany(
                "INSERT OR REPLACE INTO answers (key, value, time) VALUES (?, ?, ?)", rows
            )
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # a full disk has rolled back already
                self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")
        self._written += len(rows)
        if self._written >= _PRUNE_EVERY:
            self._written = 0
            self._prune(self._database)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._database:
                self._prune(self._database)
                self._database.close()
                self._database = None

    def _open(self) -> sqlite3.Connection | None:
        for attempt in range(2):
            database = None
            try:
                make_folder(self._path.parent)
                check_database(self._path)
                database = sqlite3.connect(
                    self._path, timeout=2, isolation_level=None, check_same_thread=False
                )
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("PRAGMA synchronous = NORMAL")
                database.execute(_TABLE.replace("TABLE", "TABLE IF NOT EXISTS", 1))
                (table,) = database.execute("SELECT sql FROM sqlite_master WHERE name = 'answers'").fetchone()
                if table != _TABLE:
                    raise sqlite3.DatabaseError  # a database of something else
                return database
            except sqlite3.DatabaseError as error:
                if database is not None:
                    database.close()
                if attempt or not _is_damage(error) or not self._set_aside():
                    return None  # locked or read-only: continue without it
            except OSError:
                return None
        return None

    def _set_aside_if_damaged(self, error: sqlite3.Error) -> None:
        """Start a new file after an error of the file; a full disk or another process's lock is not one."""
        if _is_damage(error) and self._database is not None:
            self._database.close()
            self._database = self._open() if self._set_aside() else None

    def _set_aside(self) -> bool:
        """Move the file away for inspection; whether that worked."""
        aside = self._path.with_name(f"{self._path.name}.damaged")
        try:
            self._path.replace(aside)
            for more in ("-wal", "-shm"):
                self._path.with_name(self._path.name + more).unlink(missing_ok=True)
        except OSError:
            return False
        where = printable(str(aside), keep="")
        LOG.warning("the cached answers were damaged; a new cache is used, and the old one is in %s", where)
        return True

    def _prune(self, database: sqlite3.Connection) -> None:
        with contextlib.suppress(sqlite3.Error):
            (size,) = database.execute("SELECT coalesce(sum(length(value)), 0) FROM answers").fetchone()
            while size > self._limit:
                database.execute(
                    "DELETE FROM answers WHERE key IN (SELECT key FROM answers ORDER BY time LIMIT 256)"
                )
                (size,) = database.execute("SELECT coalesce(sum(length(value)), 0) FROM answers").fetchone()


class CachedModel(WrappedModel):
    """A model with cached responses.

    Args:
        owns_store: Whether the store is closed together with the model.
    """

    def __init__(self, model: Model, store: AnswerStore, *, owns_store: bool = False) -> None:
        super().__init__(model)
        self._store, self._owns_store = store, owns_store

    def complete(self, prompts: Sequence[Prompt], **options: Unpack[RequestOptions]) -> list[Completion]:
        """Like `Model.complete`; only prompts without a cached response are sent.

        A response is cached with its whole call if prompts decode together and not exactly: it may differ in
        another call.
        """
        exact = self.offers(Capability.EXACT, cancel=options.get("cancel"))
        together = not exact and Capability.BATCH in self.info.capabilities
        keys = [self._prompt_key(prompt) for prompt in prompts]
        if together:
            batch = hashlib.sha256(b"".join(keys)).hexdigest()
            keys = [self._key("complete", batch, i) for i in range(len(prompts))]
        answers = [_completion(self._store.get(key)) for key in keys]
        missing = [i for i, answer in enumerate(answers) if answer is None]
        if missing and together:
            missing = list(range(len(prompts)))
        if missing:
            fresh = self.model.complete([prompts[i] for i in missing], **options)
            for i, answer in zip(missing, fresh, strict=True):
                answers[i] = answer
            self._store.put_all(
                [(keys[i], _encode(answer)) for i, answer in zip(missing, fresh, strict=True)]
            )
        return [answer for answer in answers if answer is not None]

    def score(
        self, text: str, *, context: str = "", alternatives: int = 5, **options: Unpack[RequestOptions]
    ) -> TokenScores:
        """Like `Model.score`; the model is asked only if no response is cached."""
        key = self._key("score", text, context, alternatives)
        cached_scores = _scores(self._store.get(key), text)
        if cached_scores is not None:
            return cached_scores
        scores = self.model.score(text, context=context, alternatives=alternatives, **options)
        self._store.put(key, _pack(scores))
        return scores

    def score_continuations(
        self,
        context: str,
        continuations: Sequence[str],
        *,
        unscored: Sequence[int] = (),
        alternatives: int = 5,
        **options: Unpack[RequestOptions],
    ) -> list[TokenScores]:
        """Like `Model.score_continuations`; a call is answered from the cache as a whole or not at all."""
        texts = list(continuations)
        request = [context, texts, alternatives, *([list(unscored)] if unscored else [])]
        keys = [self._key("continuations", *request, i) for i in range(len(texts))]
        cached_scores = [_scores(self._store.get(key), text) for key, text in zip(keys, texts, strict=True)]
        kept = [scores for scores in cached_scores if scores is not None]
        if len(kept) == len(texts):
            return kept
        fresh = self.model.score_continuations(
            context, texts, unscored=unscored, alternatives=alternatives, **options
        )
        self._store.put_all([(key, _pack(scores)) for key, scores in zip(keys, fresh, strict=True)])
        return fresh

    def score_span(
        self, text: str, start: int, end: int, *, alternatives: int = 0, cancel: Event | None = None
    ) -> TokenScores:
        """Like `Model.score_span`; the model is asked only if no response is cached."""
        key = self._key("span", text, start, end, alternatives)
        cached_scores = _scores(self._store.get(key), text)
        if cached_scores is not None:
            return cached_scores
        scores = self.model.score_span(text, start, end, alternatives=alternatives, cancel=cancel)
        self._store.put(key, _pack(scores))
        return scores

    def embed(self, texts: Sequence[str], **options: Unpack[RequestOptions]) -> Vectors:
        """Like `Model.embed`; only texts without a cached embedding are sent."""
        keys = [self._key("embed", text) for text in texts]
        vectors = [_vector(self._store.get(key)) for key in keys]
        missing = [i for i, vector in enumerate(vectors) if vector is None]
        if missing:
            fresh = self.model.embed([texts[i] for i in missing], **options)
            self._store.put_all([(keys[i], row.tobytes()) for i, row in zip(missing, fresh, strict=True)])
            for i, row in zip(missing, fresh, strict=True):
                vectors[i] = row
        return np.array(vectors, np.float64)

    def recalling(self) -> CachedModel:
        """The cached responses of this model alone; any other request raises `NotCachedError`."""
        return CachedModel(_SilentModel(self.model), self._store)

    def close(self) -> None:
        """Close the model, and the store if the model owns it."""
        super().close()
        if self._owns_store:
            self._store.close()

    def _prompt_key(self, prompt: Prompt) -> bytes:
        request: list[Any] = [prompt.text, prompt.max_tokens, prompt.stop.indent, *prompt.stop.texts]
        if prompt.stop.braces is not None:
            request.append(["braces", prompt.stop.braces])
        api = self.info.api
        if api is not Api.COMPLETIONS:
            request.append([api, prompt.suffix if api is Api.FILL else ""])
        request += _reply_key(prompt.reply) if prompt.reply else []
        if prompt.draw:
            request.append(["draw", prompt.draw.temperature, prompt.draw.seed, prompt.draw.index])
        if prompt.detours:
            request.append(["detours", *prompt.detours])
        if prompt.logprobs:
            request.append("logprobs")
        if prompt.candidates:
            request.append(["candidates", *prompt.candidates])
        if self.info.decoding:
            request.append(["exact", self.info.decoding])
        return self._key("complete", *request)

    def _key(self, *request: Any) -> bytes:
        info = self.info
        model = [_FORMAT, info.identity, info.context, info.engine, info.scoring]
        if info.device:
            model.append(info.device)
        return hashlib.sha256(json.dumps([*model, *request]).encode("utf-8", "surrogatepass")).digest()


def _reply_key(reply: Reply) -> list[Any]:
    """The part of a key that describes a question."""
    return [
        [reply.instruction, reply.grammar, reply.schema],
        *([["turns", *reply.turns]] if reply.turns else []),
        *(["by template"] if reply.by_template else []),
        *([["begun", reply.begun]] if reply.begun else []),
    ]


class NotCachedError(ModelError):
    """A response is not cached."""


class _SilentModel(WrappedModel):
    """A model that is not asked."""

    def _forward(self, method: str, *asked: Any, **options: Any) -> Any:
        del method, asked, options
        raise NotCachedError("the model has not been asked this")


def cache_of(model: Model) -> Model:
    """The cached responses of a model alone, if it has any; any other request raises `NotCachedError`."""
    return model.recalling() if isinstance(model, CachedModel) else _SilentModel(model)


def past_cache(model: Model) -> Model:
    """A model without the response cache in front of it."""
    if isinstance(model, UninstructedModel):
        return UninstructedModel(past_cache(model.model))
    while isinstance(model, CachedModel):
        model = model.model
    return model


def _checksum(key: bytes, value: bytes) -> bytes:
    """The checksum of a value under its key."""
    return hashlib.blake2b(value, digest_size=_SUM, key=key[:64]).digest()


def _is_damage(error: sqlite3.Error) -> bool:
    """Whether an error is about the content of the file."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF in _DAMAGED


def _encode(answer: Completion) -> bytes:
    fields = [answer.text, answer.finish, answer.tokens, answer.dropped, answer.ties, answer.thought]
    if answer.logprobs is not None or answer.candidates:
        fields.append(answer.logprobs)
    if answer.candidates:
        fields.append(answer.candidates)
    return json.dumps(fields).encode()


def _completion(data: bytes | None) -> Completion | None:
    try:
        if data is None:
            return None
        text, finish, tokens, dropped, *more = json.loads(data)
        ties = tuple(more[0]) if more else ()  # earlier versions stored fewer fields
        pairs = more[2] if len(more) > 2 else None
        logprobs = None if pairs is None else tuple((at, value) for at, value in pairs)
        thought = more[1] if len(more) > 1 else 0
        candidates = tuple(more[3]) if len(more) > 3 else ()
        return Completion(text, finish, tokens, dropped, ties, thought, logprobs, candidates)
    except (TypeError, ValueError):
        return None


def _vector(data: bytes | None) -> Vectors | None:
    try:
        return None if data is None else np.frombuffer(data, np.float64)
    except ValueError:
        return None


def _pack(scores: TokenScores) -> bytes:
    buffer = io.BytesIO()
    names = np.frombuffer(json.dumps(scores.alternative_text).encode(), np.uint8)
    arrays = {name: getattr(scores, name) for name in _ARRAYS}
    if scores.deviation is not None:
        arrays["deviation"] = scores.deviation
    np.savez(buffer, names=names, **arrays)
    return buffer.getvalue()


def _scores(data: bytes | None, text: str) -> TokenScores | None:
    if data is None:
        return None
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            names = tuple(tuple(row) for row in json.loads(arrays["names"].tobytes()))
            fields = {name: arrays[name] for name in _ARRAYS}
            deviation = arrays.get("deviation")
            return TokenScores(text=text, alternative_text=names, **fields, deviation=deviation)
    except (KeyError, OSError, TypeError, ValueError):
        return None
