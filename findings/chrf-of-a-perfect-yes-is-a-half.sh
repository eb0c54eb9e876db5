#!/usr/bin/env bash
# Packages: nltk 3.10.4, sacrebleu 2.6.0 (Python 3.11)
# A good guess: chrF of a reply that equals its reference is perfect, whichever package counts it and however
# short the reply is.
# What happens: nltk divides by six orders of n-grams although a text of three letters has three: 'yes' for
# 'yes' is 0.5, 'no' 0.33, and a perfect corpus of such replies 0.42. sacrebleu counts the orders that there
# are, and gives 100. So means over short answers say how long the answers are; opik's ChrF is built on
# nltk's.
# Output seen on 2026-11-29:
#   'no' for itself: nltk 0.33, sacrebleu 100
#   'yes' for itself: nltk 0.50, sacrebleu 100
#   'at 7' for itself: nltk 0.50, sacrebleu 100
#   'booked' for itself: nltk 1.00, sacrebleu 100
#   both: nltk 0.42, sacrebleu 100

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check nltk==3.10.4 sacrebleu==2.6.0

cat > program.py <<'PY'
from nltk.translate.chrf_score import corpus_chrf, sentence_chrf
from sacrebleu import corpus_chrf as sacre_corpus
from sacrebleu import sentence_chrf as sacre_sentence

for text in ("no", "yes", "at 7", "booked"):
    print(f"{text!r} for itself: nltk {sentence_chrf(text, text):.2f}, sacrebleu {sacre_sentence(text, [text]).score:.0f}")
short = ["yes", "no"]
print(f"both: nltk {corpus_chrf(short, short):.2f}, sacrebleu {sacre_corpus(short, [short]).score:.0f}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
'no' for itself: nltk 0.33, sacrebleu 100
'yes' for itself: nltk 0.50, sacrebleu 100
'at 7' for itself: nltk 0.50, sacrebleu 100
'booked' for itself: nltk 1.00, sacrebleu 100
both: nltk 0.42, sacrebleu 100
END
)
[ "$seen" = "$expected" ]
