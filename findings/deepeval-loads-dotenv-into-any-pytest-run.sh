#!/usr/bin/env bash
# Packages: deepeval 4.3.1, pytest 9.2.0 (Python 3.11)
# A good guess: a package that is only installed and that no test imports leaves the environment of a plain
# pytest run as it is.
# What happens: deepeval is a pytest plugin, and its import reads the file .env of the current folder into
# os.environ. So tests of other packages see keys and endpoints of .env as soon as deepeval is installed; with
# DEEPEVAL_DISABLE_DOTENV=1 they do not.
# Output seen on 2026-11-28:
#   installed: http://localhost:1
#   told not to: not set
#   plugin off: not set

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check deepeval==4.3.1 pytest==9.2.0

cat > test_environment.py <<'PY'
import os


def test_environment():
    with open("seen.txt", "w") as file:
        file.write(os.environ.get("CHAT_ENDPOINT", "not set"))
PY
echo "CHAT_ENDPOINT=http://localhost:1" > .env
export DEEPEVAL_TELEMETRY_OPT_OUT=YES
run() {
    venv/bin/python -m pytest -q test_environment.py > log.txt 2>&1 && echo "installed: $(cat seen.txt)"
    DEEPEVAL_DISABLE_DOTENV=1 venv/bin/python -m pytest -q test_environment.py > log.txt 2>&1 && echo "told not to: $(cat seen.txt)"
    venv/bin/python -m pytest -q -p no:deepeval -p no:plugins test_environment.py > log.txt 2>&1 && echo "plugin off: $(cat seen.txt)"
}

seen=$(run)
printf '%s\n' "$seen"
expected=$(cat <<'END'
installed: http://localhost:1
told not to: not set
plugin off: not set
END
)
[ "$seen" = "$expected" ]
