"""A server's file endpoints over real HTTP. It can break off downloads, lose pieces, and send wrong bytes."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from whetstone_worker.files import PIECE_BYTES_MAX


class FileServer:
    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        """The downloadable files, by hash."""
        self.brought: dict[str, bytes] = {}
        self.asked: list[str] = []
        """Method, last part of the path, and range of each request."""
        self.cut: list[int] = []
        """For each of the next downloads, the number of bytes after which it breaks off."""
        self.lost = 0
        """The number of next pieces that are answered with 409 and discarded."""
        self.status = 200
        """The status of every response, if not the usual one."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{server.server_port}/base"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.close = server.shutdown

    def _handler(served) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def _begin(self) -> str:
                name = self.path.rsplit("/", 1)[1]
                assert self.path in (f"/base/v1/workers/files/{name}", f"/base/v1/workers/uploads/{name}")
                assert self.headers["authorization"] == "Bearer key"
                ranged = self.headers.get("range") or self.headers.get("content-range") or ""
                served.asked.append(f"{self.command} {name[:4]} {ranged}".strip())
                return name

            def _answer(self, status: int, content: bytes, cut: int | None = None) -> None:
                self.send_response(status if served.status == 200 else served.status)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[:cut])
                if cut is not None:
                    self.close_connection = True

            def _progress(self, name: str, total: int | None, status: int = 200) -> None:
                offset = len(served.brought.get(name, b""))
                self._answer(status, json.dumps({"complete": offset == total, "offset": offset}).encode())

            def do_GET(self) -> None:
                name = self._begin()
                if "/uploads/" in self.path:
                    return self._progress(name, None)
                start = int(re.sub(r"\D", "", self.headers.get("range", "0")))
                content = served.files.get(name)
                if content is None:
                    return self._answer(404, b"no such file")
                return self._answer(206 if start else 200, content[start:], served.cut.pop(0) if served.cut else None)

            def do_PUT(self) -> None:
                name = self._begin()
                piece = self.rfile.read(int(self.headers["content-length"]))
                first, last, total = map(int, re.findall(r"\d+", self.headers["content-range"]))
                assert last - first + 1 == len(piece) <= PIECE_BYTES_MAX
                if served.lost > 0:
                    served.lost -= 1
                    return self._answer(409, b"goes on elsewhere")
                assert first == len(served.brought.get(name, b""))
                served.brought[name] = served.brought.get(name, b"") + piece
                return self._progress(name, total)

        return Handler
