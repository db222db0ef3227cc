#!/usr/bin/env bash
# Runs the tests of the package with the commands that were just built, in the Python that setup.sh --test prepared.
set -euo pipefail

if [[ -z ${TOROID_PYTHON:-} ]]; then
  echo "TOROID_PYTHON is not set: run ./setup.sh --test" >&2
  exit 1
fi
export TOROID_BIN="$TEST_TMPDIR/bin" PYTHONPATH="$PWD/python" PYTHONDONTWRITEBYTECODE=1 JAX_PLATFORMS=cpu
# Kernels of notebooks and matplotlib write into the home folder.
export HOME="$TEST_TMPDIR"
mkdir -p "$TOROID_BIN"
for command in hlo/hlo-convert explain/hlo-diff partitioner/hlo-partition runtime/hlo-run simulator/hlo-simulate; do
  ln -sf "$PWD/$command" "$TOROID_BIN/"
done
"$TOROID_PYTHON" -m pytest -q -p no:cacheprovider "$@"
