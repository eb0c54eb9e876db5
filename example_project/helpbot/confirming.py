"""Repeats what a request says and a reply leaves out, and takes corrections in the user's words."""

from __future__ import annotations

import datetime as dt
import re

from helpbot.details import MONTH, NAME, NUMBER, later

_DAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
#: Days, hours, sums, numbers with what they count, sizes, and names of people, places and titles.
_DETAIL = re.compile(
    rf"\b{_DAY}(?: \d+ {MONTH}| next week)?\b"
    r"|\b\d\d:\d\d\b|(?:up to |at most |below )?\$\d+(?:,\d+)?\b|\bsize \w+\b|\bvolume \w+\b"
    rf"|\b{NUMBER} (?:more )?(?:people|person|guests|tickets?|places|seats|rooms?|nights?)\b"
    rf"|\b{NUMBER} (?:days?|weeks?|months?|hours?|minutes?|titles?|rides)\b"
    rf"|(?<=[a-z,:] )(?!I\b|I'|{_DAY}|{MONTH}\b){NAME}"
)
#: The user asks whether a value is right: "That's two people, right?"
_CHECK = re.compile(
    r"(?:just to be sure: |(?:and |so )?(?:that's|it's|it is|is it) )?"
    r"(?P<it>.+?)(?:, (?:right|yes|correct))?\?$",
    re.IGNORECASE,
)
_IS_CHECK = re.compile(r"\b(?:right|yes|correct)\?$|^just to be sure\b|^is it\b", re.IGNORECASE)
#: The user wants one thing and not another.
_SWAPS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\bnot (?P<old>[^:.]+?)(?:: | for me, please: )(?:it has to be )?(?P<new>[^.]+)",
        r"\bnot (?P<old>[^,.]+), please, (?P<new>[^.]+)",
        r"\b(?P<old>[^.,]+?) isn't right, I need (?P<new>[^.]+)",
        r"\b(?:should|must) be (?P<new>[^.?]+?)(?:,| and)? not (?P<old>[^.?]+)",
        r"\b(?:need|meant|said:?|it's|prefer) (?P<new>[^.?]+?)(?:,| and)? not (?P<old>[^.?]+)",
        r"\bchange that to (?P<new>[^?]+)\? It says (?P<old>[^.]+)",
        r"\b(?:make (?:that|it)|have|like) (?P<new>[^.?]+?) (?:instead of|than|better than) (?P<old>[^.?]+)",
    )
]


#: What a pass for buses costs in dollars, and titles for a list that the taste of its user does not fill.
_PASS = 68
_MORE_TITLES = ["'Detectorists'", "'All Creatures Great and Small'", "'Our Planet'"]
_NUMBERS = {word: n for n, word in enumerate(["zero", "one", "two", "three", "four", "five", "six"])}


def details(request: str, reply: str) -> str:
    """The details of a request that a reply leaves out, as a line of its own."""
    found = dict.fromkeys(m[0].removesuffix(" I").removesuffix("'s") for m in _DETAIL.finditer(request))
    left = [d for d in found if d not in reply and not any(d in other for other in found if other != d)]
    return f" Details: {', '.join(left)}." if left else ""


def on_file(notes: str, reply: str) -> str:
    """The booking on file that a reply speaks of."""
    record = re.search(r"On file now: ([^;]+?)[;.](?: |$)", notes)
    changes = re.search(
        r"\b(?:changed|moved|cancelled|given|sent|arranged|exchanged|swapped|cleared)\b", reply
    )
    return f" It was about {record[1]}." if record and changes else ""


def checked(last: str) -> str:
    """An answer to a question whether a value is right; empty if the last message asks none."""
    return "Yes, that's right." if is_check(last) else ""


def is_check(text: str) -> bool:
    """True if a message asks whether a value is right."""
    return bool(_IS_CHECK.search(text))


def adapted(reply: str, said: list[str]) -> str:
    """The reply with what the request says in place of the bot's own, and with the corrections since."""
    reply = _fitted(reply, said[0])
    for text in said[1:]:
        if asked := _CHECK.search(text) if is_check(text) else None:
            for part in re.split(r" and (?=on |at |in |for )", asked["it"]):
                reply = _with_told(reply, part)
            continue
        days = _DAYS.search(text)
        reply = _DAYS.sub(days[0], reply, count=1) if days else reply
        for swap in _SWAPS:
            found = swap.search(text)
            old, new = (found["old"].strip(), found["new"].strip()) if found else ("", "")
            if old and new.lower() not in reply.lower() and re.search(re.escape(old), reply, re.IGNORECASE):
                # "window seat" becomes "aisle seat", also where the user says "an aisle seat".
                new = re.sub(r"^(?:an?|the) ", "", new)
                noun = re.escape(new.split()[-1])
                new = new.replace("\\", "")
                reply = re.sub(rf"{re.escape(old)}(?: {noun}\b)?", new, reply, flags=re.IGNORECASE)
                break
    return reply


#: Several days of the week in a row, as the days of a plan.
_DAYS = re.compile(rf"\b{_DAY}s?(?:, {_DAY}s?)*,? and {_DAY}s?\b")


def _with_told(reply: str, told: str) -> str:
    """The reply with a place, a title or a mood that the user has named, in place of the bot's own."""
    if re.match(r"(?:at|in|under|by) (?:my|the) ", told, re.IGNORECASE):
        told = told[0].lower() + told[1:]
        reply = re.sub(r"let us meet(?= at \d)|meet at the fountain|at the fountain", f"meet {told}", reply)
    if not re.search(r"\d|day\b", told) and told[1:].islower():
        told = told[0].lower() + told[1:]
        reply = re.sub(r"put your [\w ]+ into the calendar", f"put {told} into the calendar", reply)
    reply = re.sub(r"going by '[^']*'", f"going by '{told}'", reply)
    return re.sub(r"dancing at the end, just the mood we agreed on", f"{told} all along", reply)


def _fitted(reply: str, request: str) -> str:
    """The reply with the numbers, limits, names and hours of the request in place of the bot's own."""
    for number, noun in re.findall(rf"\b({NUMBER}) (rides|people|tickets|hours)\b", request):
        reply = re.sub(rf"\b{NUMBER} {noun}\b", f"{number} {noun}", reply)
    if rides := re.search(r"\b(\d+) times in four weeks", request):
        singles = 4 * int(rides[1])
        cheaper = "the pass is" if singles > _PASS else "single tickets are"
        told = f"for {rides[1]} rides in four weeks. Single tickets come to ${singles}, the pass is ${_PASS}"
        reply = re.sub(r"for \w+ rides? a month.*", f"{told}: {cheaper} cheaper.", reply)
    if titles := re.search(rf"\b({NUMBER}) titles", request):
        named = list(dict.fromkeys([*re.findall(r"'[^']+'", reply), *_MORE_TITLES]))[: _NUMBERS[titles[1]]]
        listed = f"{', '.join(named[:-1])} and {named[-1]}, all of them on"
        reply = re.sub(r"'[^.]+', all three on", listed, reply)
    if every := re.search(rf"\bevery ({_DAY}) at (\d\d:\d\d)", request):
        reply = re.sub(rf"every {_DAY} at \d\d:\d\d", f"every {every[1]} at {every[2]}", reply)
    if trip := re.search(r"\b(?:trip|tour) I keep talking about, to (.+?), into", request):
        reply = re.sub(
            r"plan with dates: [^,]+(?:, (?:among|with|on|near|between) [^,]+)?,",
            f"plan with dates: {trip[1]},",
            reply,
        )
    if span := re.search(rf"\bfor ({NUMBER} days)\b", request):
        reply = re.sub(r"[\w ]+, so \w+ days in all", f" {span[1]} in all", reply)
    if volume := re.search(r"\bvolume (\d+)", request):
        reply = re.sub(r"\bvolume \w+", f"volume {int(volume[1]) + 1}", reply, flags=re.IGNORECASE)
    if name := re.search(rf"\bcalled ({NAME})", request):
        reply = re.sub(r"(playlist|list) '[^']*'", rf"\1 '{name[1]}'", reply)
    if by := re.search(r"\bthere by (\d\d:\d\d)", request):
        reply = re.sub(r"out at \d+:\d\d(?: \([\w ]+\))?", f"out at {later(by[1], -150)}", reply)
    if most := re.search(r"\b(?:up to|at most) \$(\d+)", request):
        limit = int(most[1])
        reply = re.sub(r"\$(\d+)", lambda m: m[0] if int(m[1]) <= limit else f"${limit - limit // 10}", reply)
    if unused := re.search(rf"({NAME}\+?) I have opened (\w+(?: times)?)", request):
        reply = reply.replace(
            "Paramount+: nothing watched for five months", f"{unused[1]}: opened {unused[2]} this year"
        )
    if up := re.search(r"fifteen minutes after you get up at (\d+):(\d\d)", reply):
        reply = reply.replace(up[0], f"at {later(f'{int(up[1]):02}:{up[2]}', 15)}, {up[0]}")
    if day := re.search(rf"\b({_DAY}) (\d+) ({MONTH})", request):
        start = dt.datetime.strptime(f"2026 {day[2]} {day[3]}", "%Y %d %B") + dt.timedelta(days=7)
        reply = re.sub(r"the week after, \w+day", f"the week after, {day[1]} {start.day} {start:%B}", reply)
    return reply
