#!/usr/bin/env bash
# Packages: sacrebleu 2.6.0 (Python 3.11)
# A good guess: a corpus of replies that equal their references has BLEU 100, as each of them has alone.
# What happens: if no reply has four words, corpus_bleu is 0: it divides by the number of 4-grams, of which
# there are none. sentence_bleu leaves orders without n-grams out, so the mean over the same replies is 100.
# Output seen on 2026-11-28:
#   corpus  0.0
#   alone   [100.0, 100.0, 100.0]
#   longer  100.0

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check sacrebleu==2.6.0

cat > program.py <<'PY'
import sacrebleu

replies = ["yes please do", "no thanks", "on Friday"]
print("corpus ", round(sacrebleu.corpus_bleu(replies, [replies]).score, 2))
alone = [sacrebleu.sentence_bleu(reply, [reply]).score for reply in replies]
print("alone  ", [round(score, 2) for score in alone])
longer = [reply + " and then go home" for reply in replies]
print("longer ", round(sacrebleu.corpus_bleu(longer, [longer]).score, 2))
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
corpus  0.0
alone   [100.0, 100.0, 100.0]
longer  100.0
END
)
[ "$seen" = "$expected" ]
