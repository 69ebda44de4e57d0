"""A webhook's receiver on loopback."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest


class Hook(HTTPServer):
    """Keeps what came, and answers what it is told to."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Receiver)
        self.url = f"http://127.0.0.1:{self.server_port}/in?x=1"
        self.came: list[tuple[str, dict[str, str], bytes]] = []
        self.answer: tuple[int, dict[str, str]] = (200, {})


class Receiver(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.came.append((self.path, dict(self.headers), body))
        status, headers = self.server.answer
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(b"answer")

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def hook():
    with Hook() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
