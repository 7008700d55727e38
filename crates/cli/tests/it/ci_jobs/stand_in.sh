#!/usr/bin/env bash
# Stands in for --report and --run-id-file of `run` until the program has them.
real='@PROGRAM@'
[ "$1" = run ] || exec "$real" "$@"
reports=() rest=() id=
while [ $# -gt 0 ]; do
  case "$1" in
    --report) reports+=("$2"); shift 2 ;;
    --run-id-file) id=$2; shift 2 ;;
    *) rest+=("$1"); shift ;;
  esac
done
[ "${#reports[@]}" -gt 0 ] || exec "$real" "${rest[@]}"
out=$(mktemp)
code=0
"$real" "${rest[@]}" --format json > "$out" || code=$?
[ "$code" -ne 2 ] || exit 2
run=$(sed -n 's/^  "record": "\([0-9a-f]\{12\}\).*/\1/p' "$out")
[ -z "$id" ] || echo "$run" > "$id"
for report in "${reports[@]}"; do
  kind=${report%%=*} file=${report#*=}
  if [ "$kind" = json ]; then cp "$out" "$file"; else "$real" score "$run" --format "$kind" > "$file" || true; fi
done
exit "$code"
