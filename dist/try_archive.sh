#!/usr/bin/env bash
# Runs every command of an archive in a folder tree of another distribution, made by debootstrap or from an image.
# Needs root, for chroot. Nothing of this machine but /proc is seen inside.
set -euo pipefail

if (($# != 3)); then
  echo "Usage: try_archive.sh ROOT ARCHIVE MODULE    MODULE: a snapshot with shardings, such as tests/corpus/jax/*.pb" >&2
  exit 2
fi
root=$1 archive=$2 module=$3

folder=$root/tmp/toroid_trial
rm -rf "$folder"
mkdir -p "$folder"
# The loader finds the folder of a program, $ORIGIN, in /proc.
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"; rm -rf "$folder"' EXIT
tar -xzf "$archive" -C "$folder" --strip-components=1
cp "$module" "$folder/module.snapshot.pb"

inside() { chroot "$root" /usr/bin/env -i PATH=/tmp/toroid_trial/bin:/usr/bin:/bin COLUMNS=120 "$@"; }
for command in "$folder"/bin/*; do inside "$(basename "$command")" --version; done
cd /
inside hlo-partition /tmp/toroid_trial/module.snapshot.pb --explain
inside hlo-run /tmp/toroid_trial/module.snapshot.pb --check
inside hlo-simulate /tmp/toroid_trial/module.snapshot.pb
inside hlo-convert /tmp/toroid_trial/module.snapshot.pb --stats=json
