"""A tree as its author writes it: each node with a name, numbers or an expression of its own; inputs, outputs, guards.

The same tree for BehaviorTree.CPP. Leaves that its Python binding registers have no ports: a `Script` in front of each
writes what the leaf here takes as its input."""

from __future__ import annotations

from bt_runtime import Skill, Status, skill

HEAD = """version: 1
tree: patrol
blackboard:
  battery: {type: number, default: 1}
  visited: {type: integer, default: 0}
  driven: {type: number, default: 0}
root:
  sequence:
"""
STOP = """\
    - fallback:
        name: stop_{i}
        when: battery > 0.00{small}
        children:
          - check: battery < 0.{percent} and visited > {i}
          - sequence:
              - charged: 0.{least}
              - retry:
                  times: 3
                  child:
                    drive_to: {{x: {i}.5, y: {y}.25, speed: "{{battery * {gear}}}", metres: "{{driven}}"}}
              - set: {{visited: "{{visited + {step}}}"}}
              - log: "at stop {i}: {{visited}}"
          - fail: "stop {i} is lost"
"""
XML_STOP = """\
<Fallback name="stop_{i}" _skipIf="battery &lt;= 0.00{small}">
<ScriptCondition code="battery &lt; 0.{percent} &amp;&amp; visited &gt; {i}"/>
<Sequence><Script code="least := 0.{least}"/><Charged/>
<RetryUntilSuccessful num_attempts="3"><Sequence>
<Script code="x := {i}.5; y := {y}.25; speed := battery * {gear}"/><DriveTo/></Sequence></RetryUntilSuccessful>
<Script code="visited := visited + {step}"/><Log name="at stop {i}"/></Sequence>
<AlwaysFailure name="stop {i} is lost"/></Fallback>
"""
A_STOP = 10  # nodes: the guard stands around its fallback


class DriveTo(Skill):
    def start(self, x: float, y: float, speed: float = 0.5) -> None:
        self.result = x

    def poll(self) -> Status:
        return Status.SUCCESS


@skill(condition=True)
def charged(least: float) -> bool:
    return True


SKILLS = [skill("drive to {x}, {y} at {speed}", outputs={"metres": float})(DriveTo), charged]


def _stops(template: str, nodes: int) -> str:
    return "".join(
        template.format(
            i=i, small=i % 7 + 1, percent=i % 97 + 1, least=i % 89 + 1, y=i % 7, gear=i % 9 + 1, step=i % 5 + 1
        )
        for i in range(nodes // A_STOP)
    )


def text(nodes: int) -> str:
    return HEAD + _stops(STOP, nodes)


def xml(nodes: int) -> str:
    stops = _stops(XML_STOP, nodes)
    return f'<root BTCPP_format="4"><BehaviorTree ID="T"><Sequence>{stops}</Sequence></BehaviorTree></root>'
