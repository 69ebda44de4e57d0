"""Keys: who calls, and what they may do.

Of a key only its SHA-256 is kept; it is shown once, when it is made. Where only this machine can
reach the server and no key was ever made, everybody may do everything; from the first key on, and
also when all are revoked, a key is needed. People log in with one, and get a session of 12 hours,
which ends with the server.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import threading
from collections.abc import Callable, Iterable
from time import time
from typing import NamedTuple, get_args

from trajgrade.errors import ConfigError, shorten, unknown
from trajgrade.inbox import KeyRecord, Scope
from trajgrade.production import Inbox

SCOPES: tuple[Scope, ...] = get_args(Scope)
FRESH = 2.0  # seconds for which the keys that were read are taken for those that there are
SESSION = 12 * 3600.0
MOST_SESSIONS = 10_000

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_PREFIX = "tgk_"
_LONGEST = 200


class Who(NamedTuple):
    """Who calls.

    Attributes:
        name: The key's name; empty where no key is needed.
        scopes: What they may do.
    """

    name: str
    scopes: frozenset[Scope]

    def may(self, scope: Scope) -> bool:
        """Whether they may do it; who may administer may do all."""
        return scope in self.scopes or "admin" in self.scopes


EVERYBODY = Who("", frozenset(SCOPES))


class Keyring:
    """The keys of a store, as the server knows them.

    Args:
        inbox: Where they are kept.
        is_local: Whether only this machine can reach the server.
        clock: The time, in seconds since 1970.
    """

    def __init__(
        self, inbox: Inbox, *, is_local: bool = True, clock: Callable[[], float] = time
    ) -> None:
        self._inbox = inbox
        self._is_local = is_local
        self._clock = clock
        self._lock = threading.Lock()
        self._records: tuple[KeyRecord, ...] = ()
        self._read_at: float | None = None
        self._sessions: dict[str, tuple[str, float]] = {}

    @property
    def is_fresh(self) -> bool:
        """Whether `who` will answer without asking the store."""
        at = self._read_at
        return at is not None and 0 <= self._clock() - at < FRESH

    def refresh(self) -> None:
        """Read the keys, if that was not done just now."""
        with self._lock:
            if not self.is_fresh:
                self._records = tuple(self._inbox.keys())
                self._read_at = self._clock()

    @property
    def is_open(self) -> bool:
        """Whether everybody may do everything."""
        self.refresh()
        return self._is_local and not self._records

    def who(self, key: str | None, session: str | None = None) -> Who | None:
        """Return who shows a key, or has a session; None for nobody that is known."""
        self.refresh()
        if self._is_local and not self._records:
            return EVERYBODY
        if key is not None:
            return self._of_key(key)
        return self._of_session(session) if session is not None else None

    def _of_key(self, key: str) -> Who | None:
        if len(key) > _LONGEST:
            return None
        digest = digest_of(key)
        found = None
        for record in self._records:  # all of them, so that time tells nothing
            if hmac.compare_digest(record.digest, digest) and record.revoked_at is None:
                found = record
        return Who(found.name, frozenset(found.scopes)) if found is not None else None

    def _of_session(self, session: str) -> Who | None:
        with self._lock:
            name, until = self._sessions.get(digest_of(session), ("", 0.0))
        if self._clock() >= until:
            return None
        live = [r for r in self._records if r.name == name and r.revoked_at is None]
        return Who(name, frozenset(live[0].scopes)) if live else None

    def log_in(self, key: str) -> str | None:
        """Return a new session for whoever shows a key; None where it is none."""
        self.refresh()
        who = self._of_key(key)
        if who is None:
            return None
        session = secrets.token_urlsafe(32)
        now = self._clock()
        with self._lock:
            self._sessions = {k: one for k, one in self._sessions.items() if one[1] > now}
            while len(self._sessions) >= MOST_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            self._sessions[digest_of(session)] = (who.name, now + SESSION)
        return session

    def log_out(self, session: str) -> None:
        """End a session."""
        with self._lock:
            self._sessions.pop(digest_of(session), None)


def digest_of(key: str) -> str:
    """Return what is kept of a key."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def new_key(name: str, scopes: Iterable[str], at: float) -> tuple[str, KeyRecord]:
    """Return a new key, which nobody will see again, and what is kept of it.

    Args:
        name: What people know it by.
        scopes: What it is good for.
        at: When it is made.

    Raises:
        ConfigError: The name cannot be one, or there is no such scope.
    """
    faults = []
    if not _NAME.fullmatch(name):
        faults.append(
            f"{shorten(name)} is no name of a key: up to 100 letters, digits, . - and _ are "
            "allowed, beginning with a letter or digit"
        )
    given = [*dict.fromkeys(scopes)]
    faults += [unknown("scope", scope, SCOPES) for scope in given if scope not in SCOPES]
    if not given:
        faults.append(f"a key is good for something: {', '.join(SCOPES)}")
    if faults:
        raise ConfigError(*faults)
    key = f"{_PREFIX}{secrets.token_urlsafe(32)}"
    kept = tuple(scope for scope in SCOPES if scope in given)
    return key, KeyRecord(name=name, digest=digest_of(key), scopes=kept, made_at=at)
