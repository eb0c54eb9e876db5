#!/usr/bin/env bash
# Packages: pydantic-evals 2.62.0 (Python 3.11)
# A good guess: EqualsExpected fails a case whose expected_output is None where the task returns something.
# What happens: None means that nothing is expected of the case, so it is not checked at all, and has no
# assertion. A case of 'the bot must not know this' never fails; Equals(None) or an expected empty text is
# checked.
# Output seen on 2026-11-29:
#   expected None: assertions {}, share None
#   expected empty: assertions {'EqualsExpected': False}, share 0.0
#   Equals(None): assertions {'Equals': False}, share 0.0

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pydantic-evals==2.62.0

cat > program.py <<'PY'
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Equals, EqualsExpected

CASES = (
    ("expected None", Case(name="a", inputs="Where do I live?", expected_output=None), EqualsExpected()),
    ("expected empty", Case(name="a", inputs="Where do I live?", expected_output=""), EqualsExpected()),
    ("Equals(None)", Case(name="a", inputs="Where do I live?"), Equals(None)),
)


async def recall(question):
    return "You live in Leeds."


for name, case, evaluator in CASES:
    dataset = Dataset(name="recall", cases=[case], evaluators=[evaluator])
    report = dataset.evaluate_sync(recall, progress=False)
    read = {key: result.value for key, result in report.cases[0].assertions.items()}
    print(f"{name}: assertions {read}, share {report.averages().assertions}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
expected None: assertions {}, share None
expected empty: assertions {'EqualsExpected': False}, share 0.0
Equals(None): assertions {'Equals': False}, share 0.0
END
)
[ "$seen" = "$expected" ]
