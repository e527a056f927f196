"""What a line of an agent survives on its way into the server."""

from __future__ import annotations

from jupyter_agentchat.process.framing import Frame, Line, LineFramer, Oversize, Torn

TEXT = 'ascii\n{"t": "naïve — 日本 🎉"}\n\n\r\nlast'
RAW = TEXT.encode()


def frames_of(*chunks: bytes, limit_bytes: int = 1000) -> list[Frame]:
    framer = LineFramer(limit_bytes)
    frames: list[Frame] = []
    for chunk in chunks:
        framer.feed(chunk)
        frames += framer.frames()
    rest = framer.finish()
    assert framer.finish() is None
    return [*frames, rest] if rest else frames


def test_a_character_cut_at_any_chunk_border_stays_whole() -> None:
    whole = frames_of(RAW)
    assert [frame.text for frame in whole if not isinstance(frame, Oversize)] == TEXT.split("\n")
    for cut in range(len(RAW) + 1):
        assert frames_of(RAW[:cut], RAW[cut:]) == whole
    assert frames_of(*(RAW[i : i + 1] for i in range(len(RAW)))) == whole


def test_an_end_offset_is_where_the_next_line_begins() -> None:
    begin = 0
    for frame in frames_of(RAW):
        assert isinstance(frame, Line | Torn)
        assert RAW[begin : frame.end].removesuffix(b"\n").decode() == frame.text
        begin = frame.end
    assert begin == len(RAW)


def test_offsets_go_on_from_where_a_spool_was_left() -> None:
    framer = LineFramer(start=1000)
    framer.feed(b"ab\n")
    assert framer.next() == Line("ab", 1003)


def test_lines_fed_before_the_earlier_ones_are_taken_are_kept_in_order() -> None:
    framer = LineFramer()
    for piece in (b"a\nb", b"c\n", b"d\n"):
        framer.feed(piece)
    assert [frame.text for frame in framer.frames() if isinstance(frame, Line)] == ["a", "bc", "d"]


def test_a_line_above_the_limit_is_dropped_and_the_next_one_is_read() -> None:
    stream = b"x\n" + b"A" * 30 + b"\ny\n"
    expected = [Line("x", 2), Oversize(33, 30, "A" * 30), Line("y", 35)]
    for cut in range(len(stream) + 1):
        assert frames_of(stream[:cut], stream[cut:], limit_bytes=20) == expected


def test_a_line_of_exactly_the_limit_passes() -> None:
    assert frames_of(b"A" * 20 + b"\n", limit_bytes=20) == [Line("A" * 20, 21)]
    assert frames_of(b"A" * 12, b"A" * 8 + b"\n", limit_bytes=20) == [Line("A" * 20, 21)]


def test_a_stream_that_ends_inside_an_oversize_line_says_so() -> None:
    assert frames_of(b"A" * 15, b"B" * 15, limit_bytes=20) == [
        Oversize(30, 30, "A" * 15 + "B" * 15)
    ]


def test_a_line_of_50_mb_holds_no_more_than_the_limit() -> None:
    framer = LineFramer()
    chunk = b"z" * 65536
    held = 0
    for _ in range(800):
        framer.feed(chunk)
        assert framer.next() is None
        held = max(held, framer.pending_bytes)
    framer.feed(b"\nnext\n")
    assert held <= 16 * 1024 * 1024
    assert list(framer.frames()) == [
        Oversize(800 * 65536 + 1, 800 * 65536, "z" * 512),
        Line("next", 800 * 65536 + 6),
    ]


def test_bytes_that_are_not_utf8_are_replaced_and_flagged() -> None:
    frames = frames_of(b"a\xffb\n" + b"\xed\xa0\x80\n" + b"nul\0here\n" + b"\xe2\x82\n" + b"ok\n")
    assert [(frame.text, frame.repaired) for frame in frames if isinstance(frame, Line)] == [
        ("a\ufffdb", True),
        ("\ufffd\ufffd\ufffd", True),  # a lone surrogate, as some programs write it
        ("nul\0here", False),
        ("\ufffd", True),
        ("ok", False),
    ]


def test_a_torn_last_line_is_never_taken_for_a_message() -> None:
    for cut in range(1, len(b'{"a": 1}') + 1):
        assert frames_of(b"x\n" + b'{"a": 1}'[:cut])[1:] == [Torn('{"a": 1}'[:cut], 2 + cut)]


def test_a_torn_character_at_the_end_is_replaced() -> None:
    assert frames_of("é".encode()[:1]) == [Torn("\ufffd", 1)]


def test_a_flood_of_tiny_lines_cost_no_memory_before_they_are_asked_for() -> None:
    framer = LineFramer()
    framer.feed(b"1\n" * 200_000)
    assert framer.next() == Line("1", 2)
    assert framer.pending_bytes == 0
    assert sum(1 for _ in framer.frames()) == 199_999
