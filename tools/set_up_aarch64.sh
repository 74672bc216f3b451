#!/usr/bin/env bash
# Lays out Python for aarch64 with our dependencies in a folder, so that QEMU's user mode runs it on
# another machine: tools/set_up_aarch64.sh FOLDER. Needs Debian 12, root or sudo, and PyPI.
set -euo pipefail
folder=$1
python=${PYTHON:-python3}
as_root=$([ "$(id -u)" = 0 ] || echo sudo)
packages=(
    python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libc6 libgcc-s1 libstdc++6 libgomp1
    libgfortran5 zlib1g libexpat1 libbz2-1.0 liblzma5 libffi8 libssl3 libsqlite3-0 libuuid1 libcrypt1
)
[ -e "$folder/done" ] && exit 0
mkdir -p "$folder/packages" "$folder/root"
$as_root dpkg --add-architecture arm64
$as_root apt-get update -qq
$as_root apt-get install -y -qq --no-install-recommends qemu-user >/dev/null
(cd "$folder/packages" && apt-get download -qq "${packages[@]/%/:arm64}" 2>/dev/null)
for package in "$folder"/packages/*.deb; do
    dpkg-deb -x "$package" "$folder/root"
done
rm -r "$folder/packages"
mapfile -t dependencies < <("$python" -c '
import tomllib
print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"], sep="\n")')
"$python" -m pip install --quiet --disable-pip-version-check --target "$folder/site" \
    --platform manylinux_2_28_aarch64 --platform manylinux_2_17_aarch64 --platform manylinux2014_aarch64 \
    --python-version 3.11 --implementation cp --only-binary=:all: "${dependencies[@]}"
touch "$folder/done"
