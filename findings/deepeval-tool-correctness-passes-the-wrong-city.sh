#!/usr/bin/env bash
# Packages: deepeval 4.3.1 (Python 3.11)
# A good guess: ToolCorrectnessMetric that is told to compare the parameters fails an agent that books Oslo
# where Rome was expected, and with should_consider_ordering=True one that pays before it books.
# What happens: each gets 0.5 for the half that is right, and the default threshold is 0.5, so each passes; so
# does an agent that leaves out one of two calls. A call that nobody expected (delete_account) costs nothing:
# the score stays 1.0. threshold=1 fails the first three; only should_exact_match=True fails the call too
# many.
# Output seen on 2026-11-29:
#   the wrong city: 0.5, passed
#   the wrong order: 0.5, passed
#   one of two calls: 0.5, passed
#   one call more: 1.0, passed
#   one call more, exact: 0.0, failed

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check deepeval==4.3.1

cat > program.py <<'PY'
import os

os.environ.update(DEEPEVAL_TELEMETRY_OPT_OUT="1", OPENAI_API_KEY="none")
from deepeval.metrics import ToolCorrectnessMetric
from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams


def book(city):
    return ToolCall(name="book", input_parameters={"city": city, "day": "Friday"})


pay, delete = (ToolCall(name=name, input_parameters={}) for name in ("pay", "delete_account"))
parameters = {"evaluation_params": [ToolCallParams.INPUT_PARAMETERS]}
for words, called, expected, options in (
    ("the wrong city", [book("Oslo")], [book("Rome")], parameters),
    ("the wrong order", [pay, book("Rome")], [book("Rome"), pay], {"should_consider_ordering": True}),
    ("one of two calls", [book("Rome")], [book("Rome"), pay], parameters),
    ("one call more", [book("Rome"), pay, delete], [book("Rome"), pay], parameters),
    ("one call more, exact", [book("Rome"), pay, delete], [book("Rome"), pay], {"should_exact_match": True}),
):
    metric = ToolCorrectnessMetric(async_mode=False, **options)
    case = LLMTestCase(input="i", actual_output="o", tools_called=called, expected_tools=expected)
    metric.measure(case, _show_indicator=False)
    print(f"{words}: {metric.score}, {'passed' if metric.is_successful() else 'failed'}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
the wrong city: 0.5, passed
the wrong order: 0.5, passed
one of two calls: 0.5, passed
one call more: 1.0, passed
one call more, exact: 0.0, failed
END
)
[ "$seen" = "$expected" ]
