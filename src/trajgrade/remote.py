"""Remote: an agent behind a URL, asked by a POST of the row as JSON.

    POST /agent
    {"id": "a", "inputs": "Is the 09:14 on time?", "trial": 0, "seed": 0}

The body of the response is its answer or trace, as JSON, JSON Lines or plain text. A status other
than 2xx is a failure, a redirect too: whoever is asked is who was named. A header may hold
`${NAME}`, which stands for a variable of the environment; what headers hold is never shown.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from http.client import HTTPException, IncompleteRead
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

from trajgrade.errors import AgentCallError, ConfigError, TooLargeError
from trajgrade.jsontext import dumps
from trajgrade.reply import read_written

MOST_BYTES = 64 * 2**20
_PIECE = 2**16
_SHOWN = 500
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_]\w*)\}")
_SHORTEST_SECRET = 4  # what is shorter would be taken out of ordinary words
_OWN = {
    "Content-Type": "application/json", "Accept": "application/json, text/plain;q=0.9, */*;q=0.1",
    "Accept-Encoding": "identity", "User-Agent": "trajgrade",
}  # fmt: skip


class Remote:
    """An agent behind a URL.

    Args:
        url: Its address, http or https.
        headers: What is sent beside the row; `${NAME}` is taken from the environment.
        timeout: How many seconds an answer may take; None waits for ever.
        most_bytes: How long an answer may be.

    Raises:
        ConfigError: The address or a header is wrong; holds all faults.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        faults = [*_url_faults(url)]
        sent, self._secrets = _filled(headers or {}, faults)
        if faults:
            raise ConfigError(*faults)
        self.url = url
        self._headers = {**_OWN, **sent}
        self._timeout = timeout
        self._most_bytes = most_bytes
        self._opener = OpenerDirector()
        # None that follows a redirect, and none that opens a file.
        for handler in (ProxyHandler(), HTTPHandler(), HTTPSHandler()):
            self._opener.add_handler(handler)

    def __repr__(self) -> str:
        """Return the address, without what may be secret in it."""
        return f"Remote({shown(self.url)!r})"

    def query_row(self, row: Mapping[str, Any]) -> Any:
        """Ask it once.

        Raises:
            AgentCallError: The status is not 2xx, or no HTTP is spoken there.
            OSError: It cannot be reached.
            TooLargeError: The answer is too long.
        """
        request = Request(self.url, dumps(row), self._headers, method="POST")  # noqa: S310 http or https, as checked
        until = None if self._timeout is None else time.monotonic() + self._timeout
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                body = self._read(response, until)
                if 200 <= response.status < 300:
                    return read_written(body)
                raise AgentCallError(
                    self._failed(response.status, response.reason, body),
                    status_code=response.status,
                    retry_after=response.headers.get("Retry-After"),
                )
        except URLError as broken:
            if isinstance(broken.reason, TimeoutError):
                raise TimeoutError(f"no answer within {self._timeout:g} s") from None
            if isinstance(broken.reason, OSError):
                raise broken.reason from None
            raise AgentCallError(self._hidden(f"{shown(self.url)}: {broken.reason}")) from None
        except IncompleteRead:
            raise ConnectionError("the answer was cut off") from None
        except TimeoutError:
            raise TimeoutError(f"no whole answer within {self._timeout:g} s") from None
        except HTTPException as broken:
            if isinstance(broken, OSError):
                raise
            what = f"{shown(self.url)}: {type(broken).__name__}: {broken}"
            raise AgentCallError(self._hidden(what)) from None

    def _read(self, response: Any, until: float | None) -> bytes:
        body = bytearray()
        while piece := response.read1(_PIECE):
            body += piece
            if len(body) > self._most_bytes:
                raise TooLargeError(f"the answer is longer than {self._most_bytes:,} bytes")
            if until is not None and time.monotonic() > until:
                raise TimeoutError(f"no whole answer within {self._timeout:g} s")
        if response.length:
            raise ConnectionError(f"the answer was cut off, {response.length:,} bytes short")
        return bytes(body)

    def _failed(self, status: int, reason: str, body: bytes) -> str:
        what = f"{shown(self.url)} answered {status} {reason}".rstrip()
        if 300 <= status < 400:
            what += "; redirects are not followed"
        said = body.decode("utf-8", errors="replace").strip()[:_SHOWN]
        return self._hidden(f"{what}: {said}" if said else what)

    def _hidden(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


def shown(url: str) -> str:
    """Return an address as it may be shown: a query may hold a key."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _url_faults(url: str) -> list[str]:
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and parts.port != 0
    except ValueError as wrong:
        return [f"url: {wrong}"]
    if parts.scheme not in ("http", "https") or not named:
        return [f"url: expected an address such as http://localhost:8000/agent, got {shown(url)!r}"]
    if parts.username is not None:
        return ["url: holds a name or password; send it as a header, Authorization: ${NAME}"]
    return []


def _filled(
    headers: Mapping[str, str], faults: list[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the headers with what the environment holds, and what of them is secret."""
    filled: dict[str, str] = {}
    secrets: list[str] = []
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            faults.append(f"headers: {name!r} is no name of a header")
            continue
        missing = [
            found["name"] for found in _VARIABLE.finditer(value) if found["name"] not in os.environ
        ]
        faults += [f"headers.{name}: the environment has no {absent}" for absent in missing]
        if missing:
            continue
        secrets += [os.environ[found["name"]] for found in _VARIABLE.finditer(value)]
        filled[name] = _VARIABLE.sub(lambda found: os.environ[found["name"]], value).strip()
        secrets.append(filled[name])
        if not filled[name].isprintable() or not filled[name].isascii():
            faults.append(f"headers.{name}: holds a character that no header may hold")
    kept = {secret for secret in secrets if len(secret) >= _SHORTEST_SECRET}
    return filled, tuple(sorted(kept, key=len, reverse=True))
