"""Files that the official prompt makers wrote, as a dataset: requests are theirs, byte for byte."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.scenario import ScenarioRef
from pytest_personalens.suites.personaconv.plan import LeftOut, by_reason, counted
from pytest_personalens.suites.personaconv.values import (
    UNKNOWN_DOMAIN,
    Prediction,
    Request,
    digest_of,
    kind_of,
    stratum_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_personalens.suites.personaconv.values import Kind, ProtocolName, Setting

#: Put before the ids of one of the prompt makers.
_PREFIX: Final = "task_"
#: What the name of a file says of its setting, as the official prompt makers name theirs; the first counts.
_NAMED: Final[tuple[tuple[str, Setting], ...]] = (("rand", "NP-Conv"), ("without", "P-NonConv"))


class _Row(NamedTuple):
    """One row: where its line is, and all of it but the request."""

    start: int
    size: int
    number: int
    user: str
    target: str
    label: str | float
    domain: str
    kind: Kind


class _File(NamedTuple):
    path: Path
    kind: Kind
    setting: Setting
    rows: list[_Row]
    left_out: list[LeftOut]
    digest: str


class PromptsDataset:
    """The rows of prompt files, one item each; the protocol is official.

    Each file is of one kind and one setting; its name tells the setting ("Without", "Rand", else P-Conv),
    unless it is the only file. Rows of scores are paired by their targets, rows of next text by line and
    label. Raises `DataError` for a file that is none, and `SpecError` for a setting that no file has.
    """

    protocol: ProtocolName = "official"

    def __init__(
        self, files: Sequence[Path], *, name: str, kinds: Sequence[Kind], settings: Sequence[Setting]
    ) -> None:
        read = [_read(path) for path in files]
        if len(read) == 1:
            read = [read[0]._replace(setting=settings[0])]
        self.name = name
        self.version = hashlib.sha256("".join(file.digest for file in read).encode()).hexdigest()[:12]
        self._settings = settings
        self._rows: dict[ScenarioRef, dict[Setting, tuple[Path, _Row]]] = {}
        self._left_out: dict[Kind, list[LeftOut]] = {}
        for kind in kinds:
            self._add(kind, {file.setting: file for file in read if file.kind == kind})
        if not self._rows:
            raise DataError(name, f"no row makes an item: {counted(self.excluded)}")

    def posts(self, kind: Kind) -> int:
        """How many rows the file of the kind holds: its items and what is left out of it."""
        return len(self.items(kind)) + len(self.left_out(kind))

    @property
    def excluded(self) -> dict[Kind, dict[str, int]]:
        """Kind -> reason -> how many rows make no item."""
        return by_reason(self._left_out)

    def left_out(self, kind: Kind) -> Sequence[LeftOut]:
        """Every row that makes no item of the kind; the number is that of its line."""
        return self._left_out.get(kind, [])

    def items(self, kind: Kind) -> Sequence[ScenarioRef]:
        """All items of a kind, in the order of their file."""
        return [ref for ref in self._rows if ref.kind == kind]

    def domains(self) -> Sequence[str]:
        """Every domain there is, as it is first spelled, in alphabetical order."""
        names: dict[str, str] = {}
        for ref in self._rows:
            names.setdefault(ref.domains[0].casefold(), ref.domains[0])
        return sorted(names.values(), key=str.casefold)

    def users(self) -> Sequence[str]:
        """The users of whom there is an item, in the order of the files."""
        return list(dict.fromkeys(ref.user for ref in self._rows))

    def refs(self, user: str) -> Sequence[ScenarioRef]:
        """The items of one user. Raises `DataError` for an unknown user."""
        if found := [ref for ref in self._rows if ref.user == user]:
            return found
        raise DataError(self.name, f"no user {user!r} in it")

    def load(self, ref: ScenarioRef) -> Prediction:
        """The whole item. Raises `DataError` for a file that has changed meanwhile."""
        rows = self._rows.get(ref)
        if rows is None:
            raise DataError(self.name, f"no item {ref.id!r} in it")
        texts = {setting: _request(path, row) for setting, (path, row) in rows.items()}
        leaks = ("sign",) if ref.kind == "impact" else ()
        return Prediction(
            id=ref.id,
            user=ref.user,
            task=ref.task,
            dataset=f"{self.name} {self.version}",
            kind=kind_of(ref),
            domains=ref.domains,
            protocol=self.protocol,
            truth=rows[self._settings[0]][1].label,
            requests={s: Request(parts=(("request", text),), leaks=leaks) for s, text in texts.items()},
        )

    def _add(self, kind: Kind, files: dict[Setting, _File]) -> None:
        if not files:
            return
        for setting in self._settings:
            if setting not in files:
                raise SpecError(
                    f"{self.name}: no prompt file of {kind} in {setting}; make it, leave {setting} out, or"
                    f" leave {kind} out of the kinds"
                )
        if kind == "next-text" and "NP-Conv" in self._settings and len(self._settings) > 1:
            raise SpecError(
                f"{self.name}: the official NP-Conv of next text is of other posts and no control of these;"
                " leave next-text out of the kinds"
            )
        main = files[self._settings[0]]
        left_out = self._left_out.setdefault(kind, list(main.left_out))
        others = {setting: _by_key(files[setting].rows, kind) for setting in self._settings[1:]}
        for key, row in _keyed(main.rows, kind):
            ref = ScenarioRef(
                row.user, f"{kind}-{digest_of(*key)}", kind, (row.domain,), stratum_of(kind, str(row.label))
            )
            paired = {setting: rows[key] for setting, rows in others.items() if key in rows}
            alike = all(other.label == row.label for other in paired.values())
            if len(paired) < len(others) or not alike:
                left_out.append(LeftOut(row.user, row.number, "not-paired"))
                continue
            self._rows[ref] = {self._settings[0]: (main.path, row)}
            self._rows[ref] |= {setting: (files[setting].path, other) for setting, other in paired.items()}


def _read(path: Path) -> _File:
    rows: list[_Row] = []
    left_out: list[LeftOut] = []
    seen: set[str] = set()
    digest, start = hashlib.sha256(), 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                digest.update(line)
                row = _row(line, start, number) if line.strip() else None
                start += len(line)
                if isinstance(row, _Row) and row.target and row.target in seen:
                    row = "duplicate"
                if isinstance(row, _Row):
                    rows.append(row)
                    seen.add(row.target)
                elif row is not None:
                    left_out.append(LeftOut("", number, row))
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}") from None
    kinds = sorted({row.kind for row in rows})
    if len(kinds) != 1:
        several = f"rows of {' and '.join(kinds)}; put each kind into a file of its own"
        raise DataError(path, several if kinds else "no row that the official prompt makers would write")
    name = path.name.lower()
    setting: Setting = next((setting for word, setting in _NAMED if word in name), "P-Conv")
    return _File(path, rows[0].kind, setting, rows, left_out, digest.hexdigest())


def _row(line: bytes, start: int, number: int) -> _Row | str:
    """The row in a line, or the reason why it is none."""
    data = _object(line)
    task = data.get("prediction_task") if data else None
    place = (start, len(line), number)
    if isinstance(task, dict):
        target = str(task.get("target_reply_id") or "").removeprefix(_PREFIX)
        label = task.get("true_label")
        kind = _kind(label)
        if not target or not isinstance(task.get("prompt_text"), str) or kind is None:
            return "bad-row"
        return _Row(*place, _author(data, task), target, _label(label), _domain(task), kind)
    if not isinstance(data.get("prompt"), str) or not isinstance(data.get("true_label"), str):
        return "bad-row"
    return _Row(
        *place, str(data.get("user") or "unknown"), "", data["true_label"], _domain(data), "next-text"
    )


def _object(line: bytes) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _kind(label: object) -> Kind | None:
    if isinstance(label, str):
        return "sentiment" if label in ("positive", "negative") else None
    return "impact" if isinstance(label, int | float) else None


def _label(label: Any) -> str | float:
    return label if isinstance(label, str) else float(label)


def _author(data: dict[str, Any], task: dict[str, Any]) -> str:
    store, post = data.get("post_data_store"), str(task.get("target_post_reference_id") or "")
    tree = store.get(post) if isinstance(store, dict) else None
    author = tree.get("author") if isinstance(tree, dict) else None
    return author if isinstance(author, str) and author else post.partition("p")[0] or "unknown"


def _domain(data: dict[str, Any]) -> str:
    domain = data.get("subreddit")
    return domain if isinstance(domain, str) and domain else UNKNOWN_DOMAIN


def _keyed(rows: Sequence[_Row], kind: Kind) -> Iterator[tuple[tuple[object, ...], _Row]]:
    """Each row with what it is paired by: its target, or its place among the rows, user and label."""
    for place, row in enumerate(rows):
        yield ((place, row.user, row.label) if kind == "next-text" else (row.target,)), row


def _by_key(rows: Sequence[_Row], kind: Kind) -> dict[tuple[object, ...], _Row]:
    return dict(_keyed(rows, kind))


def _request(path: Path, row: _Row) -> str:
    try:
        with path.open("rb") as file:
            file.seek(row.start)
            data = _object(file.read(row.size))
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}") from None
    task = data.get("prediction_task")
    text = task.get("prompt_text") if isinstance(task, dict) else data.get("prompt")
    if not isinstance(text, str):
        raise DataError(path, "has changed since this run began; run again")
    return text
