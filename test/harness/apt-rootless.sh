#!/bin/sh
# apt-rootless.sh DIR PACKAGE...: downloads Debian packages with the libraries they miss and unpacks them under DIR/root, which DIR must not have.
# Needs apt-get and dpkg-deb, but neither root nor a change to the machine.
set -eu
dir=$1
shift
mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial"
cp /var/lib/dpkg/status "$dir/apt/status" 2>/dev/null || : >"$dir/apt/status"
apt() {
  apt-get -qq -o "Dir::State=$dir/apt" -o "Dir::State::lists=$dir/apt/lists" -o "Dir::State::status=$dir/apt/status" \
    -o "Dir::Cache=$dir/apt/cache" -o APT::Sandbox::User= -o Debug::NoLocking=1 "$@"
}
apt update
cd "$dir/apt/cache/archives"
apt --print-uris --no-install-recommends install --reinstall "$@" |
  sed -n "s#^'[^']*/\([^_/']*\)_[^']*'.*#\1#p" | sort -u |
  while read -r package; do apt download "$package"; done
# A run that is stopped half way leaves no root with a program that lacks its libraries.
for archive in *.deb; do dpkg-deb -x "$archive" "$dir/unpacked"; done
mv "$dir/unpacked" "$dir/root"
