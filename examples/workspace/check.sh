#!/usr/bin/env bash
# Builds the program of this workspace and compares what it writes with what the builder was told.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

bazel build --noshow_progress //:layer
text=$(bazel-bin/layer)
for part in 'HloModule layer' 'f32[128,512]' 'sharding={devices=[1,8]' 'tanh('; do
  if [[ $text != *"$part"* ]]; then
    echo "examples/workspace: the module lacks $part" >&2
    exit 1
  fi
done
echo "examples/workspace: built and run"
