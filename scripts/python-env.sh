#!/bin/sh
# Makes a virtual environment with the packages of python/<name>/requirements.txt: golden (the default, in .venv) or clients
# (in .venv-clients). Exit 0: they are there, and the interpreter is the only line on stdout. Exit 1: Python or the packages
# cannot be had here (the reason is on stderr). Whetstone itself needs no Python: only tests and fixtures do.
#   WHETSTONE_PYTHON="$(scripts/python-env.sh)" WHETSTONE_CLIENTS_PYTHON="$(scripts/python-env.sh clients)" npm test
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
name=${1:-golden}
requirements="$root/python/$name/requirements.txt"
case $name in golden) venv="$root/.venv" ;; *) venv="$root/.venv-$name" ;; esac
installed="$venv/installed-requirements.txt" # copy of the requirements that are installed: a second call is instant

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
