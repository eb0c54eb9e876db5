#!/usr/bin/env bash
# Packages: jiwer 4.0.0, sacrebleu 2.6.0 (Python 3.11)
# A good guess: the word error rate of two texts that differ in line breaks alone is 0, as their TER in
# sacrebleu is: words stand between white space.
# What happens: only the space parts words: a line of two words and its break is one long word, so the same
# text in two lines has a rate above 0, and a list of things to eat, one on a line, is one wrong word. Two
# spaces count as one.
# Output seen on 2026-11-29:
#   'no nuts no milk': jiwer 0.00, TER 0.00
#   'no nuts  no milk': jiwer 0.00, TER 0.00
#   'no nuts\nno milk': jiwer 0.50, TER 0.00
#   'no\nnuts\nno\nmilk': jiwer 1.00, TER 0.00
#   'no\tnuts\tno milk': jiwer 0.75, TER 0.00

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check jiwer==4.0.0 sacrebleu==2.6.0

cat > program.py <<'PY'
import jiwer
from sacrebleu.metrics import TER

reference = "no nuts no milk"
for said in ("no nuts no milk", "no nuts  no milk", "no nuts\nno milk", "no\nnuts\nno\nmilk", "no\tnuts\tno milk"):
    print(f"{said!r}: jiwer {jiwer.wer(reference, said):.2f}, TER {TER().sentence_score(said, [reference]).score / 100:.2f}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
'no nuts no milk': jiwer 0.00, TER 0.00
'no nuts  no milk': jiwer 0.00, TER 0.00
'no nuts\nno milk': jiwer 0.50, TER 0.00
'no\nnuts\nno\nmilk': jiwer 1.00, TER 0.00
'no\tnuts\tno milk': jiwer 0.75, TER 0.00
END
)
[ "$seen" = "$expected" ]
