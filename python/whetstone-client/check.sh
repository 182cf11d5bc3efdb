#!/bin/sh
# Lint, format, types and tests of this package: `check.sh PYTHON`, an interpreter with httpx, pydantic, mypy, pytest and ruff, as
# `scripts/python-env.sh ray` makes one.
set -eu
cd "$(dirname "$0")"
python=${1:-$(sh ../../scripts/python-env.sh ray)}
"$python" -m ruff check .
"$python" -m ruff format --check .
"$python" -m mypy
"$python" -m pytest
