#!/usr/bin/env bash
# On Debian 12, as root: installs the packages of packaging/debian.txt that are missing. Other users: says exactly what to install.
# If nothing is missing, does nothing, quickly. On another system, says what is needed and goes on.
set -euo pipefail
cd "$(dirname "$0")/.."

system=$(. /etc/os-release 2>/dev/null && echo "${ID:-} ${VERSION_ID:-}" || true)
if [ "$system" != "debian 12" ] || ! command -v dpkg-query >/dev/null; then
  echo "set-up: this is '${system:-an unknown system}', not Debian 12; install what packaging/debian.txt lists, under the names that these packages have here, if the build stops for want of them" >&2
  exit 0
fi

mapfile -t wanted < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' packaging/debian.txt)
missing=()
for package in "${wanted[@]}"; do
  if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
    missing+=("$package")
  fi
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi
if [ "$(id -u)" -ne 0 ]; then
  echo "set-up: these Debian packages are missing; install them and run the command again:" >&2
  echo "  sudo apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 1
fi
echo "set-up: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; }; then
  echo "set-up: apt-get could not install these packages; is there a network? Install them and run the command again: ${missing[*]}" >&2
  exit 1
fi
