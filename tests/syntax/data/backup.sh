#!/usr/bin/env bash
# Copy what has changed.
set -euo pipefail

target=${1:-/tmp/backup}
copy() {
  local count=0
  for file in "$@"; do
    if [[ -f $file && $count -lt 10 ]]; then
      cp "$file" "$target/$(basename "$file")" || return 1
      count=$((count + 1))
    fi
  done
  case $count in
    0) echo "nothing" ;;
    *) echo "$count files" | tee log.txt ;;
  esac
}
copy ./*.txt
