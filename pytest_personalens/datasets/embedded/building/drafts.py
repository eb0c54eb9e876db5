"""What somebody fills in: the layout of a dataset of their own, and drafts of tasks from stored chats.

Of the chats no sentence and no personal data are kept.
"""

from __future__ import annotations

import json
import re
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.dialogue.exports import Exports, read_values
from pytest_personalens.core.dialogue.vendor_messages import plain_messages, read_messages
from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.links import write_atomically
from pytest_personalens.core.safe_text import slug
from pytest_personalens.datasets.embedded.building.builder import make_folder, prompt_text
from pytest_personalens.datasets.embedded.dataset_files import TODO, EmbeddedFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_personalens.datasets.embedded.building.builder import Answer, Pieces
    from pytest_personalens.datasets.embedded.dataset_entries import Domain

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_TEMPLATES: Final = files(__package__).joinpath("templates")


def lay_out_by_hand(folder: Path, domains: Sequence[str], people: Sequence[str]) -> list[Path]:
    """Write the files of the next step that are missing, and return them; no file is ever replaced.

    The first step is the dataset and its domains. When these have no problem, the next is the people.
    """
    head = f'name = "{slug(folder.resolve().name)}"\nversion = "1"\n'
    written = [
        *_write(folder / "dataset.toml", head),
        *(
            p
            for name in domains
            for p in _write(folder / "domains" / f"{slug(name)}.toml", _template("domain", name))
        ),
    ]
    data = EmbeddedFiles(folder)
    others = (error for error in data.problems() if not error.file.startswith(str(folder / "profiles")))
    if written or any(unfinished(folder)) or any(others):
        return written
    kinds = "\n".join(line for name in data.domains() for line in _preference_lines(data.domain(name)))
    text = {slug(name.split()[0]): f"{_template('person', name)}{kinds}\n" for name in people}
    return [
        p for user, profile in text.items() for p in _write(folder / "profiles" / f"{user}.toml", profile)
    ]


def unfinished(folder: Path) -> Iterator[DataError]:
    """Yield each line of a dataset that still has the mark."""
    for file in sorted(folder.rglob("*.toml")):
        if "drafts" in file.relative_to(folder).parts:
            continue
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError):
            continue  # the check of the dataset names the problem
        for number, line in enumerate(lines, 1):
            if TODO in re.sub(r"^\s*#.*", "", line):
                yield DataError(file, " ".join(line.split()), field=f"line {number}")


def _preference_lines(domain: Domain) -> Iterator[str]:
    yield from ("", f'[domains."{domain.name}"]')
    for name, spec in domain.preferences.items():
        text = f"TODO one of: {', '.join(spec.values)}" if spec.values else "TODO a short text"
        yield f'"{name}" = ["{text}"]' if spec.multiple else f'"{name}" = "{text}"'
    told = "TODO two to six sentences: what this person did with the assistant, which shows the preferences"
    yield f'summary = "{told}"'


def _template(kind: str, name: str) -> str:
    return _TEMPLATES.joinpath(f"{kind}.toml").read_text(encoding="utf-8").replace("$name", name)


def _write(path: Path, text: str) -> list[Path]:
    if path.exists():
        return []
    make_folder(path.parent)
    write_atomically(path, text)
    return [path]


def toml_text(table: Mapping[str, Any]) -> str:
    """Return a table of texts, numbers, switches, lists and tables as a TOML file; None is left out."""
    return "\n".join(_lines(table, ())).strip("\n") + "\n"


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    for key, value in table.items():
        if value is not None and not _has_lines(value, path):
            yield f"{_key(key)} = {_value(value)}"
    for key, value in table.items():
        if not _has_lines(value, path):
            continue
        here = (*path, key)
        name = ".".join(map(_key, here))
        for each in value if isinstance(value, (list, tuple)) else [value]:
            yield from ("", f"[[{name}]]" if isinstance(value, (list, tuple)) else f"[{name}]")
            yield from _lines(each, here)


def _has_lines(value: object, path: tuple[str, ...]) -> bool:
    """True for what gets a header: a table at the top or with others in it, and a list of tables."""
    if isinstance(value, dict):
        return not path or any(_has_lines(each, ()) for each in value.values())
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(v, dict) for v in value)


def _value(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(k)} = {_value(v)}' for k, v in value.items())} }}" if value else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", r"\u007f")


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _card(text: str) -> int:
    """All of 13 to 19 digits with the check digit of ISO/IEC 7812 (Luhn)."""
    digits = [int(c) for c in text if c.isdigit()]
    doubled = [sum(divmod(2 * d, 10)) for d in digits[-2::-2]]
    return len(text) * ((sum(doubled) + sum(digits[::-2])) % 10 == 0)


def _iban(text: str) -> int:
    """The longest beginning, to the end of a word, with the check digits of ISO 13616."""
    for end in (m.end() for m in reversed([*re.finditer(r"\b\w+", text)])):
        plain = re.sub(r"[\s-]", "", text[:end]).upper()
        digits = "".join(str(int(c, 36)) for c in plain[4:] + plain[:4])
        if 15 <= len(plain) <= 34 and int(digits) % 97 == 1:
            return end
    return 0


def _phone(text: str) -> int:
    """All of 7 to 15 digits (ITU-T E.164), but no day such as 2026-03-14 or 14.03.2026."""
    day = r"\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}"
    return len(text) * (not re.fullmatch(day, text))


#: The name of a rule, where it may apply, and how many of those characters are personal data, 0 for none. The
#: order counts: the digits of a card look like a phone number.
RULES: Final[tuple[tuple[str, re.Pattern[str], Callable[[str], int]], ...]] = (
    ("mail", re.compile(r"[\w.+%'-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"), len),
    ("iban", re.compile(r"\b[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,40}"), _iban),
    ("card", re.compile(r"(?<![\w.])\d(?:[ -]?\d){12,18}(?!\w)"), _card),
    (
        "phone",
        re.compile(r"(?<!\d[ -])(?<![\w.,$€£/-])(?:\+|\()?\d(?:[ ()./-]{0,2}\d){6,14}(?!\w|:|[ -]?\d)"),
        _phone,
    ),
)


def masker(names: Iterable[str]) -> Callable[[str], str]:
    """Return a function that replaces what a rule finds, and each of the `names`, by its kind: ``[mail]``.

    A name counts in upper and lower case, as a whole word, with or without a genitive.
    """
    listed = sorted({name.strip() for name in names if name.strip()}, key=lambda name: (-len(name), name))
    words = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in listed)
    pattern = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) if listed else None

    def mask(text: str) -> str:
        for kind, found, length in RULES:
            text = found.sub(partial(_masked, kind, length), text)
        return pattern.sub("[name]", text) if pattern else text

    return mask


def _masked(kind: str, length: Callable[[str], int], match: re.Match[str]) -> str:
    personal = length(match[0])
    return f"[{kind}]{match[0][personal:]}" if personal else match[0]


#: A draft that shares so many words in a row with its dialogue copies it.
_COPIED_WORDS: Final = 8
#: The texts of a draft, in their order.
_TEXTS: Final = ("description", "intent", "goal", "opening")
#: What a user may have told, in the skeleton of a draft.
_KNOWN: Final = (
    ("a day", r"\b(?:to(?:day|morrow)|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|\d{4}-\d{2}-\d{2})\b"),
    ("a time", r"\b\d{1,2}(?::\d{2})?\s?[ap]m\b|\b\d{1,2}:\d{2}\b"),
    ("a sum", r"[$€£]\s?\d+(?:\.\d+)?"),
)


class Chat(NamedTuple):
    """A masked dialogue as (role, text), its number, where it stands, and the tools that were called."""

    number: int
    where: str
    turns: tuple[tuple[str, str], ...]
    tools: tuple[str, ...]


def read_chats(files: Sequence[Path], mask: Callable[[str], str]) -> tuple[list[Chat], list[DataError]]:
    """Return the dialogues of files, which have them a line or are exports, and the problems of bad ones.

    A dialogue has the number of its line, after those of the files before. Raise `DataError` if no dialogue
    can be read.
    """
    chats: list[Chat] = []
    errors: list[DataError] = []
    exports, last = Exports(), 0

    def add(messages: object, file: Path, where: str, number: int) -> None:
        try:
            chats.append(_chat(messages, file, where, number, mask))
        except DataError as error:
            errors.append(error)

    for file in files:
        before = last
        for value in read_values(file):
            last = before + value.number
            try:
                if value.problem is not None:
                    raise value.problem
                if exports.add(file, value.where, value.number, value.value):
                    continue
            except DataError as error:
                errors.append(error)
                continue
            data = value.value
            add(data.get("messages") if isinstance(data, dict) else data, file, value.where, last)
    for number, found in enumerate(exports.dialogues(), last + 1 if chats else 1):
        add(found.messages, found.file, found.where, number)
    if not chats:
        if len(errors) > 1:
            problem = f"none of its {len(errors):,} dialogues can be read; the first: {errors[0].what}"
            raise DataError(files[0], problem, code=errors[0].code)
        raise (
            errors[0]
            if errors
            else DataError(files[0], 'no dialogue in it; write one a line, such as {"messages": [...]}')
        )
    return chats, errors


def _chat(data: Any, file: Path, where: str, number: int, mask: Callable[[str], str]) -> Chat:
    turns = [
        (m.role, mask(m.content)) for _, m in read_messages(data, file, f"{where}: messages", lenient=True)
    ]
    called = (call for raw in data for plain in plain_messages(raw) for call in plain.get("tool_calls", ()))
    tools = [name for call in called if isinstance(name := call["function"].get("name"), str)]
    return Chat(number, f"{where} of {file.name}", tuple(turns), tuple(dict.fromkeys(tools)))


def draft_by_model(chat: Chat, pieces: Pieces, mask: Callable[[str], str]) -> dict[str, Any] | None:
    """Return a draft that a model wrote, with its texts masked, or None if every attempt was refused."""

    def problems(answer: Answer) -> list[str]:
        found = [
            f"{n}: expected a text"
            for n in _TEXTS
            if not isinstance(answer.get(n), str) or not answer[n].strip()
        ]
        known = answer.get("known")
        if not isinstance(known, list) or not all(isinstance(text, str) for text in known):
            return [*found, "known: expected a list of texts"]
        texts = {**{n: answer.get(n) for n in _TEXTS}, "known": " ".join(known)}
        return found or [
            f"{n}: it copies the dialogue: {c!r}"
            for n, text in texts.items()
            for c in _copied(str(text), chat)
        ]

    prompt = prompt_text("chat", dialogue="\n".join(f"{role}: {text}" for role, text in chat.turns))
    answer = pieces.make(f"chat-{chat.number:04}", "chat", prompt, problems)
    if answer is None:
        return None
    return {**{n: mask(answer[n]) for n in _TEXTS}, "known": [mask(text) for text in answer.get("known", ())]}


def skeleton(chat: Chat) -> dict[str, Any]:
    """Return a draft to fill in, with the days, times and sums that the user told, and the tools called."""
    said = " ".join(text for role, text in chat.turns if role == "user")
    known = [
        f"{what}: {found}"
        for what, pattern in _KNOWN
        for found in dict.fromkeys(re.findall(pattern, said, re.IGNORECASE))
    ]
    hint = f"{TODO} see {chat.where}"
    return {
        **dict.fromkeys(_TEXTS, hint),
        "known": known,
        **({"tools": list(chat.tools)} if chat.tools else {}),
    }


def _copied(text: str, chat: Chat) -> Iterator[str]:
    """Yield the first run of words that a text shares with a message of the dialogue."""
    words = re.findall(r"[\w'-]+", text.lower())
    whole = [" ".join(["", *re.findall(r"[\w'-]+", turn.lower()), ""]) for _, turn in chat.turns]
    for start in range(len(words) - _COPIED_WORDS + 1):
        run = " ".join(words[start : start + _COPIED_WORDS])
        if any(f" {run} " in turn for turn in whole):
            yield run
            return
