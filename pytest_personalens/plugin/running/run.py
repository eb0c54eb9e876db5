"""The shared state of one process of a run: settings, dataset, agents, samples and the event loop."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_personalens.core.errors import NothingFits, PersonalensError, SpecError
from pytest_personalens.core.names import FIRST_SUITE
from pytest_personalens.core.options.gate import measure_of
from pytest_personalens.core.options.option_table import ALL, BY_KEY
from pytest_personalens.core.runtime import no_collection
from pytest_personalens.core.scenario import Context, ScenarioRef
from pytest_personalens.datasets import OtherUsers, Sample, draw
from pytest_personalens.engine.assistant.team_fixtures import Memory, StateSource, UserPast
from pytest_personalens.engine.participants import Participants
from pytest_personalens.engine.record import refuse_old
from pytest_personalens.plugin.input_errors import input_error
from pytest_personalens.plugin.options.marks import ref_of, scenario_of
from pytest_personalens.plugin.pytest_internals import without_capture
from pytest_personalens.plugin.running import opening
from pytest_personalens.plugin.running.items import Given, ItemSpec, Team, cases, spec_of
from pytest_personalens.plugin.stored.resume import RunState, begin_run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_personalens.core.facts import Session
    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.engine.agents_on_tape import AgentRole
    from pytest_personalens.engine.job import StoredDialogue
    from pytest_personalens.plugin.options.marks import Persona
    from pytest_personalens.plugin.stored.stored_dialogues import StoredDialogues
    from pytest_personalens.results.comparison.baseline import ComparisonTerms
    from pytest_personalens.results.values.calibration import Calibration
    from pytest_personalens.results.values.item import Item


#: A sample up to this size, or that of the dataset's `loaded_ahead`, is loaded completely before the first
#: item runs. Of a larger sample, only the first hundred scenarios are loaded.
_LOADED_AHEAD: Final = 1000
_TRIED: Final = 100
#: The end of the text about domains that another suite or dataset has.
_DOMAIN_OF_INI: Final = "; -o personalens_domain= leaves out the domains of the configuration"
#: Seconds up to which a dialogue waited for nothing.
QUICK: Final = 0.02


@dataclass(slots=True)
class Tally:
    """What the tests of one process drew and did, as a worker sends it."""

    #: Scenarios that the user asked for, and those that existed.
    requested: int = 0
    drawn: int = 0
    #: Items that the collected tests made of their samples; a selection left some and left others out.
    made: int = 0
    remaining: int = 0
    left_out: int = 0
    #: Ids of scenarios that only the sample of a mark has.
    ids: list[str] = field(default_factory=list)
    #: Files with tests of this plugin that skipped themselves completely.
    skipped: list[str] = field(default_factory=list)
    #: Why the mark of a test and the command line leave it no item.
    unfit: str = ""
    #: Scenarios that the domains of the configuration left out, where all there are were drawn.
    elsewhere: int = 0
    #: True if an assistant that was asked could see its context.
    knows: bool = False
    #: Seconds that dialogues waited which ran one after the other, and what lets them run side by side.
    waited: float = 0.0
    waited_for: str = ""
    #: Dialogues that ran at the same time.
    side_by_side: int = 1
    #: Replies that a rate limit of the assistant's provider refused, and that were asked for again.
    refused: int = 0
    #: Items whose mark ``xdist_group`` keeps them with no other.
    ungrouped: int = 0
    #: The scenarios of personas in marks, as plain data.
    personas: list[dict[str, Any]] = field(default_factory=list)
    #: The computing time of the process so far, when it was last taken.
    computed: float = field(default_factory=time.process_time)

    def wait(self, seconds: float, lacking: str) -> None:
        """Add the time of a dialogue that is no computing; `lacking` names what lets it run beside others.

        A `QUICK` one waited for nothing. What was computed between two that count is taken from the second.
        """
        before, self.computed = self.computed, time.process_time()
        self.waited += max(0.0, seconds - (self.computed - before))
        self.waited_for = lacking


class Run:
    """Opens the dataset and the agents once, or raises `PersonalensError`, and draws samples."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self.config, self.settings, self.suite = config, settings, settings.of_suite
        dataset = opening.dataset_of(config, settings)
        self.stored: StoredDialogues | None = None
        if settings.dialogues:
            from pytest_personalens.plugin.stored.stored_dialogues import StoredDialogues

            self.stored = StoredDialogues(dataset, settings.dialogues, config.invocation_params.dir)
            self.stored.check_controls(settings.control)
        self.dataset = self.stored or dataset
        self.prices = opening.read_prices_of(config)
        self.state_fields = opening.read_fields_of(config)
        self.shared_folder = opening.shared_folder(config, settings)
        self.participants = Participants(
            opening.participant_specs(config, settings),
            added=self._added,
            budget=opening.budget_in(self.shared_folder, settings),
            is_worker=hasattr(config, "workerinput"),
            folder=Path(self.shared_folder) if self.shared_folder else None,
        )
        opening.refuse_unknown_prices(settings, self.participants.models(), self.prices)
        self.participants.refuse_context(settings.context)
        self.calibration = self._calibration()
        self.folder = opening.cache_of(config)
        self.cluster = opening.open_cluster(config, settings, has_budget=self.participants.budget is not None)
        #: Domains of the command line, which narrow those of a mark.
        self._within = settings.domain if config.getoption(BY_KEY["domain"].ini, None) is not None else ()
        self._samples: dict[object, Sample] = {}
        self._used: dict[object, Sample] = {}
        self.tally = Tally()
        self._other_users = OtherUsers(dataset, settings.seed, self.suite.other_user)
        self._memories: dict[int, Memory] = {}
        self._loaded: dict[ScenarioRef, BaseScenario] = {}
        self.ids: dict[str, tuple[str, str]] = {}
        #: User and task -> the scenario of a persona in a mark.
        self.personas: dict[tuple[str, ...], BaseScenario] = {}
        if settings.sample is not None:
            self.sample(settings)
        self.state = self._state()

    def _calibration(self) -> Calibration | None:
        """Return how labels measured the judge; raise `PersonalensError` for a file of another judge."""
        if self.settings.calibration is None:
            return None
        from pytest_personalens.results.values.calibration import read_calibration

        judge = self.participants.agents(Context(user=""), self.settings.thresholds).judge
        return read_calibration(self.config.rootpath / self.settings.calibration, judge.identity)

    def sample(self, settings: Settings) -> Sample:
        """Return the sample of a test with these settings, or this run's shard of it; drawn once."""
        assert settings.sample is not None
        key = _draw_of(settings)
        if key not in self._samples:
            of_ini = settings.domain and not self._within and settings.domain == self.settings.domain
            mend = _DOMAIN_OF_INI if of_ini else ""
            # A large draw may show its progress.
            with without_capture(self.config):
                sample = draw(
                    self.dataset,
                    settings.sample,
                    seed=settings.seed,
                    users=self.settings.users,
                    domains=settings.domain,
                    within=self._within,
                    kind=settings.kind,
                    strata=self.suite.draw_order,
                    mend=mend,
                )
            if not sample.refs:
                raise NothingFits(
                    f"no {self.suite.item} of dataset {self.dataset.name!r} fits the domains, kind and users"
                    f" asked for{mend}"
                )
            for ref in sample.refs:
                if self.ids.setdefault(ref.id, ref[:2]) != ref[:2]:
                    raise SpecError(
                        f"{self.suite.item}s {self.ids[ref.id]} and {ref[:2]} of dataset"
                        f" {self.dataset.name!r} share the id {ref.id!r}",
                        code="PL207",
                    )
            if settings.sample == ALL:
                sample = sample._replace(requested=sample.drawn)
            if not of_ini:
                sample = sample._replace(elsewhere=0)
            if settings.shard is not None:
                sample = sample.shard(*settings.shard)
            # The scenarios are loaded now, so that a bad file stops the run before it spends anything. Of a
            # sample that takes long to load, only a part is tried. The items report problems with the rest.
            most = getattr(self.dataset, "loaded_ahead", _LOADED_AHEAD)
            for ref in sample.refs if len(sample.refs) <= most else sample.refs[:_TRIED]:
                self._loaded[ref] = self.dataset.load(ref)
                self._loaded[ref].groups(settings.slice)
                if any(self.suite.control(name).swaps for name in settings.control):
                    self._other_users.of(ref)
            self._samples[key] = sample
        return self._samples[key]

    def plan(self, settings: Settings) -> list[ItemSpec]:
        sample = self._used[_draw_of(settings)] = self.sample(settings)
        planned = list(self.cases(sample, settings))
        for letters in sorted({case.given for case in planned}):
            self.participants.refuse_context(letters)
        for manner in sorted({case.manner for case in planned}):
            self.participants.refuse_manner(manner)
        return planned

    def plan_persona(self, settings: Settings, persona: Persona, test: str) -> list[ItemSpec]:
        """Return the item of a test whose mark describes its user, with its trials; nothing is drawn for it.

        Nobody else has its task, so it has no control that gives another user's context.
        """
        if (settings.shard is not None and settings.shard[0] != 1) or self.stored is not None:
            return []
        ref = ref_of(persona, test)
        self.personas[ref[:2]] = scenario_of(persona, ref)
        controls = tuple(name for name in settings.control if not self.suite.control(name).swaps)
        return list(cases([ref], settings._replace(control=controls)))

    def add_personas(self, personas: Iterable[dict[str, Any]]) -> None:
        """Take the scenarios of personas in marks as a worker sends them."""
        for data in personas:
            scenario = self.suite.scenario.model_validate(data)
            self.personas.setdefault((scenario.user, scenario.task_id), scenario)

    def load(self, ref: ScenarioRef) -> BaseScenario:
        """Return a scenario of the dataset, or of a persona in a mark."""
        return self.personas.get(ref[:2]) or self.dataset.load(ref)

    def cases(self, sample: Sample, settings: Settings) -> Iterable[ItemSpec]:
        """Return the items of a sample; of stored dialogues, all trials that there are."""
        if self.stored is None:
            return cases(sample.refs, settings)
        return [
            ItemSpec(ref, settings, trial, control)
            for ref in sample.refs
            for control in ("", *settings.control)
            for trial in self.stored.trials(ref, control)
        ]

    def stored_dialogue(self, case: ItemSpec) -> StoredDialogue | None:
        """Return the dialogue of an item that exists already, if the run judges such dialogues."""
        return None if self.stored is None else self.stored.of(case.ref, case.control, case.trial)

    def context(self, case: ItemSpec, scenario: BaseScenario, dialogue: str = "") -> Context:
        """Return what the assistant of an item may know in the dialogue with this id.

        In a control, the user has another id, so that an assistant with a memory cannot find the context
        again. Raise `SpecError` if the control needs another user's context and nobody has such a task.
        """
        other = self.other_scenario(case) if case.control else None
        user = "+".join(filter(None, (scenario.user, case.control, other.user if other else "")))
        if self.suite.remembers:
            # A memory must hold nothing of another item, trial or attempt.
            user = f"{user}+{dialogue}"
        known = self.suite.context(case.settings, scenario, case.given, other)
        return known.model_copy(update={"user": user, "dialogue": dialogue})

    def given(self, assistant: Any, state: Any, memory: Any, store: Any) -> Given:
        """Return what the fixtures of an item gave; a memory, made once, knows whose past it has."""
        taker: Memory | None = None
        if memory is not None:
            loop, before = self.participants.loop, self.participants.go_on
            taker = Memory(memory, timeout=self.settings.turn_timeout, loop=loop, before=before)
            taker = self._memories.setdefault(id(memory), taker)
        source = None if state is None else StateSource(state, self.state_fields)
        return Given(assistant, source, taker, store)

    def team(self, item: pytest.Item, given: Given, context: Context) -> Team:
        """Return what the team gives to an item, with the log of its calls."""
        case, past = spec_of(item), None
        if given.memory is not None and context.sessions:
            past = UserPast(given.memory, context.user, lambda: self.past(case, context))
        log = self.state.log
        calls = None if log is None else log.case(case.id, anew=self.settings.record == "all")
        return Team(given.assistant, calls, given.state, past, given.store)

    def past(self, case: ItemSpec, context: Context) -> tuple[Session, ...]:
        """Return the conversations in all domains of the user whom the context of an item is about.

        They are the same for each item of that user, and none if the context has none.
        """
        if not context.sessions or self.suite.name != FIRST_SUITE:
            return ()
        user = (self.other_scenario(case) or case.ref).user
        if (past := getattr(self.dataset, "past", None)) is not None:
            return tuple(past(user))
        loaded = (self.dataset.load(ref) for ref in self.dataset.refs(user))
        told = {(s.date, s.time, s.id): s for scenario in loaded for s in scenario.sessions}
        return tuple(sorted(told.values(), key=lambda session: (session.date, session.time)))

    def terms(self) -> ComparisonTerms:
        """Return the terms of this run for a comparison with another run."""
        from pytest_personalens.results.comparison.baseline import ComparisonTerms, setup_of

        agents = self.participants.agents(Context(user=""), self.settings.thresholds)
        user = agents.user_agent.identity if self.stored is None else self.stored.user_agent
        setup = setup_of(agents.judge.identity, user, self.settings._asdict())
        dataset = f"{self.dataset.name} {self.dataset.version}"
        return ComparisonTerms(suite=self.suite.name, dataset=dataset, setup=setup)

    def scenarios(self, items: Iterable[Item]) -> dict[str, BaseScenario]:
        """Return the scenarios of the items of this run, by id."""
        # The samples cannot be used: with workers, this process has not drawn those of every test.
        refs = {
            e.scenario: ScenarioRef(e.user, e.task, e.kind, e.domains)
            for e in (item.evaluation for item in items)
        }
        return {id_: self._of_run(self.load(ref)).in_results() for id_, ref in sorted(refs.items())}

    def contents(self) -> dict[tuple[str, str], str]:
        """Return the digest of each scenario that was loaded ahead, by user and task."""
        return {(ref.user, ref.task): self._of_run(one).digest for ref, one in self._loaded.items()}

    def refuse_undecidable(self, gates: Iterable[GateExpression]) -> None:
        """Raise `SpecError` for a gate on a measure that the judge reads in no scenario loaded ahead."""
        if self.stored is not None:  # a dialogue may hold tool calls, or a state
            return
        for gate in gates:
            measure = measure_of(gate, self.suite)
            if measure is None or not self._loaded:
                continue
            needs = {self.suite.needs(self.settings, one, measure) for one in self._loaded.values()}
            if "" not in needs:
                raise SpecError(
                    f"--personalens-gate: {gate.name}: {needs.pop()}; no {self.suite.item} of the draw has"
                    " facts, so nothing would decide the gate",
                    code="PL606",
                )

    def scenario(self, case: ItemSpec) -> BaseScenario:
        """Return the whole scenario of an item: a new one for each caller, because tests may change it."""
        ahead = self._loaded.pop(case.ref, None)
        whole = ahead if ahead is not None else self.load(case.ref)
        other = self.other_scenario(case) if case.control else None
        return self.suite.situated(case.settings, whole, case.given, other)

    def _of_run(self, scenario: BaseScenario) -> BaseScenario:
        """Return a scenario as the run itself has it, without a control."""
        given = self.suite.given(self.settings.context, "")
        return self.suite.situated(self.settings, scenario, given, None)

    def other_scenario(self, case: ItemSpec) -> BaseScenario | None:
        """Return the other user's scenario that a control needs, if any; `SpecError` if nobody has one."""
        if not self.suite.control(case.control).swaps:
            return None
        other: BaseScenario = self.dataset.load(self._other_users.of(case.ref))
        return other

    def drawn(self) -> Tally:
        """Return the tally with the draws of this process's tests, over all shards."""
        used = self._used.values()
        known = {ref.id for ref in self.sample(self.settings).refs}
        return replace(
            self.tally,
            requested=sum(s.requested for s in used),
            drawn=sum(s.drawn for s in used),
            ids=sorted({ref.id for sample in used for ref in sample.refs} - known),
            elsewhere=sum(s.elsewhere for s in used),
            refused=self.participants.pace.limiter.throttled,
            personas=[one.model_dump(mode="json") for one in self.personas.values()],
        )

    @property
    def keeps(self) -> bool:
        """True if this run logs what it is told, so that it is not bought again, or can be continued from."""
        return self.settings.resume or (self.participants.paid and self.settings.may_spend)

    @cached_property
    def at_once(self) -> int:
        """The most dialogues that run side by side in this process; 1 if they run one after the other."""
        if self.participants.in_turn:
            return 1
        return self.settings.at_once(opening.processes_of(self.config))

    @cached_property
    def side_by_side(self) -> bool:
        """True if dialogues may run before their item's turn, in threads or on a cluster."""
        return self.cluster is not None or self.at_once > 1

    def close(self) -> None:
        """End the event loop and the connections of the models, and leave the cluster."""
        self.participants.close()
        if self.cluster is not None:
            self.cluster.shutdown(cancel_futures=True)

    def _state(self) -> RunState:
        """Return the state of a new run, of one to resume, or of a worker's controller."""
        if not self.keeps or self.config.option.collectonly or self.settings.estimate:
            return RunState()
        if self.settings.may_spend and not hasattr(self.config, "workerinput"):
            refuse_old(self.config.rootpath)
        return begin_run(self.config, self.settings)

    def _added(self, role: AgentRole, spec: str) -> Any:
        """Return the agent or the model that a plugin adds for `spec`."""
        return getattr(self.config.hook, f"pytest_personalens_{role}")(spec=spec, config=self.config)


def _draw_of(settings: Settings) -> tuple[object, ...]:
    """Return the settings of a draw that a mark can change."""
    return (settings.sample, settings.seed, settings.domain, settings.kind)


def open_run(config: pytest.Config, settings: Settings) -> Run:
    """Return the run, with every problem as a `pytest.UsageError` of one line."""
    try:
        with no_collection(kept=True):
            return Run(config, settings)
    except PersonalensError as error:
        raise input_error(f"personalens: {error}", code=error.code) from None
