"""A bucket on this machine: moto's S3, spoken to over a socket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

NAME = "graded"


@contextmanager
def served() -> Iterator[tuple[Any, dict[str, str]]]:
    """Serve an empty bucket; give what writes to it, and the environment that names it."""
    moto = pytest.importorskip("moto.server")
    filesystems = pytest.importorskip("pyarrow.fs")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        env = {
            "AWS_ACCESS_KEY_ID": "reader",
            "AWS_SECRET_ACCESS_KEY": "hidden-from-all",
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        writer = filesystems.S3FileSystem(
            access_key="writer",
            secret_key="x",
            region="us-east-1",
            endpoint_override=env["AWS_ENDPOINT_URL"],
            allow_bucket_creation=True,
        )
        writer.create_dir(NAME)
        yield writer, env
    finally:
        server.stop()
