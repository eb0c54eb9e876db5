#!/usr/bin/env bash
# Packages: arize-phoenix-evals 3.9.4 (Python 3.11)
# A good guess: PrecisionRecallFScore gives the same figures for the same verdicts, whether they are written
# yes and no or 1 and 0.
# What happens: of numbers 0 and 1 it takes 1 as the positive class, of words it averages over all classes,
# also where there are two; nothing in the score says which. Who turns labels from words to numbers sees the
# judge become better or worse, with no verdict changed. positive_label= makes both alike.
# Output seen on 2026-11-29:
#   as 1 and 0: precision 0.667, recall 1.000, f1 0.800
#   as yes and no: precision 0.833, recall 0.750, f1 0.733
#   as yes and no, positive_label: precision 0.667, recall 1.000, f1 0.800

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check arize-phoenix-evals==3.9.4

cat > program.py <<'PY'
from phoenix.evals.metrics import PrecisionRecallFScore

judge, person = [1, 1, 1, 0], [1, 1, 0, 0]
words = {1: "yes", 0: "no"}


def figures(metric, output, expected):
    scores = metric.evaluate({"output": output, "expected": expected})
    return ", ".join(f"{score.name} {score.score:.3f}" for score in scores)


in_words = [words[label] for label in judge], [words[label] for label in person]
print("as 1 and 0:", figures(PrecisionRecallFScore(), judge, person))
print("as yes and no:", figures(PrecisionRecallFScore(), *in_words))
print("as yes and no, positive_label:", figures(PrecisionRecallFScore(positive_label="yes"), *in_words))
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
as 1 and 0: precision 0.667, recall 1.000, f1 0.800
as yes and no: precision 0.833, recall 0.750, f1 0.733
as yes and no, positive_label: precision 0.667, recall 1.000, f1 0.800
END
)
[ "$seen" = "$expected" ]
