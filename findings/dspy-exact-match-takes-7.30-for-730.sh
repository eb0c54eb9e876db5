#!/usr/bin/env bash
# Packages: dspy 3.4.1 (Python 3.11)
# A good guess: dspy's answer_exact_match leaves out capitals, articles and the punctuation of a sentence, and
# numbers are equal only if they are.
# What happens: all punctuation goes, also within numbers: 7.30 is 730, -5 is 5, 1/2 is 12, $1.50 is 150, and
# 10-15 is 1015. The F1 of these pairs is 1.0. Answers with amounts and times pass that are wrong by a
# hundred; 'a' equals 'the', since nothing is left of either; its F1 is 0.
# Output seen on 2026-11-29:
#   7.30 for 730: True
#   -5 for 5: True
#   1/2 for 12: True
#   $1.50 for 150: True
#   10-15 for 1015: True
#   a for the: True
#   7 for 8: False

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check dspy==3.4.1

cat > program.py <<'PY'
import logging

logging.disable(logging.CRITICAL)
import dspy
from dspy.evaluate import answer_exact_match

for said, wanted in (("7.30", "730"), ("-5", "5"), ("1/2", "12"), ("$1.50", "150"), ("10-15", "1015"), ("a", "the"), ("7", "8")):
    print(f"{said} for {wanted}: {answer_exact_match(dspy.Example(answer=wanted), dspy.Prediction(answer=said))}")
PY

seen=$(DSPY_CACHEDIR=$folder/cache venv/bin/python program.py 2>/dev/null)
printf '%s\n' "$seen"
expected=$(cat <<'END'
7.30 for 730: True
-5 for 5: True
1/2 for 12: True
$1.50 for 150: True
10-15 for 1015: True
a for the: True
7 for 8: False
END
)
[ "$seen" = "$expected" ]
