"""Hosts that a server sent the user to are remembered for that server alone, and a damaged file forgets them."""

from pathlib import Path

from splice.host.asking.visited import Visited


def test_hosts_belong_to_a_server(tmp_path: Path) -> None:
    visited = Visited(tmp_path / "state" / "visited.json")
    assert not visited.has("one", "pay.example")
    for host in ("pay.example", *(f"h{number}.example" for number in range(3)), "pay.example"):
        visited.add("one", host)
    assert Visited(tmp_path / "state" / "visited.json").has("one", "pay.example")
    assert not visited.has("two", "pay.example")


def test_a_damaged_file_is_set_aside_and_a_disk_that_refuses_is_no_crash(tmp_path: Path) -> None:
    path = tmp_path / "visited.json"
    path.write_text('{"hosts": [')
    visited = Visited(path)
    assert not visited.has("one", "pay.example")
    assert not path.exists()
    visited.add("one", "pay.example")
    assert visited.has("one", "pay.example")
    (tmp_path / "file").write_text("")
    Visited(tmp_path / "file" / "visited.json").add("one", "pay.example")
