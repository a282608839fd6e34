"""A local HTTP server with the hub's resolve route, its redirect to a CDN, and faults on demand."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


@dataclass
class Asked:
    """One request as it came in."""

    method: str
    path: str
    headers: dict[str, str]


@dataclass
class HubServer:
    """``files``: path to bytes. ``faults``: answers to give first, taken from the front.

    A fault is a status to answer with, ``cut`` (half the body, then the connection drops) or ``other``
    (bytes of the right length that are not the file's).
    """

    files: dict[str, bytes] = field(default_factory=dict)
    faults: list[int | str] = field(default_factory=list)
    gated: bool = False
    etag: str = "sha256"
    asked: list[Asked] = field(default_factory=list)

    def __enter__(self) -> Self:
        hub = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self, cdn=False))
        cdn = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self, cdn=True))
        self._servers = [hub, cdn]
        for server in self._servers:
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{hub.server_address[1]}"
        self.cdn_url = f"http://127.0.0.1:{cdn.server_address[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def put(self, repo: str, revision: str, path: str, data: bytes) -> None:
        """Serves a file of a data set repository."""
        self.files[f"/datasets/{repo}/resolve/{revision}/{path}"] = data

    def declared(self, data: bytes) -> str | None:
        """The hash header that goes with a file."""
        if self.etag == "sha256":
            return hashlib.sha256(data).hexdigest()
        if self.etag == "git":
            return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        return self.etag or None


def _handler(hub: HubServer, cdn: bool) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            self.answer(body=True)

        def answer(self, body: bool) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            hub.asked.append(Asked(self.command, ("cdn " if cdn else "") + self.path, headers))
            data = hub.files.get(self.path)
            if hub.gated and not cdn and headers.get("authorization") != "Bearer secret-token":
                self.send(401, b"gated")
            elif data is None:
                self.send(404, b"no such file")
            elif not cdn and self.path.startswith("/datasets/"):
                told = hub.declared(data)
                extra = {"X-Linked-ETag": f'"{told}"'} if told else {}
                self.send(302, b"", {"Location": f"{hub.cdn_url}{self.path}", **extra})
            elif hub.faults and isinstance(hub.faults[0], int):
                self.send(hub.faults.pop(0), b"later", {"Retry-After": "0"})  # type: ignore[arg-type]
            else:
                self.send_file(data, headers, str(hub.faults.pop(0)) if hub.faults else "")

        def send(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def send_file(self, data: bytes, headers: dict[str, str], fault: str) -> None:
            start = 0
            extra = {}
            if asked := headers.get("range"):
                start = int(asked.removeprefix("bytes=").rstrip("-"))
                if start >= len(data):
                    self.send(416, b"")
                    return
                extra["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
            part = b"x" * (len(data) - start) if fault == "other" else data[start:]
            if fault != "cut":
                self.send(206 if asked else 200, part, extra)
                return
            self.send_response(206 if asked else 200)
            for name, value in extra.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(part)))
            self.end_headers()
            self.wfile.write(part[: len(part) // 2])
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    return Handler
