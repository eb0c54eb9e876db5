"""What one process of a run shares: settings, dataset, agents, sample, event loop."""

from __future__ import annotations

import tempfile
import uuid
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from pytest_personalens.agents import EmbeddedJudge, EmbeddedUserAgent
from pytest_personalens.agents.prompts import Prompts
from pytest_personalens.assistants import EventLoop, import_assistant
from pytest_personalens.datasets import Sample, draw, open_dataset
from pytest_personalens.errors import PersonalensError, SpecError
from pytest_personalens.models import Model
from pytest_personalens.models.meter import Budget, Meter, price_of, read_prices
from pytest_personalens.models.reliable import Reliable
from pytest_personalens.models.specs import open_model, read_parameters
from pytest_personalens.scenario import Context
from pytest_personalens.verdict import Dimension

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.agents.model_assistant import ModelAssistant
    from pytest_personalens.datasets import Dataset
    from pytest_personalens.dialogue import UserAgent
    from pytest_personalens.models.meter import Price
    from pytest_personalens.options import Settings
    from pytest_personalens.verdict import Judge


#: Temperature of the further votes: at the judge's own 0 they would hardly be others.
_VOTE_TEMPERATURE: Final = 0.7
#: A sample of so many scenarios is loaded whole before the first item runs, a larger one's first hundred.
_LOADED_AHEAD: Final = 1000
_TRIED: Final = 100


class Agents(NamedTuple):
    """Who takes part in one evaluation, and the meter that counts what those played by a model use.

    `assistant` is the callable that an option names, `played` the model that plays the assistant; both are None where the
    fixture hands it over.
    """

    user_agent: UserAgent
    judge: Judge
    assistant: Callable[..., object] | None
    played: ModelAssistant | None
    meter: Meter


class Session:
    """Opens the dataset and the agents once, and draws samples. Raises `PersonalensError` for what cannot be had."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self.config, self.settings = config, settings
        self.loop = EventLoop()
        self.dataset = self._dataset()
        hook = config.hook
        if settings.prompts:
            _ = self.prompts  # a bad template stops the run before anything is paid for
        self._models: dict[str, Reliable] = {}
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
        self._assistant = self._open_assistant()
        self.prices = _prices(config)
        self._budget = self._open_budget()
        self._samples: dict[object, Sample] = {}
        self.ids: dict[str, tuple[str, str]] = {}
        if settings.sample is not None:
            self.sample(settings)

    @cached_property
    def prompts(self) -> Prompts:
        """The templates of agents played by a model; not read in a run that has none."""
        return Prompts(self.config.rootpath / self.settings.prompts if self.settings.prompts else None)

    def sample(self, settings: Settings) -> Sample:
        """The sample of a test with these settings; drawn once for each kind of draw."""
        assert settings.sample is not None
        key = (settings.sample, settings.seed, settings.domain, settings.kind)
        if key not in self._samples:
            # A large draw may have progress to show.
            capture = self.config.pluginmanager.getplugin("capturemanager")
            with nullcontext() if capture is None else capture.global_and_fixture_disabled():
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
            # Loaded now, so that a bad file stops the run before anything is paid for, and in one line. A sample that takes
            # long to load is only tried: what is wrong elsewhere is told by the item.
            for ref in sample.refs if len(sample.refs) <= _LOADED_AHEAD else sample.refs[:_TRIED]:
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
            + (f", assistant {s.assistant}" if s.assistant else "")
            + (f" ({s.assistant_prompt})" if isinstance(self._assistant, Model) else "")
        )

    def agents(self, context: Context, settings: Settings) -> Agents:
        """Agents for one evaluation; `context` is what an assistant of ours may know, `settings` are those of the item."""
        meter = Meter(budget=self._budget, prices=self.prices)
        user_agent, judge, assistant = self._user_agent, self._judge, self._assistant
        further: Judge | None = None
        played: ModelAssistant | None = None
        # What a run with embedded agents does not need is not loaded: it would be felt in a replay.
        if isinstance(judge, Model):
            from pytest_personalens.agents.model_judge import ModelJudge

            further = ModelJudge(judge, meter, self.prompts, temperature=_VOTE_TEMPERATURE)
            judge = ModelJudge(judge, meter, self.prompts)
        if self.settings.judge_votes > 1:
            from pytest_personalens.agents.votes import VotingJudge

            limits = {Dimension(d): s for d, s in settings.thresholds.items()}
            judge = VotingJudge(judge, further or judge, votes=self.settings.judge_votes, thresholds=limits)
        if isinstance(assistant, Model):
            from pytest_personalens.agents.model_assistant import ModelAssistant

            played = ModelAssistant(assistant, meter, self.prompts, setting=self.settings.assistant_prompt, context=context)
        if isinstance(user_agent, Model):
            from pytest_personalens.agents.model_user import ModelUserAgent

            user_agent = ModelUserAgent(user_agent, meter, self.prompts)
        return Agents(user_agent, judge, None if isinstance(assistant, Model) else assistant, played, meter)

    def close(self) -> None:
        """End the event loop and the connections of the models."""
        self.loop.close()
        for model in self._models.values():
            model.close()

    def models(self) -> dict[str, Model]:
        """Role -> the model that plays it, for the roles that one plays."""
        roles = {"user agent": self._user_agent, "judge": self._judge, "assistant": self._assistant}
        return {role: who for role, who in roles.items() if isinstance(who, Model)}

    def role_prices(self) -> dict[str, Price]:
        """Role -> the price of its model, where it has one and the price is known."""
        found = {role: price_of(model.name, self.prices) for role, model in self.models().items()}
        return {role: price for role, price in found.items() if price is not None}

    def _open_assistant(self) -> Model | Callable[..., object] | None:
        spec = self.settings.assistant
        if not spec:
            return None
        found = self._model(spec)
        return found if found is not None else import_assistant(spec, self.config.rootpath)

    def _open_budget(self) -> Budget | None:
        s = self.settings
        if s.max_calls is None and s.max_usd is None:
            return None
        if s.max_usd is not None:
            for role, model in self.models().items():
                if model.paid and price_of(model.name, self.prices) is None:
                    raise SpecError(f"--personalens-max-usd: no price is known for {model.name} ({role}); add it to personalens_prices")
        # One file for all processes of a run: xdist hands the workers the id that it finds in its option, or else makes one.
        run = getattr(self.config, "workerinput", {}).get("testrunuid") or self.config.getoption("testrunuid", None) or uuid.uuid4().hex
        if hasattr(self.config.option, "testrunuid"):
            self.config.option.testrunuid = run
        return Budget(Path(tempfile.gettempdir()) / f"personalens-{run}", max_calls=s.max_calls, max_usd=s.max_usd)

    def _model(self, spec: str) -> Model | None:
        """The model of a spec, one for all its roles: they share its connections and its rate limit."""
        if spec not in self._models:
            added = self.config.hook.pytest_personalens_model(spec=spec, config=self.config)
            model = added if added is not None else open_model(spec, _parameters(self.config))
            if model is None:
                return None
            self._models[spec] = Reliable(model)
        return self._models[spec]

    def _dataset(self) -> Dataset:
        spec = self.settings.data
        added: Dataset | None = self.config.hook.pytest_personalens_dataset(spec=spec, config=self.config)
        return added if added is not None else open_dataset(spec, base=self.config.rootpath)

    def _added(self, role_hook: Any, spec: str, flag: str) -> Any:
        """What a plugin adds for `spec`: an agent ready-made, or a model to play the role."""
        found = role_hook(spec=spec, config=self.config)
        if found is None:
            found = self._model(spec)
        if found is None:
            raise SpecError(
                f"{flag}: no provider knows {spec!r}; use 'embedded', 'bedrock:MODEL' or 'openai:MODEL', "
                "or add a provider with the hook pytest_personalens_model"
            )
        return found


def _prices(config: pytest.Config) -> dict[str, Price]:
    try:
        return read_prices([line for line in config.getini("personalens_prices") if line.strip()])
    except SpecError as error:
        raise SpecError(f"personalens_prices: {error}") from None


def _parameters(config: pytest.Config) -> dict[str, str]:
    try:
        return read_parameters([line for line in config.getini("personalens_model_parameters") if line.strip()])
    except SpecError as error:
        raise SpecError(f"personalens_model_parameters: {error}") from None


def open_session(config: pytest.Config, settings: Settings) -> Session:
    """The session, with every problem turned into a `pytest.UsageError` of one line."""
    try:
        return Session(config, settings)
    except PersonalensError as error:
        raise pytest.UsageError(f"personalens: {error}") from None
