"""An LRU cache of files on disk, addressed by SHA-256 and limited in bytes. Also gives each process a directory of its own,
because several workers on a machine may use the same cache directory. Does not know the server.
"""

import fcntl
import hashlib
import os
import shutil
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path


class FileCache:
    def __init__(self, directory: Path, bytes_max: int) -> None:
        self._directory = directory
        self._bytes_max = bytes_max
        self._sizes: OrderedDict[str, int] = OrderedDict()
        """Size in bytes by hash, least recently used first."""

    def part(self, sha256: str) -> Path:
        """Returns the path to write a file to while it is incomplete."""
        return self._directory / f"{sha256}.part"

    def has(self, sha256: str) -> bool:
        return sha256 in self._sizes

    def keep(self, sha256: str) -> None:
        """Adds a completely written part to the cache. It is not evicted before the next `link`."""
        part = self.part(sha256)
        self._sizes[sha256] = part.stat().st_size
        os.replace(part, self._directory / sha256)

    def link(self, sha256: str, target: Path) -> None:
        """Links a cached file to `target`. The target remains when the cache evicts the file."""
        os.link(self._directory / sha256, target)
        self._sizes.move_to_end(sha256)
        while sum(self._sizes.values()) > self._bytes_max:
            oldest, _ = self._sizes.popitem(last=False)
            (self._directory / oldest).unlink()


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


@contextmanager
def own_directory(parent: Path) -> Iterator[Path]:
    """Yields an empty directory below `parent` for this process only. Deletes directories of workers that died."""
    parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    for number in count():
        with (parent / f"{number}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            directory = parent / str(number)
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir(mode=0o700)
            try:
                yield directory
            finally:
                shutil.rmtree(directory, ignore_errors=True)
            return
