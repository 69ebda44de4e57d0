"""`fire_webhook`: POST the item to a URL, signed, with a key by which a repeat is known.

The body is `{"id", "rule", "item_id", "because", "trace", "scores", "results"}` as JSON, of which
the results are whole, with comments and evidence. Headers:

    Idempotency-Key         the same for every attempt at one firing
    X-Trajgrade-Timestamp   when it was signed, in seconds since 1970
    X-Trajgrade-Signature   sha256=HMAC-SHA256(secret, timestamp + "." + body), if there is one

A receiver compares the signature, and refuses old timestamps. A status of 408, 425, 429 or 5xx, and
a target that cannot be reached, may be tried again, after as long as `Retry-After` says; any other
status that is not 2xx is final.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import time
from dataclasses import dataclass, field
from typing import ClassVar

from trajgrade.actions.addresses import Answered, ForbiddenAddressError, post, target_of
from trajgrade.errors import ConfigError, shorten
from trajgrade.event import Event, TryAgainError
from trajgrade.jsontext import dumps

_AGAIN = frozenset({408, 425, 429})


@dataclass(frozen=True)
class FireWebhook:
    """POST the item to a URL.

    Attributes:
        url: Where to, http or https.
        secret_env: The environment variable that holds the secret to sign with.
        headers: Further headers.
        allow_hosts: Hosts that may have a private or loopback address.
        timeout: How long each step may take, in seconds.

    Raises:
        ConfigError: The URL is none, or the secret is not set.
    """

    fast: ClassVar[bool] = False

    url: str
    secret_env: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    allow_hosts: tuple[str, ...] = ()
    timeout: float = 10.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        target_of(self.url)
        if self.secret_env is not None and not os.environ.get(self.secret_env):
            raise ConfigError(f"secret_env: the environment variable {self.secret_env} is not set")

    def act(self, event: Event) -> str:
        """Send the event; return what was answered.

        Raises:
            TryAgainError: It may succeed later.
            OSError: It never will.
        """
        body = dumps(event.to_dict())
        try:
            answered = post(
                target_of(self.url), body, self._headers(event, body),
                allowed=self.allow_hosts, timeout=self.timeout,
            )  # fmt: skip
        except ForbiddenAddressError:
            raise
        except OSError as broken:
            raise TryAgainError(f"{type(broken).__name__}: {broken}") from None
        return _judged(answered)

    def _headers(self, event: Event, body: bytes) -> dict[str, str]:
        now = str(int(time.time()))
        found = {
            "Content-Type": "application/json",
            **self.headers,
            "Idempotency-Key": event.id,
            "X-Trajgrade-Timestamp": now,
        }
        if self.secret_env is not None:
            signature = sign(os.environ.get(self.secret_env, ""), now, body)
            found["X-Trajgrade-Signature"] = signature
        return found


def sign(secret: str, timestamp: str, body: bytes) -> str:
    """Return the signature of a body, as the header has it."""
    message = timestamp.encode() + b"." + body
    return f"sha256={hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()}"


def _judged(answered: Answered) -> str:
    told = f"HTTP {answered.status}"
    if 200 <= answered.status < 300:
        return told
    said = answered.body[:200].decode("utf-8", "replace").strip()
    message = f"{told}: {shorten(said)}" if said else told
    if answered.status in _AGAIN or answered.status >= 500:
        raise TryAgainError(message, _seconds(answered.headers.get("retry-after")))
    raise OSError(message)


def _seconds(written: str | None) -> float | None:
    """Return the seconds of a Retry-After header, None where it has none."""
    if written is None or not written.strip().isascii() or not written.strip().isdigit():
        return None
    return float(written.strip()[:6])
