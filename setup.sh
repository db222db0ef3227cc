#!/usr/bin/env bash
# Installs what the build needs from the packages of Debian 12 and prepares this checkout.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: ./setup.sh [--test]

Installs the packages that building Toroid needs, if any is missing (as root or with sudo; only then is the
network used), and writes .bazelrc.user, which gives Bazel a cache folder for this machine.

  --test   also install what only tests and benchmarks need
  --help   print this text

Made for Debian 12 (bookworm) on x86-64. May be run again at any time.
USAGE
}

build_packages=(
  bazel-bootstrap g++ pkg-config
  protobuf-compiler libprotobuf-dev
  libabsl-dev libeigen3-dev libcli11-dev nlohmann-json3-dev zlib1g-dev libzip-dev
)
# Not part of the key below: Bazel sees their files, or no object depends on their version.
allocator_packages=(libmimalloc-dev)
code_packages=(libasmjit-dev)  # Debian 12 has one version of it.
mpi_packages=(libopenmpi-dev openmpi-bin)
report_packages=(libjs-d3 python3-xstatic-dagre)
data_packages=(iso-codes)  # What examples train on.
test_packages=(clang-format libgtest-dev libgmock-dev libbenchmark-dev gnuplot-nox chromium chromium-driver python3-selenium python3-venv)
packages=("${build_packages[@]}" "${allocator_packages[@]}" "${code_packages[@]}" "${mpi_packages[@]}" "${report_packages[@]}" "${data_packages[@]}")

with_tests=false
for argument in "$@"; do
  case "$argument" in
    --test) packages+=("${test_packages[@]}"); with_tests=true ;;
    --help | -h) usage; exit 0 ;;
    *) echo "setup.sh: unknown argument: $argument" >&2; usage >&2; exit 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")"

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup.sh: needs a Debian system; elsewhere install the equivalents of: ${packages[*]}" >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [[ $status == "install ok installed" ]] || missing+=("$package")
done

if ((${#missing[@]} == 0)); then
  echo "setup.sh: all ${#packages[@]} packages are installed"
else
  as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || {
      echo "setup.sh: run as root (or install sudo) to install: ${missing[*]}" >&2
      exit 1
    }
    as_root=(sudo)
  fi
  echo "setup.sh: installing ${missing[*]}"
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q)
  # Stale package lists still do when every file they name is there.
  "${as_root[@]}" update || echo "setup.sh: could not refresh the package lists, trying with those at hand" >&2
  "${as_root[@]}" install -y --no-install-recommends "${missing[@]}"
fi

caches="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}"

# Slim images leave the translations out when they install the package (dpkg's path-exclude): unpacked beside the build
# cache, where examples/data/iso_names.cc looks too.
names="$caches/toroid-iso-codes"
if [[ ! -e /usr/share/locale/de/LC_MESSAGES/iso_3166-1.mo && ! -e $names/usr/share/locale/de/LC_MESSAGES/iso_3166-1.mo ]]; then
  part=$(mktemp -d)
  if (cd "$part" && apt-get -q download iso-codes && dpkg-deb -x iso-codes_*.deb unpacked); then
    mkdir -p "$caches"
    rm -rf "$names"
    mv "$part/unpacked" "$names"
    echo "setup.sh: translations of iso-codes in $names"
  else
    echo "setup.sh: no translations of iso-codes; the example trains on languages that it makes up" >&2
  fi
  rm -rf "$part"
fi

# Objects follow the headers in /usr, which Bazel does not look at: a cache folder for each set of package versions.
key=$(dpkg-query -W "${build_packages[@]}" | sha256sum | cut -c1-12)
cache="$caches/toroid-bazel/$key"
line="build --disk_cache=$cache"
if [[ ! -f .bazelrc.user ]] || ! grep -qxF "$line" .bazelrc.user; then
  rest=$(grep -v '^build --disk_cache=' .bazelrc.user 2>/dev/null || true)
  printf '%s\n' "$line" ${rest:+"$rest"} >.bazelrc.user
  echo "setup.sh: build cache in $cache"
fi

# Bazel never removes an object from that folder: beyond 15 GB those go that no build has used for longest.
if [[ -d $cache ]]; then
  find "$cache" -type f -printf '%T@ %s %p\n' | sort -rn |
    awk -v limit=15e9 '{ sum += $2 } sum > limit { sub(/^[^ ]+ [^ ]+ /, ""); printf "%s%c", $0, 0 }' | xargs -0r rm -f
fi

# The Python that tests of the package run in: a folder for each list of packages.
if $with_tests; then
  python="$caches/toroid-python/$(sha256sum python/tests/requirements.txt | cut -c1-12)"
  if [[ ! -x $python/bin/pytest ]]; then
    rm -rf "$python"
    python3 -m venv "$python"
    "$python/bin/pip" -q --disable-pip-version-check install -r python/tests/requirements.txt
    echo "setup.sh: Python packages of the tests in $python"
  fi
  line="test --test_env=TOROID_PYTHON=$python/bin/python"
  if ! grep -qxF "$line" .bazelrc.user; then
    rest=$(grep -v 'TOROID_PYTHON=' .bazelrc.user || true)
    printf '%s\n' ${rest:+"$rest"} "$line" >.bazelrc.user
  fi
fi
