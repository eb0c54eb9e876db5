#!/usr/bin/env bash
# Packages: pytest 9.2.0, pytest-asyncio 1.5.0, anyio 4.16.0, trio 0.35.0 (Python 3.11)
# A good guess: a test marked for anyio runs once on asyncio and once on trio, whatever pytest-asyncio does
# with the other tests.
# What happens: with asyncio_mode = auto, pytest-asyncio takes both: the case named [trio] passes, but it ran
# on asyncio. In the mode strict it runs on trio.
# Output seen on 2026-11-28:
#   strict: 2 passed
#   [asyncio] ran on asyncio
#   [trio] ran on trio
#   auto: 2 passed
#   [asyncio] ran on asyncio
#   [trio] ran on asyncio

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pytest==9.2.0 pytest-asyncio==1.5.0 anyio==4.16.0 trio==0.35.0

cat > test_backend.py <<'PY'
import pytest
import sniffio


@pytest.mark.anyio
async def test_backend(anyio_backend_name):
    with open("seen.txt", "a") as file:
        file.write(f"[{anyio_backend_name}] ran on {sniffio.current_async_library()}\n")
PY
run() {
    for mode in strict auto; do
        rm -f seen.txt
        venv/bin/python -m pytest -q -o "asyncio_mode=$mode" test_backend.py > log.txt 2>&1
        echo "$mode: $(grep -o '2 passed' log.txt)"
        cat seen.txt
    done
}

seen=$(run)
printf '%s\n' "$seen"
expected=$(cat <<'END'
strict: 2 passed
[asyncio] ran on asyncio
[trio] ran on trio
auto: 2 passed
[asyncio] ran on asyncio
[trio] ran on asyncio
END
)
[ "$seen" = "$expected" ]
