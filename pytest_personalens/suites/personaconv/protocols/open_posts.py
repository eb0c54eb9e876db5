"""Opens posts as a dataset, by file, folder or name."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.datasets.base import read_toml
from pytest_personalens.suites.personaconv.data.index import open_index
from pytest_personalens.suites.personaconv.data.item_plan import PlannedDataset
from pytest_personalens.suites.personaconv.predictions import KINDS, Prediction
from pytest_personalens.suites.personaconv.protocols.fixed_protocol import FixedProtocol
from pytest_personalens.suites.personaconv.protocols.official_protocol import OfficialProtocol
from pytest_personalens.suites.personaconv.protocols.prompt_files import PromptsDataset

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.suites.personaconv.predictions import History, Kind, ProtocolName, Setting

#: The number of items that stay in memory, of some 15 kB each.
_KEPT: Final = 1_000


class PostsDataset(PlannedDataset):
    """Predictions from posts in raw or processed files.

    `settings` holds all settings of a run: its context first, then its controls. Without a `version`, a
    digest of the files is used. Raise `DataError` for a file without posts, or if no post gives an item.
    Raise `SpecError` for settings that the data or the protocol does not have.
    """

    def __init__(
        self,
        files: Sequence[Path],
        *,
        name: str,
        version: str = "",
        protocol: ProtocolName = "fixed",
        kinds: Sequence[Kind] = KINDS,
        settings: Sequence[Setting] = ("P-Conv",),
        history: History = "request",
        seed: str = "personalens",
    ) -> None:
        index = open_index(files)
        self.rules: FixedProtocol | OfficialProtocol = (
            FixedProtocol(index, kinds=kinds, settings=settings, history=history, seed=seed)
            if protocol == "fixed"
            else OfficialProtocol(index, kinds=kinds, settings=settings, seed=seed)
        )
        plan = self.rules.plan
        super().__init__(name, plan)
        self._index, self.version, self.protocol = index, version or index.digest[:12], protocol
        # A test and each control ask for the same item again, and to read its posts takes longer than a copy.
        self._read_once = lru_cache(maxsize=_KEPT)(self._read)
        if not any(plan.items.values()):
            raise DataError(name, f"none of its {len(index.posts)} posts makes an item: {plan.excluded_text}")

    def load(self, ref: ScenarioRef) -> Prediction:
        """Return a copy of the whole item. Raise `DataError` for a file that has changed meanwhile."""
        return self._read_once(ref).model_copy(deep=True)

    def _read(self, ref: ScenarioRef) -> Prediction:
        try:
            place = self.rules.plan.place(ref)
        except KeyError:
            raise DataError(self.name, f"no item {ref.id!r} in it", code="PL106") from None
        post = self._index.read(self._index.posts[place])
        requests, interactions = self.rules.requests(ref, post)
        truth = self.rules.truth(ref, post)
        return self._prediction(ref, truth=truth, requests=requests, interactions=interactions)


_HEAD: Final = 1 << 16
#: The beginning of the first row of a prompt file: one of its keys, and no list after it.
_PROMPTS: Final = re.compile(
    r'\s*\{\s*"(?:post_data_store|prediction_task|user|prompt|true_label|subreddit)"\s*:\s*[^\[\s]'
)
#: A field that posts have, and profiles and tasks of other data have not.
_POSTS: Final = re.compile(rb'"comments"\s*:')
#: The first bytes of files with other content.
_OTHER: Final = {
    b"PK\x03\x04": "is a ZIP archive, whatever its name says; unpack it, and give the file in it",
    b"\x1f\x8b": "is compressed (gzip); unpack it",
    b"version https://git-lfs": "is a pointer of Git LFS and holds no data; fetch it with `git lfs pull`",
    b"\xff\xfe": "is not UTF-8; save it as UTF-8",
    b"\xfe\xff": "is not UTF-8; save it as UTF-8",
}
_EXPECTED: Final = (
    "give the file of posts (an object of author -> posts, or a list of posts), a prompt file, or a folder of"
    " them"
)


def open_posts(
    path: Path,
    *,
    protocol: ProtocolName = "fixed",
    kinds: Sequence[Kind] = KINDS,
    settings: Sequence[Setting] = ("P-Conv",),
    history: History = "request",
    seed: str = "personalens",
) -> PostsDataset | PromptsDataset:
    """Return the predictions of a file or folder, by its content and not its name.

    `settings` holds all settings of a run, its context first. A folder with a ``dataset.toml`` has its name
    and version from there. Raise `DataError` if there are neither posts nor prompts. Raise `SpecError` for
    prompt files with another protocol than the official one.
    """
    files = _data_files(path)
    by_content: dict[bool, list[Path]] = {True: [], False: []}
    for file in files:
        by_content[_holds_prompts(file)].append(file)
    prompts, posts = by_content[True], by_content[False]
    if prompts and posts:
        raise DataError(
            path,
            f"holds prompts ({prompts[0].name}) and posts ({posts[0].name}); give one of them",
            code="PL203",
        )
    if not prompts:
        name, version = read_name(path)
        return PostsDataset(
            files,
            name=name,
            version=version,
            protocol=protocol,
            kinds=kinds,
            settings=settings,
            history=history,
            seed=seed,
        )
    if protocol != "official":
        raise SpecError(
            f"{path}: prompt files hold requests of the official protocol; add"
            " -o personalens_protocol=official",
            code="PL108",
        )
    return PromptsDataset(prompts, name=path.name, kinds=kinds, settings=settings)


def find_post_files(path: Path) -> list[Path]:
    """Return the files of posts at a path, by their content; none if there are no posts, as in a TOML file.

    Raise `DataError` for a file that is empty or has another known format, and for prompts.
    """
    try:
        folder = path.is_dir()
        first = next(iter(sorted(path.glob("*.json"))), None) if folder else path
        if first is None or not first.is_file() or first.suffix == ".toml":
            return []
        if folder and not _POSTS.search(_read_head(first)):
            return []
    except (OSError, RuntimeError, ValueError):  # no name of a file, or a loop of links
        return []
    files = _data_files(path)
    for file in files:
        if _holds_prompts(file):
            raise DataError(
                file, "holds prompts, and only posts can be checked; give the posts", code="PL203"
            )
    return files


def read_name(path: Path) -> tuple[str, str]:
    """Return the name and the version of the posts at a path; without a ``dataset.toml``, no version."""
    head = path / "dataset.toml"
    if not head.is_file():
        return path.name, ""
    data = read_toml(head)
    for field in ("name", "version"):
        if not isinstance(data.get(field), str) or not data[field]:
            raise DataError(head, f'expected a text, such as {field} = "1.0"', field=field)
    return data["name"], data["version"]


def _data_files(path: Path) -> list[Path]:
    """Return the file itself, or the data files of a folder."""
    try:
        if not path.is_dir():
            return [path]
        if (path / "profile").is_dir() or (path / "profiles").is_dir():
            raise DataError(
                path, f"is data of PersonaLens, which is the suite personalens; {_EXPECTED}", code="PL203"
            )
        found = sorted(path.rglob("*.json*"))
        files = [file for file in found if file.suffix in (".json", ".jsonl") and file.is_file()]
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}; {_EXPECTED}", code="PL201") from None
    if not files:
        raise DataError(path, f"is a folder without a .json or .jsonl file in it; {_EXPECTED}", code="PL203")
    return files


def _read_head(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(_HEAD)
    except OSError as error:
        raise DataError(file, f"cannot be read: {error.strerror}", code="PL201") from None


def _holds_prompts(file: Path) -> bool:
    """True for rows of prompts. Raise `DataError` for a file that is empty or of another known format."""
    head = _read_head(file)
    for beginning, problem in _OTHER.items():
        if head.startswith(beginning):
            raise DataError(file, problem)
    if not head.strip():
        raise DataError(file, "is empty; get it again", code="PL201")
    return _PROMPTS.match(head.decode("utf-8-sig", "replace")) is not None
