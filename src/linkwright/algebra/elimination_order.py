"""The order in which a sparse symmetric matrix is eliminated: minimum degree, Tinney and Walker
(1967).

The graph of a matrix has an edge for every entry off its diagonal that is not zero. Elimination of
an unknown connects all its neighbours: these new edges are the fill-in. The graph of a chain of
loops is a chain, and the graph of a tree of bodies is that tree. Elimination from the ends inward
has no fill-in in either; elimination of a tree from its root outward couples all branches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Graph = list[set[int]]
"""The neighbours of every unknown."""


def elimination_order(neighbours: Sequence[set[int]]) -> list[int]:
    """The order of least degree, or the given order if its fill-in is not larger."""
    given = list(range(len(neighbours)))
    least_fill = count_fill(neighbours, given)
    if not least_fill:
        return given
    order = _minimum_degree_order(neighbours)
    return order if count_fill(neighbours, order) < least_fill else given


def count_fill(neighbours: Sequence[set[int]], order: Iterable[int]) -> int:
    """The number of entries that elimination in the given order fills in."""
    graph, fill = [set(some) for some in neighbours], 0
    for k in order:
        fill += _eliminate(graph, k)
    return fill


def _minimum_degree_order(neighbours: Sequence[set[int]]) -> list[int]:
    """The order that always eliminates an unknown with the fewest neighbours next, the first of
    several."""
    graph, left, order = [set(some) for some in neighbours], set(range(len(neighbours))), []
    while left:
        k = min(left, key=lambda k: (len(graph[k]), k))
        left.remove(k)
        order.append(k)
        _eliminate(graph, k)
    return order


def _eliminate(graph: Graph, k: int) -> int:
    """Remove an unknown from the graph and connect its neighbours; return the number of new
    edges."""
    around, new_edges = graph[k], 0
    for i in around:
        graph[i].discard(k)
        new = around - graph[i] - {i}
        new_edges += len(new)
        graph[i] |= new
    graph[k] = set()
    return new_edges // 2
