#!/usr/bin/env bash
# Packages: scikit-learn 1.9.1 (Python 3.11)
# A good guess: quadratic weights are squared distances of the scores: 2 and 4 lie twice as far apart as 1 and
# 2, whether or not somebody gave a 3.
# What happens: the distance is counted in positions among the scores that occur. If no rater gave a 3, then 2
# and 4 are neighbours, and the kappa is the one of other data; a scale of 1, 2, 40 gives the same. Only
# labels=[1, 2, 3, 4] restores the scale.
# Output seen on 2026-11-28:
#   scores as given 0.5714
#   4 written as 40 0.5714
#   labels 1 to 4   0.4706

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check scikit-learn==1.9.1

cat > program.py <<'PY'
from sklearn.metrics import cohen_kappa_score

person = [1, 2, 4, 4, 2, 1]
judge = [1, 2, 2, 4, 4, 2]
print("scores as given", round(cohen_kappa_score(person, judge, weights="quadratic"), 4))
print("4 written as 40", round(cohen_kappa_score(*([40 if s == 4 else s for s in x] for x in (person, judge)), weights="quadratic"), 4))
print("labels 1 to 4  ", round(cohen_kappa_score(person, judge, weights="quadratic", labels=[1, 2, 3, 4]), 4))
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
scores as given 0.5714
4 written as 40 0.5714
labels 1 to 4   0.4706
END
)
[ "$seen" = "$expected" ]
