"""The floor plan: fixed obstacles, the cost of driving near them, and the cheapest path."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise

from bt_envs.field.messages import Pose

TILE = 0.5  # metres a sign of the plan
CELL = 0.25  # … and a cell of the grid that ways are planned on
RADIUS = 0.2  # metres: the robot's radius
LETHAL = 254
NEAR = 0.3  # metres from an obstacle: the robot's middle cannot be there
WIDE = 1.0  # … so far it costs more
DEAR = 40  # cost that doubles the length of a step
_DRAWN = """\
################################
#..............................#
#..............................#
#....a..........b.........c....#
#..#####......#####.....#####..#
#..#####......#####.....#####..#
#..............................#
#..............................#
#####...########...#######...###
#####...########...#######...###
#..............................#
#..............................#
#.....####..........####.......#
#.....####..........####.......#
#..............................#
#..............................#
#D......................####...#
#.......................####...#
#..............................#
################################
"""
PLAN = _DRAWN.splitlines()
ROWS, COLUMNS = len(PLAN), len(PLAN[0])
WIDTH, HEIGHT = COLUMNS * TILE, ROWS * TILE
ACROSS, UP = round(WIDTH / CELL), round(HEIGHT / CELL)
SHELVES = {"a": "shelf a", "b": "shelf b", "c": "shelf c"}
DOCK = "dock"
_STEPS = range(-math.ceil(WIDE / CELL), math.ceil(WIDE / CELL) + 1)


def middle(row: int, column: int) -> tuple[float, float]:
    """Returns the centre of a plan character's tile in metres. The origin is at the lower left."""
    return (column + 0.5) * TILE, (ROWS - row - 0.5) * TILE


def cell_of(x: float, y: float) -> int | None:
    column, row = int(x // CELL), int(y // CELL)
    return row * ACROSS + column if 0 <= column < ACROSS and 0 <= row < UP else None


def point_of(cell: int) -> tuple[float, float]:
    return (cell % ACROSS + 0.5) * CELL, (cell // ACROSS + 0.5) * CELL


def _places() -> dict[str, Pose]:
    """Computes the poses: shelves are viewed from above; in the dock the robot faces the wall."""
    found = {}
    for row, line in enumerate(PLAN):
        for column, sign in enumerate(line):
            if sign in SHELVES:
                found[SHELVES[sign]] = Pose(*middle(row, column), -math.pi / 2)
            elif sign == "D":
                found[DOCK] = Pose(*middle(row, column), math.pi)
    return dict(sorted(found.items()))


PLACES = _places()
WALLS = frozenset(
    cell
    for cell in range(ACROSS * UP)
    if PLAN[ROWS - 1 - int(point_of(cell)[1] // TILE)][int(point_of(cell)[0] // TILE)] == "#"
)


@lru_cache(maxsize=1)
def _discs() -> tuple[tuple[int, int, int], ...]:
    """Lists the offsets of the cells around one obstacle cell, with the cost that the obstacle adds to each."""
    each = ((dx, dy, math.hypot(dx, dy) * CELL) for dx in _STEPS for dy in _STEPS)
    return tuple(
        (dx, dy, LETHAL if far < NEAR else round(150 * math.exp(-3 * (far - NEAR))))
        for dx, dy, far in each
        if far <= WIDE
    )


@lru_cache(maxsize=8)
def costmap(marks: tuple[int, ...]) -> list[int]:
    """Returns the cost of each cell: inflation around the walls and around the marked cells."""
    found = [0] * (ACROSS * UP) if not marks else [*costmap(())]
    for cell in marks or WALLS:
        column, row = cell % ACROSS, cell // ACROSS
        for dx, dy, cost in _discs():
            x, y = column + dx, row + dy
            if 0 <= x < ACROSS and 0 <= y < UP and cost > found[y * ACROSS + x]:
                found[y * ACROSS + x] = cost
    return found


@lru_cache(maxsize=1)
def _neighbours() -> list[list[tuple[int, float]]]:
    """Lists for each cell its neighbours without walls, with their distances. The rim of the plan is all wall."""
    steps = [(dy * ACROSS + dx, math.hypot(dx, dy)) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy]
    return [
        [] if cell in WALLS else [(cell + step, far) for step, far in steps if cell + step not in WALLS]
        for cell in range(ACROSS * UP)
    ]


def cheapest(start: int, goal: int, cost: list[int]) -> list[int] | None:
    """Finds the cheapest path by A*. The first step is always allowed, so that the robot can leave a place too near an
    obstacle."""
    gx, gy, next_to = goal % ACROSS, goal // ACROSS, _neighbours()
    best, before, todo = {start: 0.0}, {start: start}, [(0.0, start)]
    done: set[int] = set()
    while todo:
        _, cell = heapq.heappop(todo)
        if cell == goal:
            return _back(before, goal)
        if cell in done:
            continue
        done.add(cell)
        so_far, leaving = best[cell], cost[cell] >= LETHAL
        for after, far in next_to[cell]:
            dear = cost[after]
            if after in done or (dear >= LETHAL and not leaving):
                continue
            spent = so_far + far * (1 + dear / DEAR)
            if spent < best.get(after, math.inf):
                best[after], before[after] = spent, cell
                heapq.heappush(todo, (spent + math.hypot(gx - after % ACROSS, gy - after // ACROSS), after))
    return None


def _back(before: Mapping[int, int], goal: int) -> list[int]:
    found = [goal]
    while before[found[-1]] != found[-1]:
        found.append(before[found[-1]])
    return found[::-1]


def way(start: Pose, goal: Pose, marks: Iterable[int]) -> list[Pose] | str:
    """Returns the points of a path, or the name of Nav2's error."""
    here, there = cell_of(start.x, start.y), cell_of(goal.x, goal.y)
    if here is None:
        return "START_OUTSIDE_MAP"
    if there is None:
        return "GOAL_OUTSIDE_MAP"
    cost = costmap(tuple(marks))
    if cost[there] >= LETHAL:
        return "GOAL_OCCUPIED"
    cells = cheapest(here, there, cost)
    if cells is None:
        return "NO_VALID_PATH"
    points = [(start.x, start.y), *(point_of(cell) for cell in cells[1:-1]), (goal.x, goal.y)]
    for _ in range(2):  # corners are rounded
        points[1:-1] = [
            ((a[0] + 2 * b[0] + c[0]) / 4, (a[1] + 2 * b[1] + c[1]) / 4)
            for a, b, c in zip(points, points[1:], points[2:], strict=False)
        ]
    turned = [math.atan2(b[1] - a[1], b[0] - a[0]) for a, b in pairwise(points)]
    found = [Pose(x, y, yaw) for (x, y), yaw in zip(points, turned, strict=False)]
    return [*found, goal._replace(yaw=goal.yaw)]
