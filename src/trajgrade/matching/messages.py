"""Order where the calls of one message have none (SEMANTICS A3): `granularity` and `parallel`.

A call without a known message stands alone, as a message of one call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from trajgrade.matching.bipartite import FREE, maximum_matching

Agree = Callable[[int, int], bool]
Messages = Sequence[Sequence[int]]


def equal_in_order(ours: Messages, theirs: Messages, agree: Agree) -> bool:
    """Whether both lists of calls agree one by one once the calls of each message are reordered.

    Messages are consecutive stretches of positions; two calls may stand at one position where
    their messages' stretches meet. That graph of stretches has no cycle, so a perfect matching of
    calls along it is a pair of reorderings.
    """
    left = [call for message in ours for call in message]
    right = [call for message in theirs for call in message]
    if len(left) != len(right):
        return False
    spans, reach = _spans(ours), _spans(theirs)
    # The messages that meet a stretch are a stretch themselves: from that of its first position to
    # that of its last.
    options = [
        [n for n in range(reach[begin][0], reach[end - 1][1]) if agree(call, right[n])]
        for call, (begin, end) in zip(left, spans, strict=True)
    ]
    return FREE not in maximum_matching(options, len(right))


def _spans(messages: Messages) -> list[tuple[int, int]]:
    """Return, for each call, the first position of its message and the one after the last."""
    spans: list[tuple[int, int]] = []
    start = 0
    for message in messages:
        spans += [(start, start + len(message))] * len(message)
        start += len(message)
    return spans


def embedded_in_order(ours: Messages, theirs: Messages, agree: Agree) -> bool:
    """Whether the reference embeds in P, the calls of each message being in any order.

    Calls of a later reference message may not lie in an earlier message of P than those of the one
    before it. Letting each reference message end as early as it can leaves the most for the rest.
    It begins in the message of P in which the one before it ends, and takes in further ones until
    all its calls have a place; the calls before it may move within their own messages.
    """
    options: dict[int, list[int]] = {}
    place_of: dict[int, int] = {}
    held_by: dict[int, int] = {}
    at = 0
    for message in theirs:
        options |= {reference: [] for reference in message}
        waiting = list(message)
        start = at
        while waiting:
            if at == len(ours):
                return False
            for reference in message:
                options[reference] += [call for call in ours[at] if agree(call, reference)]
            waiting = [one for one in waiting if not _placed(one, options, place_of, held_by)]
            at += 1
        at = max(start, at - 1)
    return True


def _placed(
    reference: int,
    options: Mapping[int, Sequence[int]],
    place_of: dict[int, int],
    held_by: dict[int, int],
) -> bool:
    """Give a reference call a place among its options, others moving if need be."""
    reached_from: dict[int, int] = {}
    queue = [reference]
    for seeker in queue:
        for call in options[seeker]:
            if call in reached_from:
                continue
            reached_from[call] = seeker
            if call in held_by:
                queue.append(held_by[call])
                continue
            free = call
            while True:
                mover = reached_from[free]
                left = place_of.get(mover)
                held_by[free], place_of[mover] = mover, free
                if left is None:
                    return True
                free = left
    return False


def messages_agree(
    ours: Messages, theirs: Messages, agree: Agree, *, reorder: bool, extras: bool
) -> bool:
    """Whether the messages agree whole, one by one; with `extras`, P may have more in between."""
    position = 0
    if not extras and len(ours) != len(theirs):
        return False
    for message in theirs:
        while position < len(ours) and not _message_agrees(
            ours[position], message, agree, reorder=reorder
        ):
            if not extras:
                return False
            position += 1
        if position == len(ours):
            return False
        position += 1
    return True


def _message_agrees(
    ours: Sequence[int], theirs: Sequence[int], agree: Agree, *, reorder: bool
) -> bool:
    if len(ours) != len(theirs):
        return False
    if not reorder:
        return all(map(agree, ours, theirs))
    options = [[n for n, other in enumerate(theirs) if agree(call, other)] for call in ours]
    return FREE not in maximum_matching(options, len(theirs))
