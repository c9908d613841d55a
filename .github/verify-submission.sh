#!/usr/bin/env bash
# Judges a proposed change of leaderboards/: every new archive in submissions/ must verify by replay, and putting its
# rows on the present boards must give exactly the proposed boards. docs/submitting.md tells what to send.
#   verify-submission.sh BASE PROPOSAL    two checkouts; run it, and `benchmark`, from the first
set -euo pipefail
base=$(realpath "$1") proposal=$(realpath "$2")
most=$((10 * 1024 * 1024))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$base/leaderboards" "$work/boards"

found=0
for archive in "$proposal"/submissions/*.tar.gz; do
  name=$(basename "$archive")
  [[ -f $archive && ! -L $archive ]] || continue
  cmp --silent "$archive" "$base/submissions/$name" && continue
  found=$((found + 1))
  (($(stat --format %s "$archive") <= most)) || { echo "submissions/$name is larger than $most bytes" >&2; exit 1; }
  mkdir "$work/$found"
  for file in manifest.json meta_episodes.jsonl; do # Contents only: no path out of the archive is ever used.
    tar --extract --gzip --to-stdout --wildcards --file "$archive" "*/$file" >"$work/$found/$file"
  done
  echo "submissions/$name"
  benchmark verify "$work/$found"
  benchmark submit "$work/$found" --leaderboards "$work/boards"
done
((found)) || { echo "there is no new submissions/NAME.tar.gz" >&2; exit 1; }

if ! diff --recursive --unified=0 --exclude='.*' --exclude=__pycache__ "$work/boards" "$proposal/leaderboards"; then
  echo "leaderboards/ is not what the runs give: on the newest main, 'benchmark submit' them, and commit the CSVs only" >&2
  exit 1
fi
echo "$found runs verified; leaderboards/ is what they give"
