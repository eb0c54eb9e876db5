"""What one process of a run shares: settings, dataset, agents, sample, event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from pytest_personalens.agents import EmbeddedJudge, EmbeddedUserAgent
from pytest_personalens.agents.model_judge import ModelJudge
from pytest_personalens.agents.model_user import ModelUserAgent
from pytest_personalens.assistants import EventLoop
from pytest_personalens.datasets import Sample, draw, open_dataset
from pytest_personalens.errors import PersonalensError, SpecError

if TYPE_CHECKING:
    from pytest_personalens.datasets import Dataset
    from pytest_personalens.dialogue import UserAgent
    from pytest_personalens.models import Model
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
        self._user_agent = self._role("user_agent", settings.user_model, "--personalens-user-model")
        self._judge = self._role("judge", settings.judge_model, "--personalens-judge-model")
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

    def agents(self) -> Agents:
        """Agents for one evaluation."""
        user_agent, judge = self._user_agent, self._judge
        return Agents(
            ModelUserAgent(user_agent) if hasattr(user_agent, "complete") else user_agent,
            ModelJudge(judge) if hasattr(judge, "complete") else judge,
        )

    def _dataset(self) -> Dataset:
        spec = self.settings.data
        added: Dataset | None = self.config.hook.pytest_personalens_dataset(spec=spec, config=self.config)
        return added if added is not None else open_dataset(spec, base=self.config.rootpath)

    def _role(self, role: str, spec: str, flag: str) -> UserAgent | Judge | Model:
        if spec == "embedded":
            return EmbeddedUserAgent() if role == "user_agent" else EmbeddedJudge()
        for hook in (getattr(self.config.hook, f"pytest_personalens_{role}"), self.config.hook.pytest_personalens_model):
            found: UserAgent | Judge | Model | None = hook(spec=spec, config=self.config)
            if found is not None:
                return found
        raise SpecError(f"{flag}: no provider knows {spec!r}; use 'embedded', or add a provider with the hook pytest_personalens_model")


def open_session(config: pytest.Config, settings: Settings) -> Session:
    """The session, with every problem turned into a `pytest.UsageError` of one line."""
    try:
        return Session(config, settings)
    except PersonalensError as error:
        raise pytest.UsageError(f"personalens: {error}") from None
