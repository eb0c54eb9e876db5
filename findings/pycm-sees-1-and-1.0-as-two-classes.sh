#!/usr/bin/env bash
# Packages: pycm 4.6, scikit-learn 1.9.1 (Python 3.11)
# A good guess: a judge's verdicts 1.0 and 0.0, as JSON gives them, agree with a person's 1 and 0: kappa is 1,
# as in scikit-learn, since 1 == 1.0 in Python.
# What happens: where the two lists are of different types both are turned into text, so there are four
# classes, no verdict agrees, and kappa is 0.0; a warning about types is all that tells. With verdicts True
# and False it is the same. Where kappa is not defined pycm gives the text 'None', which is true in an `if`.
# Output seen on 2026-11-29:
#   [1, 0, 1, 1]: pycm 1.0 over 2 classes, scikit-learn 1.0
#   [1.0, 0.0, 1.0, 1.0]: pycm 0.0 over 4 classes, scikit-learn 1.0
#   [True, False, True, True]: pycm 0.0 over 4 classes, scikit-learn 1.0
#   all 1: pycm 'None'

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pycm==4.6 scikit-learn==1.9.1

cat > program.py <<'PY'
import warnings

from pycm import ConfusionMatrix
from sklearn.metrics import cohen_kappa_score

person = [1, 0, 1, 1]
for judge in ([1, 0, 1, 1], [1.0, 0.0, 1.0, 1.0], [True, False, True, True]):
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        matrix = ConfusionMatrix(person, judge)
    print(f"{judge}: pycm {matrix.Kappa} over {len(matrix.classes)} classes, scikit-learn {cohen_kappa_score(person, judge)}")
print(f"all 1: pycm {ConfusionMatrix([1, 1], [1, 1]).Kappa!r}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
[1, 0, 1, 1]: pycm 1.0 over 2 classes, scikit-learn 1.0
[1.0, 0.0, 1.0, 1.0]: pycm 0.0 over 4 classes, scikit-learn 1.0
[True, False, True, True]: pycm 0.0 over 4 classes, scikit-learn 1.0
all 1: pycm 'None'
END
)
[ "$seen" = "$expected" ]
