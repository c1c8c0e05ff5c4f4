#!/bin/sh
# Builds sdist and wheel in isolation, installs each into an empty venv away from the sources, and runs the demo there.
# usage: sh tests/dist.sh PYTHON
set -eu
python=$1
"$python" -m pip install --quiet --disable-pip-version-check build
rm -rf dist
"$python" -m build --outdir dist . >/dev/null
here=$(pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for artifact in "$here"/dist/linred-*.whl "$here"/dist/linred-*.tar.gz; do
    rm -rf "$scratch/venv"
    "$python" -m venv "$scratch/venv"
    "$scratch/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$artifact[cli,plot]"
    (cd "$scratch" && venv/bin/linred demo --force >/dev/null)
    echo "ok: $(basename "$artifact")"
done
