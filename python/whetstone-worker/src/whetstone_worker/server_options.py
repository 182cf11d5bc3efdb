"""The flags for the server's address and API key, shared by a worker and a cluster of workers."""

import argparse
import os
import re


def add_server_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--server", metavar="URL", default=os.environ.get("WHETSTONE_URL"), help="default: $WHETSTONE_URL")
    parser.add_argument(
        "--key",
        metavar="KEY",
        default=os.environ.get("WHETSTONE_API_KEY"),
        help="an API key with the scope `worker`; default: $WHETSTONE_API_KEY, which other users of the machine cannot see",
    )


def check_server_arguments(given: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Exits with an error message if the address or the key is missing or invalid."""
    if not given.server or not re.match(r"https?://", given.server):
        parser.error("--server (or WHETSTONE_URL) must be the server's address, such as http://host:8484")
    if not given.key:
        parser.error("--key (or WHETSTONE_API_KEY) is missing: `whetstone keys create --scopes worker` makes one")
