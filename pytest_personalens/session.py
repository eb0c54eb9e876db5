"""What one process of a run shares: settings, dataset, agents, sample, event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_personalens.agents import EmbeddedJudge, EmbeddedUserAgent
from pytest_personalens.agents.model_judge import ModelJudge
from pytest_personalens.agents.model_user import ModelUserAgent
from pytest_personalens.assistants import EventLoop
from pytest_personalens.datasets import Sample, draw, open_dataset
from pytest_personalens.errors import PersonalensError, SpecError
from pytest_personalens.models import Model

if TYPE_CHECKING:
    from pytest_personalens.datasets import Dataset
    from pytest_personalens.dialogue import UserAgent
    from pytest_personalens.options import Settings
    from pytest_personalens.verdict import Judge


class Agents(NamedTuple):
    """A user agent and a judge for one evaluation; those played by a model count their own calls and tokens."""

    user_agent: UserAgent
    judge: Judge


class Session:
    """Opens the dataset and the agents once, and draws samples. Raises `PersonalensError` for what cannot be had."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self.config, self.settings = config, settings
        self.loop = EventLoop()
        self.dataset = self._dataset()
        hook = config.hook
        self._user_agent: UserAgent | Model = (
            EmbeddedUserAgent()
            if settings.user_model == "embedded"
            else self._added(hook.pytest_personalens_user_agent, settings.user_model, "--personalens-user-model")
        )
        self._judge: Judge | Model = (
            EmbeddedJudge()
            if settings.judge_model == "embedded"
            else self._added(hook.pytest_personalens_judge, settings.judge_model, "--personalens-judge-model")
        )
        self._samples: dict[object, Sample] = {}
        self.ids: dict[str, tuple[str, str]] = {}
        if settings.sample is not None:
            self.sample(settings)

    def sample(self, settings: Settings) -> Sample:
        """The sample of a test with these settings; drawn once for each kind of draw."""
        assert settings.sample is not None
        key = (settings.sample, settings.seed, settings.domain, settings.kind)
        if key not in self._samples:
            sample = draw(
                self.dataset,
                settings.sample,
                seed=settings.seed,
                users=self.settings.users,
                domains=settings.domain,
                kind=settings.kind,
            )
            if not sample.refs:
                raise SpecError(f"no scenario of dataset {self.dataset.name!r} fits the domains, kind and users asked for")
            for ref in sample.refs:
                if self.ids.setdefault(ref.id, ref[:2]) != ref[:2]:
                    raise SpecError(f"scenarios {self.ids[ref.id]} and {ref[:2]} of dataset {self.dataset.name!r} share the id {ref.id!r}")
            # Loaded now, so that a bad file stops the run before anything is paid for, and in one line.
            for ref in sample.refs:
                self.dataset.load(ref)
            self._samples[key] = sample
        return self._samples[key]

    def requested(self) -> dict[str, int]:
        """How many scenarios the draws asked for and how many there were."""
        return {
            "requested": sum(s.requested for s in self._samples.values()),
            "drawn": sum(len(s.refs) for s in self._samples.values()),
        }

    def header(self) -> str:
        """One line: what is sampled, by which seed, who plays the user and who judges."""
        s = self.settings
        return (
            f"personalens: {self.requested()['drawn']} scenarios of {self.dataset.name} {self.dataset.version}, seed {s.seed!r}, "
            f"context {s.context or 'none'}, user {s.user_model}, judge {s.judge_model}"
        )

    def agents(self) -> Agents:
        """Agents for one evaluation."""
        user_agent, judge = self._user_agent, self._judge
        return Agents(
            ModelUserAgent(user_agent) if isinstance(user_agent, Model) else user_agent,
            ModelJudge(judge) if isinstance(judge, Model) else judge,
        )

    def _dataset(self) -> Dataset:
        spec = self.settings.data
        added: Dataset | None = self.config.hook.pytest_personalens_dataset(spec=spec, config=self.config)
        return added if added is not None else open_dataset(spec, base=self.config.rootpath)

    def _added(self, role_hook: Any, spec: str, flag: str) -> Any:
        """What a plugin adds for `spec`: an agent ready-made, or a model to play the role."""
        for hook in (role_hook, self.config.hook.pytest_personalens_model):
            found = hook(spec=spec, config=self.config)
            if found is not None:
                return found
        raise SpecError(f"{flag}: no provider knows {spec!r}; use 'embedded', or add a provider with the hook pytest_personalens_model")


def open_session(config: pytest.Config, settings: Settings) -> Session:
    """The session, with every problem turned into a `pytest.UsageError` of one line."""
    try:
        return Session(config, settings)
    except PersonalensError as error:
        raise pytest.UsageError(f"personalens: {error}") from None
