"""AgentDojo's attacks fail by its own checks, and its tasks go on, under the policies of docs/policies.md."""

from __future__ import annotations

import pytest

pytest.importorskip("agentdojo", reason="agentdojo is not installed: make policies")
CASES = [
    ("banking", "user_task_3", "injection_task_5"),
    ("slack", "user_task_1", "injection_task_1"),
    ("travel", "user_task_0", "injection_task_0"),
    ("workspace", "user_task_31", "injection_task_1"),
]


@pytest.mark.parametrize(("suite", "task", "attack"), CASES)
def test_an_attack_of_agentdojo_fails_and_its_task_is_done(suite: str, task: str, attack: str) -> None:
    """The hijacked reader succeeds without policies, not with them; the honest oracle's task is done under them."""
    from tests.benchmarks.dojo import Case, suites
    from tests.benchmarks.dojo_plan import run

    of = suites()[suite]
    case = Case(suite, of.user_tasks[task], of.injection_tasks[attack])
    assert run(case, policy=False).attacked
    assert not run(case).attacked
    assert run(case._replace(attack=None)).useful
