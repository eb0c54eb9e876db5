"""Takes the pictures of the pages in the documentation: ``python docs/images/take.py``.

It needs the development dependencies, Chromium and its chromedriver.
"""

from __future__ import annotations

import base64
import os
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.support.browser import Page, start  # noqa: E402 (the tests are no installed package)

_WIDTH = 1180
#: What the pages say was tested, as GitHub Actions tells it.
_TESTED = {
    "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "example/helpbot", "GITHUB_HEAD_REF": "new-prompt",
    "GITHUB_REF_NAME": "17/merge", "GITHUB_REF": "refs/pull/17/merge", "GITHUB_EVENT_NAME": "pull_request",
}  # fmt: skip

#: The colours of a picture, decoded by the browser.
_PIXELS = """
const [data, done] = arguments;
(async () => {
  const image = await createImageBitmap(await (await fetch("data:image/png;base64," + data)).blob());
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
  context.drawImage(image, 0, 0);
  const bytes = context.getImageData(0, 0, image.width, image.height).data;
  let text = "";
  for (let n = 0; n < bytes.length; n += 30000) text += String.fromCharCode(...bytes.subarray(n, n + 30000));
  done(btoa(text));
})();
"""


def _run(folder: str, *options: object, **environment: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, options)]
    told = subprocess.run(
        command, cwd=ROOT / folder, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if told.returncode > 1:
        sys.exit(told.stdout + told.stderr)


def _take(page: Page, report: Path, name: str, height: int) -> None:
    page.open(report, width=_WIDTH)
    clip = {"x": 0, "y": 0, "width": _WIDTH, "height": height, "scale": 1}
    shot = page.chrome.execute_cdp_cmd(
        "Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True, "clip": clip}
    )
    page.chrome.get("about:blank")
    pixels = base64.b64decode(page.chrome.execute_async_script(_PIXELS, shot["data"]))
    rows = np.frombuffer(pixels, np.uint8).reshape(height, _WIDTH, 4)[:, :, :3].astype(np.uint32)
    (ROOT / "docs/images" / name).write_bytes(
        _small(rows[:, :, 0] << 16 | rows[:, :, 1] << 8 | rows[:, :, 2])
    )


def _small(colours: np.ndarray) -> bytes:
    """Return a PNG with 256 colours of an image, which is a third of Chromium's.

    They are the 192 most frequent ones, and then always the one that is farthest from all before it.
    """
    found, places, counts = np.unique(colours, return_inverse=True, return_counts=True)
    every = np.stack([found >> 16, found >> 8 & 255, found & 255], axis=-1).astype(int)
    kept = [every[place] for place in np.argsort(-counts, kind="stable")[:192]]
    apart = np.min([np.abs(every - colour).sum(axis=1) for colour in kept], axis=0)
    while len(kept) < 256:
        kept.append(every[apart.argmax()])
        apart = np.minimum(apart, np.abs(every - kept[-1]).sum(axis=1))
    nearest = np.argmin([np.abs(every - colour).sum(axis=1) for colour in kept], axis=0).astype(np.uint8)
    image = nearest[places].reshape(colours.shape)
    height, width = image.shape
    lines = b"".join(b"\0" + row.tobytes() for row in image)

    def chunk(name: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        )

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
    palette = chunk(b"PLTE", np.array(kept, np.uint8).tobytes())
    return (
        b"\x89PNG\r\n\x1a\n"
        + header
        + palette
        + chunk(b"IDAT", zlib.compress(lines, 9))
        + chunk(b"IEND", b"")
    )


def main() -> None:
    """Run both examples, and take a picture of the top of each page."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        baseline, bot, foresight = (made / name for name in ("b.json", "bot.html", "foresight.html"))
        sample = "--personalens-sample=30"
        _run("example_project", sample, f"--personalens-save-baseline={baseline}")
        compared = f"--personalens-baseline={baseline}"
        _run(
            "example_project",
            sample,
            compared,
            f"--personalens-report={bot}",
            **_TESTED,
            HELPBOT="forgets",
        )
        _run(
            "example_project/foresight",
            "--personalens-sample=all",
            f"--personalens-report={foresight}",
            **_TESTED | {"GITHUB_REPOSITORY": "example/foresight"},
        )
        for page in start(made / "browser"):
            _take(page, bot, "report.png", 1290)
            _take(page, foresight, "predictions.png", 1560)


if __name__ == "__main__":
    main()
