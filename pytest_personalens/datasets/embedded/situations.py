"""Derives the situation of a scenario from the routine of the person and from the task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

from pytest_personalens.core.frozen import unchecked
from pytest_personalens.core.scenario import Situation
from pytest_personalens.datasets.draws import pick
from pytest_personalens.datasets.embedded.entries import Day

if TYPE_CHECKING:
    from pytest_personalens.datasets.embedded.entries import Routine, TaskEntry

_DAYS: Final = get_args(Day)


def situation(routine: Routine, task: TaskEntry, *, key: str) -> Situation:
    """Return a plausible situation, chosen by the digest of `key`.

    The choice is the same on every machine. The task says at which places, on which devices and when it makes
    sense. The routine says which of these the person has. The person spends working hours of working days at
    work. So a task for home falls on a free day or at another hour.
    """
    places = {"home": routine.home, "work": routine.work, "transit": routine.transit, "out": routine.out}
    days = {
        (at_work, time): [
            day
            for day in _DAYS
            if at_work == (bool(routine.work) and day not in routine.free and time in routine.busy)
        ]
        for at_work in (True, False)
        for time in task.times
    }
    options = [
        (place, device, time, day)
        for place in task.where
        if places[place]
        for device in task.devices
        if device in routine.devices
        and (device != "Laptop" or place in ("home", "work"))
        and (device != "Smart speaker" or place == "home")
        for time in task.times
        for day in days[place == "work", time]
    ]
    # A few pairs have no fitting situation (a task for the office and a person without one). They get one at
    # home.
    options = options or [("home", routine.devices[0], time, day) for time in task.times for day in _DAYS]
    place, device, time, day = pick(options, key)
    return unchecked(
        Situation,
        location=places[place],
        device=device,
        time_of_day=time,
        day_of_week=day,
        environment="Noisy" if place in routine.noisy else "Quiet",
    )
