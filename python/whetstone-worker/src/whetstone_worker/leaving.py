"""Handles SIGTERM and Ctrl-C: the first asks the worker to finish and leave, the second ends the process at once."""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress


def leave_on_signals(leave: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()

    def handle(number: signal.Signals) -> None:
        with suppress(NotImplementedError):
            loop.remove_signal_handler(number)
        loop.add_signal_handler(number, os._exit, 128 + number)  # a second one
        leave()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, handle, number)
