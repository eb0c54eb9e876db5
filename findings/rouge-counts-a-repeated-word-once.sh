#!/usr/bin/env bash
# Packages: rouge 1.0.1, rouge-score 0.1.2 (Python 3.11)
# A good guess: rouge and rouge-score give the same ROUGE-1 and ROUGE-L for the same texts in small letters
# without punctuation inside; a reply that says one word four times where the reference says it once gets
# 0.4.
# What happens: rouge takes the words as a set: the repeated word has the full score, and a bot that repeats
# itself looks perfect. Its ROUGE-L reads each sentence alone, so two sentences in the other order have the
# full score too, where rouge-score gives 0.67. Means of the two packages cannot be compared.
# Output seen on 2026-11-29:
#   your table is booked: ROUGE-1 1.00 and 1.00, ROUGE-L 1.00 and 1.00
#   tea tea tea tea: ROUGE-1 1.00 and 0.40, ROUGE-L 1.00 and 0.40
#   i like milk. i like tea.: ROUGE-1 1.00 and 1.00, ROUGE-L 1.00 and 0.67

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check rouge==1.0.1 rouge-score==0.1.2

cat > program.py <<'PY'
from rouge import Rouge
from rouge_score.rouge_scorer import RougeScorer

scorer = RougeScorer(["rouge1", "rougeL"])
for reply, reference in (
    ("your table is booked", "your table is booked"),
    ("tea tea tea tea", "tea"),
    ("i like milk. i like tea.", "i like tea. i like milk."),
):
    one, two = Rouge().get_scores(reply, reference)[0], scorer.score(reference, reply)
    print(
        f"{reply}: ROUGE-1 {one['rouge-1']['f']:.2f} and {two['rouge1'].fmeasure:.2f},"
        f" ROUGE-L {one['rouge-l']['f']:.2f} and {two['rougeL'].fmeasure:.2f}"
    )
PY

seen=$(venv/bin/python -W ignore program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
your table is booked: ROUGE-1 1.00 and 1.00, ROUGE-L 1.00 and 1.00
tea tea tea tea: ROUGE-1 1.00 and 0.40, ROUGE-L 1.00 and 0.40
i like milk. i like tea.: ROUGE-1 1.00 and 1.00, ROUGE-L 1.00 and 0.67
END
)
[ "$seen" = "$expected" ]
