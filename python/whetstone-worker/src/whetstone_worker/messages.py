"""Encodes messages as MessagePack, with arrays of numbers as extension types (docs/worker-protocol.md, section 1).
The counterpart of codec.ts. Does not know the individual messages.
"""

from typing import Any

import msgpack
import numpy as np

INT32 = 1
FLOAT32 = 2
_TYPES = {INT32: np.dtype("<i4"), FLOAT32: np.dtype("<f4")}


def encode_message(message: object) -> bytes:
    """Raises TypeError if the message holds a value that cannot be encoded."""
    encoded: bytes = msgpack.packb(message, default=_encode_array)
    return encoded


def decode_message(data: bytes) -> Any:
    """Raises ValueError if the bytes are not exactly one MessagePack value."""
    return msgpack.unpackb(data, ext_hook=_decode_array)


def _encode_array(value: object) -> msgpack.ExtType:
    if isinstance(value, np.ndarray) and value.ndim == 1:
        for code, dtype in _TYPES.items():
            if value.dtype == dtype.newbyteorder("="):
                return msgpack.ExtType(code, value.astype(dtype).tobytes())
    raise TypeError(f"{type(value).__name__} {value!r:.80} cannot be sent")


def _decode_array(code: int, data: bytes) -> Any:
    if code not in _TYPES:
        raise ValueError(f"unknown extension type {code}")
    if len(data) % 4 != 0:
        raise ValueError(f"{len(data)} bytes are not an array of 4-byte numbers")
    return np.frombuffer(data, dtype=_TYPES[code])
