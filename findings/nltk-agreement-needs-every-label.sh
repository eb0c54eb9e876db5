#!/usr/bin/env bash
# Packages: nltk 3.10.4 (Python 3.11)
# A good guess: AnnotationTask gives kappa and pi over the items that both annotators labelled, or names the
# one that is missing.
# What happens: with one label less, kappa, multi_kappa, pi and avg_Ao all end in 'generator raised
# StopIteration', which names nothing; alpha alone is made for missing labels, and leaves a pair out silently.
# Labels of a real team are never whole.
# Output seen on 2026-11-29:
#   all labels, kappa: 0.400
#   all labels, multi_kappa: 0.385
#   all labels, pi: 0.333
#   all labels, avg_Ao: 0.667
#   all labels, alpha: 0.389
#   one label less, kappa: RuntimeError: generator raised StopIteration
#   one label less, multi_kappa: RuntimeError: generator raised StopIteration
#   one label less, pi: RuntimeError: generator raised StopIteration
#   one label less, avg_Ao: RuntimeError: generator raised StopIteration
#   one label less, alpha: 0.333

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check nltk==3.10.4

cat > program.py <<'PY'
from nltk.metrics.agreement import AnnotationTask

items = ["yyy", "nnn", "yyn", "ynn"]
labels = [(who, str(n), label) for n, row in enumerate(items) for who, label in zip("abc", row, strict=True)]
for name, data in (("all labels", labels), ("one label less", labels[:-1])):
    task = AnnotationTask(data=data)
    for measure in ("kappa", "multi_kappa", "pi", "avg_Ao", "alpha"):
        try:
            print(f"{name}, {measure}: {getattr(task, measure)():.3f}")
        except RuntimeError as error:
            print(f"{name}, {measure}: RuntimeError: {error}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
all labels, kappa: 0.400
all labels, multi_kappa: 0.385
all labels, pi: 0.333
all labels, avg_Ao: 0.667
all labels, alpha: 0.389
one label less, kappa: RuntimeError: generator raised StopIteration
one label less, multi_kappa: RuntimeError: generator raised StopIteration
one label less, pi: RuntimeError: generator raised StopIteration
one label less, avg_Ao: RuntimeError: generator raised StopIteration
one label less, alpha: 0.333
END
)
[ "$seen" = "$expected" ]
