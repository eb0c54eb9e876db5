#!/usr/bin/env bash
# Packages: opentelemetry-instrumentation-openai-v2 2.4b0, opentelemetry-util-genai 1.3b0 and 1.0b0,
# openai 3.57.0, httpx 0.28.1 (Python 3.11)
# A good guess: the newest instrumentation imports beside the newest client and the newest utilities that its
# own requirements allow; `pip check` would tell if it did not.
# What happens: pip finds nothing wrong, and the import fails twice. It wants httpx, which no package here
# requires: the client is built on httpx2 by now. And it wants a module of the utilities that has another name
# in 1.3b0; beside 1.0b0 it imports. So a run under automatic instrumentation has no spans of the model's calls.
# Output seen on 2026-11-29:
#   pip check: No broken requirements found.
#   newest: No module named 'httpx'
#   with httpx: No module named 'opentelemetry.util.genai.instruments'
#   with httpx and util-genai 1.0b0: imported

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
install() {
  venv/bin/pip install --quiet --disable-pip-version-check "$@"
}
import() {
  printf '%s: ' "$1"
  venv/bin/python - <<'PY'
try:
    import opentelemetry.instrumentation.openai_v2
except ModuleNotFoundError as error:
    print(error)
else:
    print("imported")
PY
}
install opentelemetry-instrumentation-openai-v2==2.4b0 opentelemetry-util-genai==1.3b0 openai==3.57.0
seen=$(
  echo "pip check: $(venv/bin/pip check)"
  import newest
  install httpx==0.28.1
  import 'with httpx'
  install opentelemetry-util-genai==1.0b0
  import 'with httpx and util-genai 1.0b0'
)
printf '%s\n' "$seen"
expected=$(cat <<'END'
pip check: No broken requirements found.
newest: No module named 'httpx'
with httpx: No module named 'opentelemetry.util.genai.instruments'
with httpx and util-genai 1.0b0: imported
END
)
[ "$seen" = "$expected" ]
