#!/usr/bin/env bash
# Packages: opentelemetry-semantic-conventions 0.66b2 (Python 3.11)
# A good guess: a few old names of the GenAI conventions are marked as deprecated (gen_ai.system,
# gen_ai.prompt), and the current ones are not.
# What happens: each of the names is marked, those in use too: the conventions moved to a repository of their
# own. So "deprecated" in this package does not tell an old name from a current one.
# Output seen on 2026-11-28:
#   names 60 deprecated 60 because they moved 50
#   gen_ai.input.messages moved
#   gen_ai.provider.name moved
#   gen_ai.usage.input_tokens moved

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check opentelemetry-semantic-conventions==0.66b2

cat > program.py <<'PY'
import inspect, re

from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

source = inspect.getsource(gen_ai_attributes)
notes = dict(re.findall(r'^(GEN_AI_[A-Z_]+): Final = "[^"]+"\n"""\n(.*?)\n"""', source, re.DOTALL | re.MULTILINE))
marked = [name for name, note in notes.items() if note.startswith("Deprecated")]
moved = [name for name in marked if "Moved to the [OpenTelemetry GenAI" in notes[name]]
names = [name for name in dir(gen_ai_attributes) if name.startswith("GEN_AI_")]
print("names", len(names), "deprecated", len(marked), "because they moved", len(moved))
for name in ("GEN_AI_INPUT_MESSAGES", "GEN_AI_PROVIDER_NAME", "GEN_AI_USAGE_INPUT_TOKENS"):
    print(getattr(gen_ai_attributes, name), "moved" if name in moved else "current")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
names 60 deprecated 60 because they moved 50
gen_ai.input.messages moved
gen_ai.provider.name moved
gen_ai.usage.input_tokens moved
END
)
[ "$seen" = "$expected" ]
