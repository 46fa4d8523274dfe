#!/bin/bash
# Installs the Debian 12 packages that Rowan is built from and with. Does nothing, and needs no network and no rights,
# where they are all installed.
set -euo pipefail

PACKAGES=(
  # What builds.
  bazel-bootstrap bazel-rules-java bazel-rules-proto bazel-skylib
  g++ libc6-dev protobuf-compiler protobuf-compiler-grpc python3 git ca-certificates
  clang # deploy/sanitize.sh thread-safety
  # What is linked.
  libabsl-dev libgoogle-glog-dev libprotobuf-dev libgrpc++-dev libssl-dev
  librocksdb-dev libdnnl-dev libhwy-dev libisal-dev libxxhash-dev zlib1g-dev
  # What tests.
  libgtest-dev libgmock-dev libbenchmark-dev openssl
  python3-grpcio python3-protobuf # the client of another language
)

missing=()
for package in "${PACKAGES[@]}"; do
  [[ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "setup.sh: missing packages, and neither root nor sudo to install them: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "setup.sh: installing ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! {
  "${as_root[@]}" apt-get update -q &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
      -o DPkg::Lock::Timeout=300 "${missing[@]}"
} >"$log" 2>&1 </dev/null; then
  tail -n 30 "$log" >&2
  echo "setup.sh: apt-get failed; the packages are those of Debian 12" >&2
  exit 1
fi
