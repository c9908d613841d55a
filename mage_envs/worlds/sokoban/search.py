"""Loops of the exact solver: A* over pushes, for the fewest moves or the fewest pushes.

A node is where the boxes are and where the player stands after the last push (to count moves), or the first cell of the
region that the player can walk in (to count pushes). What is left costs at least the cheapest way to give every box its
own target, each as if it were alone: exact assignment, so that the estimate never exceeds the truth and falls by one a
push at most. Positions are left out where a box stands on a cell that no lone box can ever leave for a target, or in a
square of four cells that are all wall or box with one box off target. Cells are numbered as in
:mod:`~mage_envs.worlds.sokoban.carving`.
"""

from __future__ import annotations

import numpy as np

from mage_envs.worlds.compiling import compiled
from mage_envs.worlds.sokoban.arrays import Array

MAX_CELLS, MAX_BOXES = 128, 8
"""What the number of a node has room for: seven bits a cell, eight boxes and the player."""

UNSOLVABLE, GAVE_UP = -1, -2

FAR = 10_000
_BASE = 128
_KEY, _COST, _LEFT, _PARENT, _PUSH, _CLOSED = range(6)
_PRIME, _SPREAD = 2147483647, 2654435


@compiled
def pushes_alone(near: Array, targets: Array) -> Array:
    """Returns the pushes that a lone box needs from each cell to each target, or a huge number; (targets, cells)."""
    n = near.shape[0]
    found = np.full((targets.shape[0], n), FAR, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    for t in range(targets.shape[0]):
        found[t, targets[t]] = 0
        queue[0], size, i = targets[t], 1, 0
        while i < size:
            cell = queue[i]
            i += 1
            for heading in range(4):
                before = near[cell, heading]
                if before >= 0 and near[before, heading] >= 0 and found[t, before] == FAR:
                    found[t, before] = found[t, cell] + 1
                    queue[size] = before
                    size += 1
    return found


@compiled
def assigned(at: Array, alone: Array, best: Array) -> int:
    """Returns the least sum of pushes that gives each box its own target, or a huge number.

    Args:
        at: Cells of the boxes.
        alone: As :func:`pushes_alone` returns it.
        best: Room for 2 ** boxes numbers.
    """
    boxes = at.shape[0]
    best[:] = FAR
    best[0] = 0
    for taken in range(best.shape[0] - 1):
        box, rest = 0, taken
        while rest:
            box += rest & 1
            rest >>= 1
        if best[taken] < FAR:
            for t in range(boxes):
                if not taken >> t & 1:
                    cost = best[taken] + alone[t, at[box]]
                    best[taken | 1 << t] = min(best[taken | 1 << t], cost)
    return int(best[best.shape[0] - 1])


@compiled
def flood(near: Array, player: int, occupied: Array, far: Array, queue: Array) -> int:
    """Fills in how far the player must walk to each free cell, −1 where there is no way. Returns the first cell."""
    far[:] = -1
    far[player] = 0
    queue[0], size, i, first = player, 1, 0, player
    while i < size:
        cell = queue[i]
        i += 1
        first = min(first, cell)
        for heading in range(4):
            beside = near[cell, heading]
            if beside >= 0 and far[beside] < 0 and not occupied[beside]:
                far[beside] = far[cell] + 1
                queue[size] = beside
                size += 1
    return int(first)


@compiled
def frozen(near: Array, cell: int, occupied: Array, goal: Array) -> bool:
    """Returns whether a box on a cell is in a square of four that can never move, with a box off target in it."""
    for upright in range(2):
        for aside in range(2, 4):
            above, beside, corner = near[cell, upright], near[cell, aside], -1
            if above >= 0:
                corner = near[above, aside]
            elif beside >= 0:
                corner = near[beside, upright]
            full, lost = True, not goal[cell]
            for other in (above, beside, corner):
                if other >= 0:
                    full = full and occupied[other] == 1
                    lost = lost or not goal[other]
            if full and lost:
                return True
    return False


@compiled
def node_key(at: Array, player: int) -> int:
    """Returns the number of a node; ``at`` must be ascending."""
    key = 0
    for cell in at:
        key = key * _BASE + cell
    return int(key * _BASE + player)


@compiled
def moved(at: Array, box: int, cell: int, into: Array) -> None:
    """Writes the cells of the boxes, ascending, after one has moved."""
    place = 0
    for b in range(at.shape[0]):
        if b != box:
            into[place] = at[b]
            place += 1
    while place > 0 and into[place - 1] > cell:
        into[place] = into[place - 1]
        place -= 1
    into[place] = cell


@compiled
def successors(
    near: Array, goal: Array, alone: Array, walk: int, key: int, found: Array, scratch: Array, best: Array, at: Array
) -> int:
    """Finds what one push can lead to.

    Args:
        near: Neighbours, shape ``(n, 4)``.
        goal: Whether a cell is a target; shape ``(n,)``.
        alone: As :func:`pushes_alone` returns it.
        walk: 1 to count moves, 0 to count pushes.
        key: The node.
        found: Is filled with rows of key, cost, least cost left, and the push as ``4 * cell of the box + heading``.
        scratch: Room for numbers, shape ``(4, n)``.
        best: Room for 2 ** boxes numbers.
        at: Room for two rows of cells of boxes.

    Returns:
        The number of rows.
    """
    boxes, count = at.shape[1], 0
    rest = key // _BASE
    occupied, far = scratch[0], scratch[1]
    occupied[:] = 0
    for b in range(boxes - 1, -1, -1):
        at[0, b] = rest % _BASE
        occupied[at[0, b]] = 1
        rest //= _BASE
    flood(near, key % _BASE, occupied, far, scratch[2])
    for b in range(boxes):
        cell = at[0, b]
        for heading in range(4):
            stand, ahead = near[cell, heading ^ 1], near[cell, heading]
            if stand < 0 or ahead < 0 or occupied[ahead] or far[stand] < 0:
                continue
            moved(at[0], b, ahead, at[1])
            left = assigned(at[1], alone, best)
            if left >= FAR:
                continue
            occupied[cell], occupied[ahead] = 0, 1
            if not frozen(near, ahead, occupied, goal):
                player = cell if walk else flood(near, cell, occupied, scratch[3], scratch[2])
                found[count, 0] = node_key(at[1], player)
                found[count, 1] = far[stand] + 1 if walk else 1
                found[count, 2] = left
                found[count, 3] = 4 * cell + heading
                count += 1
            occupied[cell], occupied[ahead] = 1, 0
    return count


@compiled
def slot_of(key: int, nodes: Array, table: Array) -> int:
    """Returns the place of a node in the table: its own, or the free one where it belongs."""
    mask = table.shape[0] - 1
    slot = ((key % _PRIME) * _SPREAD >> 5) & mask
    while table[slot] >= 0 and nodes[table[slot], _KEY] != key:
        slot = (slot + 1) & mask
    return int(slot)


@compiled
def doubled(array: Array) -> Array:
    """Returns an array of twice as many rows that begins with the rows of this one."""
    larger = np.empty((2 * array.shape[0], array.shape[1]), dtype=np.int64)
    larger[: array.shape[0]] = array
    return larger


@compiled
def larger_table(nodes: Array, count: int, size: int) -> Array:
    """Returns a table of a size with the first nodes in it."""
    table = np.full(size, -1, dtype=np.int64)
    for node in range(count):
        table[slot_of(nodes[node, _KEY], nodes, table)] = node
    return table


@compiled
def path_to(nodes: Array, node: int) -> Array:
    """Returns the pushes from the first node to this one."""
    length, at = 0, node
    while nodes[at, _PARENT] >= 0:
        length += 1
        at = nodes[at, _PARENT]
    path = np.empty(length, dtype=np.int64)
    at = node
    for i in range(length - 1, -1, -1):
        path[i] = nodes[at, _PUSH]
        at = nodes[at, _PARENT]
    return path


@compiled
def adopt(
    found: Array,
    count: int,
    node: int,
    limit: int,
    nodes: Array,
    table: Array,
    entries: Array,
    heads: Array,
    sizes: Array,
) -> None:
    """Puts what a node leads to among the nodes and on the lists of those to look into.

    Args:
        found: Rows as :func:`successors` fills them.
        count: Number of rows.
        node: Where they come from.
        limit: Nodes whose least total cost is above it are left out.
        nodes: Rows of key, cost, least cost left, parent, push, whether it was expanded; has room.
        table: From key to node.
        entries: Rows of a node and the entry after it in its list; has room.
        heads: The first entry of the list of each total cost.
        sizes: Numbers of nodes and entries; are changed.
    """
    for i in range(count):
        key, cost = found[i, 0], nodes[node, _COST] + found[i, 1]
        total = cost + found[i, 2]
        if total > limit:
            continue
        slot = slot_of(key, nodes, table)
        child = table[slot]
        if child < 0:
            child = table[slot] = sizes[0]
            sizes[0] += 1
        elif nodes[child, _COST] <= cost:
            continue
        nodes[child] = (key, cost, found[i, 2], node, found[i, 3], 0)
        entries[sizes[1]] = (child, heads[total])
        heads[total] = sizes[1]
        sizes[1] += 1


@compiled
def search(
    near: Array, player: int, boxes: Array, targets: Array, walk: int, limit: int, max_nodes: int
) -> tuple[int, int, Array]:
    """Finds a cheapest solution.

    Args:
        near: Neighbours, shape ``(n, 4)``, n at most ``MAX_CELLS``.
        player: The player's cell.
        boxes: Cells of the boxes, ascending, at most ``MAX_BOXES``.
        targets: As many cells.
        walk: 1 for the fewest moves, 0 for the fewest pushes.
        limit: Solutions that cost more are not looked for.
        max_nodes: Gives up when more nodes are known.

    Returns:
        The cost (``UNSOLVABLE``: there is none within the limit; ``GAVE_UP``), the number of nodes that were expanded,
        and the pushes, each ``4 * cell of the box + heading``.
    """
    n, count = near.shape[0], boxes.shape[0]
    goal = np.zeros(n, dtype=np.int64)
    goal[targets] = 1
    alone = pushes_alone(near, targets)
    best, at = np.empty(1 << count, dtype=np.int64), np.empty((2, count), dtype=np.int64)
    scratch, found = np.zeros((4, n), dtype=np.int64), np.empty((4 * count, 4), dtype=np.int64)
    nodes, entries = np.empty((1024, 6), dtype=np.int64), np.empty((2048, 2), dtype=np.int64)
    heads, table = np.full(limit + 1, -1, dtype=np.int64), np.full(4096, -1, dtype=np.int64)
    nothing, sizes, expanded = np.empty(0, dtype=np.int64), np.ones(2, dtype=np.int64), 0
    level = assigned(boxes, alone, best)
    if level > limit:
        return UNSOLVABLE, 0, nothing
    scratch[0][boxes] = 1
    stand = player if walk else flood(near, player, scratch[0], scratch[1], scratch[2])
    nodes[0] = (node_key(boxes, stand), 0, level, -1, -1, 0)
    table[slot_of(nodes[0, _KEY], nodes, table)] = 0
    entries[0] = (0, -1)
    heads[level] = 0
    while level <= limit and sizes[0] <= max_nodes:
        entry = heads[level]
        if entry < 0:
            level += 1
            continue
        heads[level] = entries[entry, 1]
        node = entries[entry, 0]
        if nodes[node, _CLOSED]:
            continue
        if nodes[node, _LEFT] == 0:
            return int(nodes[node, _COST]), expanded, path_to(nodes, node)
        nodes[node, _CLOSED] = 1
        expanded += 1
        if sizes[0] + found.shape[0] > nodes.shape[0]:
            nodes = doubled(nodes)
            table = larger_table(nodes, sizes[0], 2 * table.shape[0])
        if sizes[1] + found.shape[0] > entries.shape[0]:
            entries = doubled(entries)
        new = successors(near, goal, alone, walk, nodes[node, _KEY], found, scratch, best, at)
        adopt(found, new, node, limit, nodes, table, entries, heads, sizes)
    return UNSOLVABLE if sizes[0] <= max_nodes else GAVE_UP, expanded, nothing
