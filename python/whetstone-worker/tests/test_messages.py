import numpy as np
import pytest

from whetstone_worker.messages import decode_message, encode_message


def test_a_message_is_decoded_to_the_value_that_was_encoded() -> None:
    message = {"kind": "return", "id": 3, "value": {"loss": -1.5, "none": None, "whole": 1 << 40, "words": "größer"}}
    assert decode_message(encode_message(message)) == message


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_arrays_of_numbers_are_extension_types(dtype: type[np.int32 | np.float32]) -> None:
    array = np.array([1, -2, 70_000], dtype=dtype)
    found = decode_message(encode_message({"tokens": array, "none": array[:0]}))
    assert found["tokens"].dtype == dtype
    assert found["tokens"].tolist() == array.tolist()
    assert found["none"].size == 0


def test_their_bytes_are_little_endian_without_a_header() -> None:
    assert encode_message(np.array([1, -1], dtype=np.int32)) == b"\xd7\x01\x01\0\0\0\xff\xff\xff\xff"
    assert encode_message(np.array([1], dtype=np.float32)) == b"\xd6\x02\0\0\x80\x3f"


@pytest.mark.parametrize("value", [object(), np.zeros(2, dtype=np.float64), np.zeros((2, 2), dtype=np.float32)])
def test_values_that_cannot_be_encoded_are_refused(value: object) -> None:
    with pytest.raises(TypeError, match="cannot be sent"):
        encode_message({"value": value})


@pytest.mark.parametrize(
    "data",
    [b"\xc1", b"\xa5ab", b"\x01\x01", b"\xd4\x07\0", b"\xd5\x01\0\0", b"\xa1\xff", b"\x91" * 3000 + b"\xc0"],
    ids=["no MessagePack", "half", "two values", "unknown extension", "half a number", "no UTF-8", "too deep"],
)
def test_invalid_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each kind has its own message
        decode_message(data)
