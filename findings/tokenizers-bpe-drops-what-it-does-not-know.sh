#!/usr/bin/env bash
# Packages: tokenizers 0.23.3 (Python 3.11)
# A good guess: a tokenizer without a token for the unknown fails at a letter that it does not know, whichever
# model it has.
# What happens: WordLevel, WordPiece and Unigram raise an error; BPE leaves the letters out and says nothing,
# so other text has the same ids, and a text of unknown letters has none. A count of tokens is too low by as
# much.
# Output seen on 2026-11-28:
#   BPE abzab: ['ab', 'ab']
#   BPE zzz: []
#   WordLevel abzab: an error about an unknown token: True
#   WordLevel zzz: an error about an unknown token: True
#   WordPiece abzab: an error about an unknown token: True
#   WordPiece zzz: an error about an unknown token: True
#   Unigram abzab: an error about an unknown token: True
#   Unigram zzz: an error about an unknown token: True

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check tokenizers==0.23.3

cat > program.py <<'PY'
from tokenizers import Tokenizer, models

kinds = {
    "BPE": models.BPE(vocab={"a": 0, "b": 1, "ab": 2}, merges=[("a", "b")]),
    "WordLevel": models.WordLevel(vocab={"ab": 0}),
    "WordPiece": models.WordPiece(vocab={"ab": 0}),
    "Unigram": models.Unigram([("ab", -1.0)]),
}
for name, model in kinds.items():
    for text in ("abzab", "zzz"):
        try:
            print(f"{name} {text}: {Tokenizer(model).encode(text).tokens}")
        except Exception as error:
            print(f"{name} {text}: an error about an unknown token: {'nk' in str(error) or 'UNK' in str(error)}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
BPE abzab: ['ab', 'ab']
BPE zzz: []
WordLevel abzab: an error about an unknown token: True
WordLevel zzz: an error about an unknown token: True
WordPiece abzab: an error about an unknown token: True
WordPiece zzz: an error about an unknown token: True
Unigram abzab: an error about an unknown token: True
Unigram zzz: an error about an unknown token: True
END
)
[ "$seen" = "$expected" ]
