#!/usr/bin/env bash
# Packages: inspect-ai 0.3.285 (Python 3.11)
# A good guess: the scorer match() compares the end of an answer with the target by words: "14" and "eyes" do
# not match the targets "4" and "yes".
# What happens: it compares letters, so both are correct. And since only the end counts, "4 of them" is
# incorrect for the target "4". numeric=True mends the numbers, not the words.
# Output seen on 2026-11-28:
#   'It is 4.' for '4': C, numeric C
#   'It is 14.' for '4': C, numeric I
#   '4 of them' for '4': I, numeric C
#   'They have blue eyes' for 'yes': C, numeric C

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check inspect-ai==0.3.285

cat > program.py <<'PY'
import asyncio

from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Target, match
from inspect_ai.solver import TaskState


def score(answer, target, **options):
    output = ModelOutput.from_content("m", answer)
    state = TaskState(model="mockllm/model", sample_id=1, epoch=1, input="?", messages=[], output=output)
    return asyncio.run(match(**options)(state, Target(target))).value


for answer, target in (("It is 4.", "4"), ("It is 14.", "4"), ("4 of them", "4"), ("They have blue eyes", "yes")):
    print(f"{answer!r} for {target!r}: {score(answer, target)}, numeric {score(answer, target, numeric=True)}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
'It is 4.' for '4': C, numeric C
'It is 14.' for '4': C, numeric I
'4 of them' for '4': I, numeric C
'They have blue eyes' for 'yes': C, numeric C
END
)
[ "$seen" = "$expected" ]
