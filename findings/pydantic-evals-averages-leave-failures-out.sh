#!/usr/bin/env bash
# Packages: pydantic-evals 2.62.0 (Python 3.11)
# A good guess: of four cases, one passes, one has an evaluator that raised an error, one a task that raised
# an error, and one expects None (an assistant that must not answer) and gets an answer: the report's average
# of assertions is at most 25 %.
# What happens: it is 100 %, of the one case that was left: the failed evaluator and the failed task stand in
# lists of their own and count for nothing, and EqualsExpected says nothing where the expected output is None.
# A gate on averages().assertions is green; Equals(value=None) does fail the last case.
# Output seen on 2026-11-29:
#   assertions 1.0
#   cases 3 assertions of each [1, 0, 0]
#   evaluators that failed 1 tasks that failed 1
#   with Equals(value=None) 0.0

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pydantic-evals==2.62.0

cat > program.py <<'PY'
import logging
from dataclasses import dataclass

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Equals, EqualsExpected, Evaluator

logging.disable(logging.CRITICAL)


@dataclass
class Reads(Evaluator):
    def evaluate(self, context):
        if context.inputs == "judge fails":
            raise RuntimeError("no verdict")
        return {}


def assistant(text):
    if text == "bot fails":
        raise RuntimeError("no answer")
    return "Hello."


def report(*cases):
    return Dataset(name="d", cases=cases, evaluators=[Reads()]).evaluate_sync(assistant, progress=False)


expected = EqualsExpected()
seen = report(
    Case(name="a", inputs="good", expected_output="Hello.", evaluators=(expected,)),
    Case(name="b", inputs="judge fails"),
    Case(name="c", inputs="bot fails", expected_output="Hello.", evaluators=(expected,)),
    Case(name="d", inputs="be silent", expected_output=None, evaluators=(expected,)),
)
print("assertions", seen.averages().assertions)
print("cases", len(seen.cases), "assertions of each", [len(case.assertions) for case in seen.cases])
print("evaluators that failed", sum(len(case.evaluator_failures) for case in seen.cases), "tasks that failed", len(seen.failures))
silent = report(Case(name="d", inputs="be silent", evaluators=(Equals(value=None),)))
print("with Equals(value=None)", silent.averages().assertions)
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
assertions 1.0
cases 3 assertions of each [1, 0, 0]
evaluators that failed 1 tasks that failed 1
with Equals(value=None) 0.0
END
)
[ "$seen" = "$expected" ]
