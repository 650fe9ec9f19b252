#!/usr/bin/env bash
# A tour of what Zeus does today, on virtual GPUs, under a minute: each command is shown as a person would type it.
#   demo.sh BIN_FOLDER
set -euo pipefail
export PATH="$(cd "$1" && pwd):$PATH"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

title() {
  printf '\n\033[1m%s\033[0m\n' "$1"
}
run() {
  printf '\n  $ %s\n\n' "$*"
  "$@"
}

title "1. Two V100 and an H100 that are not there, under a load that swings between 80 and 300 W"
run zeus virtual 2xV100,1xH100 --load square:80-300W,200ms -- zeus devices

title "2. What a command costs, with its doubt: 200 W for two seconds are 400 J"
run zeus virtual 1xA100 --load constant:200W -- zeus measure -- sleep 2

title "3. Power and clocks, live"
run zeus virtual 1xA100 --load square:80-300W,1300ms -- zeus monitor --interval 0.5 --duration 2

title "4. The paper's evaluation, replayed from the built-in workload models"
run zeus simulate paper --seeds 1 --report "$scratch/paper.html"
cp "$scratch/paper.html" "${ZEUS_DEMO_FOLDER:-build}/paper.html"
echo "  The page is at ${ZEUS_DEMO_FOLDER:-build}/paper.html: open it in a browser."

title "Three commands to try next"
cat <<'NEXT'
  zeus doctor                                       what works on this machine, and how to mend what does not
  zeus measure -- YOUR COMMAND                      its joules, on your own GPU and CPU
  zeus simulate cluster --help                      recurring jobs of a whole cluster, from traces
NEXT
