"""A headless Chromium for tests of pages, with axe-core; tests skip where one is not installed."""

from __future__ import annotations

import json
import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import pytest

from pytest_personalens.reports.html.page import write_html
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selenium.webdriver import Chrome

    from pytest_personalens import Results

#: Nothing that Chromium does for itself may pass for a request of the page.
ARGUMENTS: Final = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


class Page:
    """A page in the browser, and what a test wants to know of it."""

    def __init__(self, chrome: Chrome) -> None:
        self.chrome = chrome

    def open(self, path: Path, fragment: str = "", *, width: int = 1280, dark: bool = False) -> None:
        """Open a file at a width in CSS pixels; its logs begin here."""
        from selenium.webdriver.support.wait import WebDriverWait

        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.chrome.get("about:blank")
        for log in ("browser", "performance"):
            self._log(log)
        self.chrome.get(path.as_uri() + fragment)
        # A browser that has just been started may say that it is done while the page is still to come.
        WebDriverWait(self.chrome, 600, 0.05).until(
            lambda _: self.js("return document.documentElement.dataset.ready")
        )

    def show(self, results: Results, folder: Path, fragment: str = "") -> None:
        """Open the page of some results, which is written to a folder."""
        write_html(results, folder / "report.html")
        self.open(folder / "report.html", fragment)

    def js(self, script: str, *args: object) -> Any:
        """What `script` returns."""
        return self.chrome.execute_script(script, *args)

    def _log(self, name: str) -> list[dict[str, Any]]:
        # A browser gives out each line once.
        return list(self.chrome.get_log(name))  # type: ignore[no-untyped-call]

    def keys(self, *keys: str) -> None:
        """Press keys wherever the focus is."""
        from selenium.webdriver.common.action_chains import ActionChains

        for key in keys:
            ActionChains(self.chrome).send_keys(key).perform()
            self.settle()

    def click(self, css: str) -> None:
        """Click the first element that fits."""
        self.chrome.find_element("css selector", css).click()
        self.settle()

    def go(self, fragment: str) -> None:
        """Follow a link within the page."""
        self.js("location.hash = arguments[0]", fragment)
        self.settle()

    def unfold(self) -> None:
        """Open all that is folded."""
        self.each("details", "e.open = true")
        self.settle()

    def settle(self) -> None:
        """Wait until what was begun has been told to the page and drawn."""
        self.chrome.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => setTimeout(done))"
        )

    def text(self, css: str) -> str:
        """The text of the first element that fits, as it is seen."""
        return str(self.chrome.find_element("css selector", css).text)

    def each(self, css: str, of: str) -> list[Any]:
        """What a script says of each element `e` that fits, shown or not."""
        return list(self.js(f"return [...document.querySelectorAll(arguments[0])].map((e) => {of})", css))

    def texts(self, css: str) -> list[str]:
        """The texts of all elements that fit, shown or not."""
        return self.each(css, "e.textContent")

    def focus(self) -> str:
        """The text of what has the focus."""
        return str(self.js("return document.activeElement.id || document.activeElement.textContent"))

    def console(self) -> list[str]:
        """What the console was told since the page was opened: errors and warnings."""
        return [str(entry["message"]) for entry in self._log("browser")]

    def requests(self) -> set[str]:
        """Every address that was asked for since the page was opened, without fragments."""
        events = (json.loads(entry["message"])["message"] for entry in self._log("performance"))
        asked = (e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent")
        return {url.partition("#")[0] for url in asked}

    def faults(self, axe: str) -> list[str]:
        """Serious and critical faults by axe-core, and headings out of order, each with its first element."""
        self.chrome.execute_cdp_cmd("Runtime.evaluate", {"expression": axe})
        run = "axe.run(document, {resultTypes: ['violations']}).then(arguments[0])"
        found = self.chrome.execute_async_script(run)["violations"]
        serious = [v for v in found if v["impact"] in ("serious", "critical") or v["id"] == "heading-order"]
        return [
            f"{v['id']}: {v['help']}: {v['nodes'][0]['html']:.200} {v['nodes'][0]['failureSummary']:.300}"
            for v in serious
        ]


def address(nodeid: str) -> str:
    """The fragment of a page that opens the dialogue of an item."""
    return "#item=" + quote(nodeid, safe="/:")


def start(folder: Path) -> Iterator[Page]:
    """A browser with its data in `folder`, ended afterwards; skips the test where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is a development dependency")
    binary, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("there is no Chromium with its chromedriver on this machine")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in (*ARGUMENTS, f"--user-data-dir={folder}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    chrome.set_script_timeout(600)  # a busy machine takes longer than selenium's 30 seconds
    try:
        yield Page(chrome)
    finally:
        chrome.quit()


def axe_source() -> str:
    """The script of axe-core: PERSONALENS_AXE, node's, or axe-core-python's; skips where there is none."""
    places = [Path(os.environ.get("PERSONALENS_AXE", "")), ROOT / "node_modules" / "axe-core" / "axe.min.js"]
    spec = find_spec("axe_core_python")
    folders = (spec.submodule_search_locations or ()) if spec else ()
    places += [Path(folder) / "axe.min.js" for folder in folders]
    for place in places:
        if place.is_file():
            return place.read_text(encoding="utf-8")
    pytest.skip("there is no axe-core on this machine")
