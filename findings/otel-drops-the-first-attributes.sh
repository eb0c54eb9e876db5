#!/usr/bin/env bash
# Packages: opentelemetry-sdk 1.45.2 (Python 3.11)
# A good guess: a span holds 128 attributes; those set after that are dropped, as the specification of
# OpenTelemetry has it, and the first ones (operation, model) stay.
# What happens: the Python SDK drops the oldest one for each new one. A span that gets the attributes of a
# long dialogue after its operation and model has lost both at the end.
# Output seen on 2026-11-28:
#   kept 128 dropped 2
#   operation None model None
#   first turn.0 last turn.127

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check opentelemetry-sdk==1.45.2

cat > program.py <<'PY'
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
with provider.get_tracer("chat").start_as_current_span("chat") as span:
    span.set_attribute("gen_ai.operation.name", "chat")
    span.set_attribute("gen_ai.request.model", "m")
    for turn in range(128):
        span.set_attribute(f"turn.{turn}", "text")
attributes = exporter.get_finished_spans()[0].attributes
print("kept", len(attributes), "dropped", exporter.get_finished_spans()[0].dropped_attributes)
print("operation", attributes.get("gen_ai.operation.name"), "model", attributes.get("gen_ai.request.model"))
print("first", next(iter(attributes)), "last", list(attributes)[-1])
PY

seen=$(venv/bin/python program.py 2> warnings.txt)
printf '%s\n' "$seen"
expected=$(cat <<'END'
kept 128 dropped 2
operation None model None
first turn.0 last turn.127
END
)
[ "$seen" = "$expected" ]
