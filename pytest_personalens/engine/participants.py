"""Opens the user agent, the judge and the assistant from plain values, once for each process."""

from __future__ import annotations

import os
import threading
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.agents.by_model.model_agents import ModelAgents
from pytest_personalens.core.errors import PersonalensError, RecordError, SpecError, Stopped, error_text
from pytest_personalens.core.judging.measure import ALL_CRITERIA, get_measure
from pytest_personalens.core.judging.usage import price_of
from pytest_personalens.core.options.option_table import judge_specs
from pytest_personalens.core.scenario import Context, Situation
from pytest_personalens.core.suite import get_suite
from pytest_personalens.engine.agents_on_tape import (
    AgentRole,
    JudgeByReading,
    JudgeOnTape,
    ModelJudgeOnTape,
    UserOnTape,
    offered,
)
from pytest_personalens.engine.assistant.assistant import (
    WITHOUT_CONTEXT,
    EventLoop,
    import_assistant,
    is_async,
    takes_context,
)
from pytest_personalens.engine.assistant.side_by_side import Pace, RunningUsers
from pytest_personalens.engine.job import ParticipantSpecs, refuse_prompts_for_nobody
from pytest_personalens.models import Model
from pytest_personalens.models.meter import Meter, Total

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_personalens.agents.by_model.model_speakers import ModelAssistant
    from pytest_personalens.agents.by_model.official_prompts import OfficialAssistant
    from pytest_personalens.core.dialogue.dialogue import UserAgent
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.judging.usage import Price
    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.models.meter import Budget
    from pytest_personalens.models.retry import Limiter, Reliable
    from pytest_personalens.models.service_assistant import ServiceAssistant
    from pytest_personalens.models.tape import Tape

#: Temperature of the further votes. At the judge's own temperature of 0, they would hardly differ.
_VOTE_TEMPERATURE: Final = 0.7


class Agents(NamedTuple):
    """The agents of one evaluation, and the meter that counts the usage of their models.

    The assistant is the callable that an option names, a model (`played`) or a `service`. All three are None
    if the fixture provides it.
    """

    user_agent: UserAgent
    judge: Judge
    assistant: Callable[..., object] | None
    played: ModelAssistant | OfficialAssistant | None
    meter: Meter
    service: ServiceAssistant | None = None


class CalledModels:
    """The models of a process, one for each spec, and the service that is its assistant, if any.

    `added` returns the model that a plugin adds for a spec, or None. `before` runs ahead of each call and may
    refuse it. In `folder` the processes of a run share what they learn of the models' servers.
    """

    def __init__(
        self,
        recipe: ParticipantSpecs,
        *,
        added: Callable[[AgentRole, str], Any],
        before: Callable[[], None],
        folder: Path | None = None,
    ) -> None:
        self._recipe, self._added, self._before, self._folder = recipe, added, before, folder
        self._models: dict[str, Reliable] = {}
        self.service: Reliable | None = None
        # There may be more calls than dialogues at the same time, because the readings of a dialogue run in
        # parallel too.
        self._most_calls = max(64, 4 * recipe.side_by_side)

    def model(self, spec: str, flag: str) -> Model | None:
        """Return the model of a spec, or None if the spec names no model.

        All roles share its connections and its rate limit. Raise `SpecError`, which names `flag`, for a model
        that cannot be opened.
        """
        if spec not in self._models:
            model = offered("model", lambda: self._added("model", spec), flag)
            if model is None:
                from pytest_personalens.models import open_model

                parameters = dict(self._recipe.parameters)
                model = open_model(spec, parameters, connections=self._most_calls, folder=self._folder)
            if model is None:
                return None
            self._models[spec] = self._reliable(model)
        return self._models[spec]

    def open_service(self, spec: str) -> bool:
        """Open the service of a spec, or raise `SpecError`; return False if the spec names no service."""
        from pytest_personalens.models.service_assistant import open_service

        service = open_service(
            spec, self._recipe.service, dict(self._recipe.parameters), connections=self._most_calls
        )
        if service is not None:
            self.service = self._reliable(service)
        return service is not None

    def limiters(self) -> list[Limiter]:
        """Return the rate limits of the models and of the service, one for each."""
        return [model.limiter for model in self._all()]

    def refuse_unready(self, *, models: bool) -> None:
        """Raise `SpecError` for the first service or model that no call can reach, such as for want of a key.

        Every run calls the service that is the assistant; `models` says if this run may call models.
        """
        checked = [(self.service, "")] if self.service is not None else []
        if models:
            hint = "; or replay records with --personalens-record none"
            checked += [(model, hint) for model in self._models.values()]
        for model, hint in checked:
            try:
                model.check_ready()
            except Exception as error:
                why, code = error_text(error), "PL307"
                if isinstance(error, PersonalensError):
                    why, code = str(error), error.code
                raise SpecError(f"{model.name}: {why}{hint}", code=code) from None

    def close(self) -> None:
        for model in self._all():
            model.close()

    def _all(self) -> list[Reliable]:
        return [*self._models.values(), *([self.service] if self.service is not None else [])]

    def _reliable(self, model: Model) -> Reliable:
        from pytest_personalens.models.retry import Limiter, Reliable

        limiter = Limiter(start=2 * self._recipe.side_by_side, most=self._most_calls)
        return Reliable(model, limiter=limiter, before=self._before)


class Participants:
    """The agents of a process, for any number of threads.

    `added` returns the agent or model that a plugin adds for a role and a spec, or None. `budget` caps the
    cost of models. The processes of a run share `folder`. Raise `SpecError` for agents that cannot be opened.
    """

    def __init__(
        self,
        recipe: ParticipantSpecs,
        *,
        added: Callable[[AgentRole, str], Any] = lambda role, spec: None,
        budget: Budget | None = None,
        is_worker: bool = False,
        folder: Path | None = None,
    ) -> None:
        self.recipe, self._added = recipe, added
        self._settings, self._suite = recipe.settings, get_suite(recipe.settings.suite)
        self._suite.prepare(self._settings, recipe.root)
        self.loop = EventLoop()
        self.running = RunningUsers()
        self.budget, self._is_worker = budget, is_worker
        #: The reason why paid results cannot be saved, once that has happened.
        self._unkept: RecordError | None = None
        self.total = Total()
        self._prices = dict(recipe.prices)
        self._ended = threading.Event()
        self._parent = os.getppid()
        if self._settings.prompts:
            _ = self.model_agents  # a bad template stops the run before it spends anything
        self.called = CalledModels(recipe, added=added, before=self.go_on, folder=folder)
        self._user_agent = self._role("user_agent", self._settings.user_model, "--personalens-user-model")
        if self._suite.only_models_ask and self._user_agent and not isinstance(self._user_agent, Model):
            raise SpecError(
                f"--personalens-user-model: {self._settings.user_model!r} is no model, and only a model can"
                f" say the messages of the suite {self._suite.name} in its own words; leave it out",
                code="PL303",
            )
        #: The judge of each reading that has one of its own, and that of all others by an empty name.
        self._judges = self._open_judges(self._settings.judge_model, "--personalens-judge-model")
        #: The callable that an option names as the assistant, or a model; None if the fixture provides it.
        self.named = self._open_assistant()
        roles = {"user agent": self._user_agent, "assistant": self.named} | {
            f"judge {name}".strip(): judge for name, judge in self._judges.items()
        }
        self._played: dict[str, Model] = {role: who for role, who in roles.items() if isinstance(who, Model)}
        refuse_prompts_for_nobody(recipe, self._played)
        #: True if dialogues run one after the other, because nobody has allowed anything else.
        self.in_turn = self._settings.parallel is None and not self._may_be_asked_at_once
        self.running.several = not self.in_turn or self._settings.executor is not None
        most = recipe.side_by_side if self.running.several else 1
        self.pace = Pace(most, several=lambda: self.running.most > 1)
        #: Kind of a scenario, and manner of the user -> what `without_prompts` returns.
        self._identities: dict[tuple[str, str], tuple[str, str, str]] = {}

    @cached_property
    def model_agents(self) -> ModelAgents:
        """The maker of agents that a model plays; a run without models reads no template."""
        return ModelAgents(self.recipe.prompts, Path(self.recipe.root))

    def agents(
        self,
        context: Context,
        thresholds: Mapping[str, int | float],
        kind: str = "",
        tape: Tape | None = None,
        manner: str = "",
    ) -> Agents:
        """Return agents for one evaluation of an item of `kind`, whose answers are on the `tape`.

        `context` is what an assistant of this package may know. `thresholds` decide if there are further
        votes. `manner` is that of its simulated user.
        """
        settings = self._settings._replace(kind=kind, manner=manner)
        meter = Meter(budget=self.budget, prices=self._prices, total=self.total, before=self.go_on, tape=tape)
        models, played, service = self._played, None, None
        # Embedded agents remember parts of their dialogue, so each evaluation has its own. Modules are
        # imported only if the run has models, because the import would slow down a replay.
        judge = self.judge_of(settings, self._judges, meter, tape=tape)
        if settings.judge_votes > 1:
            from pytest_personalens.agents.by_model.model_judge import VotingJudge

            further = judge
            if any(isinstance(who, Model) for who in self._judges.values()):
                further = self.judge_of(
                    settings, self._judges, meter, temperature=_VOTE_TEMPERATURE, tape=tape
                )
            limits = {get_measure(d): s for d, s in thresholds.items()}
            judge = VotingJudge(judge, further, votes=settings.judge_votes, thresholds=limits)
        own = self._user_agent
        user_agent: UserAgent = _manners(own).get(manner, own) or self._suite.asker(settings)
        if "user agent" in models:
            user_agent = self.user_of(models["user agent"], meter, manner)
        if tape is not None:
            user_agent = UserOnTape(user_agent, tape, aside=own is None or "user agent" in models)
        assistant = self.named
        if "assistant" in models:
            assistant, played = None, self.played(models["assistant"], meter, context, kind)
        elif self.called.service is not None:
            from pytest_personalens.models.service_assistant import ServiceAssistant

            service = ServiceAssistant(self.called.service, meter, context)
        return Agents(user_agent, judge, assistant, played, meter, service)

    def without_prompts(self, kind: str, manner: str = "") -> tuple[str, str, str] | None:
        """Return the identities of user agent, judge and audit for items of a kind.

        None where a model has a role, where further votes depend on thresholds, or where the assistant is no
        callable.
        """
        asked = self._played or self.called.service or self._settings.judge_votes > 1
        if asked:
            return None
        if (key := (kind, manner)) not in self._identities:
            agents = self.agents(Context(user=""), {}, kind, manner=manner)
            self._identities[key] = agents.user_agent.identity, agents.judge.identity, self._suite.auditor
        return self._identities[key]

    def refuse_manner(self, manner: str) -> None:
        """Raise `SpecError` if the user agent has not this manner."""
        if not manner:
            return
        if isinstance(own := self._user_agent, Model):
            self.recipe.prompts.refuse_manner(manner)
            lacks = ""
        elif own is None:
            asker = self._suite.asker(self._settings._replace(manner=manner))
            lacks = "" if getattr(asker, "manner", "") == manner else f"the suite {self._suite.name}"
        else:
            lacks = "" if manner in _manners(own) else f"the user agent {self._settings.user_model}"
        if lacks:
            has = f"; it has {', '.join(_manners(own))}" if _manners(own) else ""
            raise SpecError(f"personalens_manner: {lacks} has no manner {manner}{has}", code="PL108")

    def user_of(self, model: Model, meter: Meter, manner: str = "") -> UserAgent:
        return self._suite.user_played(model, meter) or self.model_agents.user_agent(model, meter, manner)

    def judge_of(
        self,
        settings: Settings,
        judges: Mapping[str, Any],
        meter: Meter,
        *,
        temperature: float = 0.0,
        tape: Tape | None = None,
    ) -> Judge:
        """Return a judge that consists of `judges`, by the short name of their reading.

        Each is a model, a judge, or None for the judge of the suite.
        """

        def one(who: Any) -> Judge:
            judge: Judge | None = who
            if judge is None:
                return self._suite.scorer(settings, self.recipe.root)
            on_tape: type[JudgeOnTape | ModelJudgeOnTape] = JudgeOnTape
            if isinstance(who, Model):
                on_tape, own = ModelJudgeOnTape, self._suite.judged(who, meter, temperature)
                judge = own or self.model_agents.judge(who, meter, temperature=temperature)
            return on_tape(judge, tape) if tape is not None else judge

        by_reading = {self._measure(name): one(who) for name, who in judges.items() if name}
        others = one(judges[""])
        free: dict[Measure, Judge] = {}
        if judges[""] is not None:
            given = {*by_reading, *getattr(others, "dimensions", ())}
            asked = [m for m in self._suite.free if m.value in settings.dimensions and m not in given]
            free = {measure: self._suite.scorer(settings, self.recipe.root) for measure in asked}
        return JudgeByReading(others, by_reading, free) if by_reading or free else others

    def _measure(self, name: str) -> Measure:
        """Return the reading of a judge of its own: that of the suite, or all criteria of the team's own."""
        return ALL_CRITERIA if name == ALL_CRITERIA else self._suite.measure(name)

    def _open_judges(self, text: str, flag: str) -> dict[str, Any]:
        try:
            specs = judge_specs(text)
            for name in filter(None, specs):
                self._measure(name)
        except (ValueError, SpecError) as error:
            raise SpecError(f"{flag}: {error}", code=getattr(error, "code", "")) from None
        return {name: self._role("judge", spec, flag) for name, spec in specs.items()}

    def played(
        self, model: Model, meter: Meter, context: Context, kind: str
    ) -> ModelAssistant | OfficialAssistant:
        """Return the assistant that a model plays for an item of that kind."""
        settings = self._settings._replace(kind=kind)
        own: ModelAssistant | None = self._suite.played(settings, model, meter, context)
        return own or self.model_agents.assistant(
            model, meter, setting=settings.assistant_prompt, context=context
        )

    @cached_property
    def paid(self) -> bool:
        """True if any agent that an option names costs money."""
        return any(
            getattr(who, "paid", False) for who in (self._user_agent, *self._judges.values(), self.named)
        )

    @property
    def _may_be_asked_at_once(self) -> bool:
        """True if models or a service are asked, and no other agent of a plugin but one that says it may."""
        named = [self._user_agent, *self._judges.values()]
        called = bool(self._played) or self.called.service is not None
        others = [who for who in named if who is not None and not isinstance(who, Model)]
        return called and all(getattr(who, "parallel", False) for who in others)

    def may_serve_several(self, assistant: object) -> bool:
        """True if the assistant of the run, or else `assistant` of a fixture, may serve several users.

        Only a sync callable may not: it may hold its user in one place. It runs so if its team says that it
        may.
        """
        if self.called.service is not None:
            return True
        return isinstance(self.named, Model) or is_async(self.named or assistant)

    @property
    def service(self) -> str:
        """The name of the service that is the assistant; empty where none is."""
        return self.called.service.name if self.called.service is not None else ""

    def models(self) -> dict[str, Model]:
        """Return the models by role, such as ``judge tc``."""
        return dict(self._played)

    def role_prices(self) -> dict[str, Price]:
        """Return the price of each role's model, if it is known."""
        prices = {role: price_of(model.name, self._prices) for role, model in self._played.items()}
        return {role: price for role, price in prices.items() if price is not None}

    def refuse_context(self, letters: str) -> None:
        """Raise `SpecError` if a model as the assistant has no prompt for a context of these letters."""
        if "assistant" in self._played and self.recipe.prompts.official:
            situation = Situation(location="-", device="-", time_of_day="-", day_of_week="-", environment="-")
            example = Context(
                user="-",
                demographics={"-": "-"} if "D" in letters else {},
                interactions={"-": "-"} if "I" in letters else {},
                situation=situation if "S" in letters else None,
            )
            self.model_agents.assistant(
                self._played["assistant"], Meter(), setting=self._settings.assistant_prompt, context=example
            )

    def roles_without_prompt(self) -> list[str]:
        """Return the roles that no model plays, so that the prompts that a run names do not reach them."""
        if not self.recipe.prompts.named:
            return []
        roles = {"user": "user agent", "judge": "judge"}
        if self._settings.assistant:
            roles["assistant"] = "assistant"
        return [name for name, role in roles.items() if role not in self._played]

    def go_on(self) -> None:
        """Raise `Stopped` if the run has ended, so that dialogues that nobody waits for take no further turn.

        Raise `RecordError` if paid results cannot be saved. A worker gets another parent if the process that
        started it ends, and nothing else informs it in time.
        """
        if self._unkept is not None:
            raise RecordError(str(self._unkept))
        if self.running.mixed or self._ended.is_set() or (self._is_worker and os.getppid() != self._parent):
            raise Stopped("the run has ended")

    def stop_buying(self, error: RecordError) -> None:
        """Refuse all further calls, because `error` says that paid results cannot be saved."""
        self._unkept = error

    def close(self) -> None:
        """End running work, the event loop, and the connections of the models."""
        self._ended.set()
        self.loop.close()
        self.called.close()

    def _open_assistant(self) -> Any:
        spec, request = self._settings.assistant, self.recipe.service.request
        if request is not None:
            from pytest_personalens.models.http_service import Template

            Template(request)  # a bad one is told whoever the assistant is
        if not spec:
            return None
        model = self.called.model(spec, "--personalens-assistant")
        if model is not None or self.called.open_service(spec):
            return model
        assistant = import_assistant(spec, Path(self.recipe.root))
        if self._suite.remembers and not takes_context(assistant):
            raise SpecError(f"--personalens-assistant {spec}: a callable {WITHOUT_CONTEXT}", code="PL401")
        return assistant

    def _role(self, role: AgentRole, spec: str, flag: str) -> Any:
        """Return a plugin's agent for `spec`, a model to play the role, or None for the embedded agent."""
        if spec == "embedded":
            return None
        player = offered(role, lambda: self._added(role, spec), flag)
        if player is None:
            player = self.called.model(spec, flag)
        if player is None:
            raise SpecError(
                f"{flag}: no provider knows {spec!r}; use 'embedded', 'bedrock:MODEL' or 'openai:MODEL', "
                "or add a provider with the hook pytest_personalens_model",
                code="PL307",
            )
        return player


def _manners(user_agent: Any) -> Mapping[str, UserAgent]:
    """Return the user agents of a plugin's own user agent by manner."""
    return getattr(user_agent, "manners", {})
