#!/bin/sh
# Makes .venv with the Python packages of python/golden/requirements.txt. Exit 0: they are there, and the interpreter
# is the only line on stdout. Exit 1: Python or the packages cannot be had here (the reason is on stderr).
# Whetstone itself needs no Python: only `npm run golden:make` and the PEFT round trip test do.
#   WHETSTONE_PYTHON="$(scripts/python-env.sh)" npm run test:golden
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
requirements="$root/python/golden/requirements.txt"
venv="$root/.venv"
installed="$venv/golden-requirements.txt" # copy of the requirements that are installed: a second call is instant

if cmp -s "$requirements" "$installed" && [ -x "$venv/bin/python" ]; then
  echo "$venv/bin/python"
  exit 0
fi
if ! python=$(command -v python3); then
  echo 'python-env: no python3 on PATH' >&2
  exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
  echo "python-env: $python is older than 3.10" >&2
  exit 1
fi
if ! "$python" -m venv "$venv" >&2; then
  echo "python-env: $python cannot make a virtual environment (on Debian: apt install python3-venv)" >&2
  exit 1
fi
if ! "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements" >&2; then
  echo "python-env: the packages of $requirements could not be installed (no network, or no wheel for this machine)" >&2
  exit 1
fi
cp "$requirements" "$installed"
echo "$venv/bin/python"
