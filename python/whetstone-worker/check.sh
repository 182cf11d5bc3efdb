#!/bin/sh
# Lint, format, types and tests of this package: `check.sh PYTHON`, or with the environment that scripts/python-env.sh makes.
set -eu
cd "$(dirname "$0")"
python=${1:-$(sh ../../scripts/python-env.sh worker)}
"$python" -m ruff check .
"$python" -m ruff format --check .
"$python" -m mypy
OMP_NUM_THREADS=1 "$python" -m pytest
