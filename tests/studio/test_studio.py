"""The studio as a process: who may speak with it, what it answers, what it survives."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

import linkwright as lw
from tests.commands import run_in_new_python
from tests.studio.studio_process import PATIENCE, Studio, ask, receive_until, run_studio

ELBOW = """name = "elbow"
gravity = [0, "-g", 0]
[parameters]
m1 = 1.0
m2 = 1.0
l1 = 1.0
lc1 = 0.5
lc2 = 0.5
I1 = 0.1
I2 = 0.1
g = 9.81
[bodies.link1]
mass = "m1"
center = ["lc1", 0, 0]
inertia = { zz = "I1" }
[bodies.link2]
mass = "m2"
center = ["lc2", 0, 0]
inertia = { zz = "I2" }
[joints.q1]
type = "revolute"
child = "link1"
[joints.q2]
type = "revolute"
parent = "link1"
child = "link2"
origin = ["l1", 0, 0]
"""


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    file = tmp_path_factory.mktemp("studio") / "elbow.toml"
    file.write_text(ELBOW)
    with run_studio(file) as found:
        yield found


def request(studio: Studio, path: str, **headers: str) -> tuple[int, str, dict[str, str]]:
    with closing(http.client.HTTPConnection("127.0.0.1", studio.port, PATIENCE)) as connection:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), dict(answer.getheaders())


def test_only_its_own_page_is_served(studio: Studio) -> None:
    home = f"/{studio.token}/"
    status, text, headers = request(studio, home)
    assert status == 200
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy.replace("wasm-unsafe-eval", "")
    assert headers["referrer-policy"] == "no-referrer"
    assert "elbow" not in text  # data of the file come by the socket
    tries = [
        "/",
        "/wrong/",
        home + "elbow.toml",
        home + "../../etc/passwd",
        home + "%2e%2e/",
        home + "socket",
    ]
    assert [request(studio, path)[0] for path in tries] == [404] * len(tries)


def test_other_hosts_and_origins_are_refused(studio: Studio) -> None:
    home = f"/{studio.token}/"
    assert request(studio, home, Host=f"evil.example:{studio.port}")[0] == 404
    assert request(studio, home, Host="127.0.0.1")[0] == 404
    assert request(studio, home, Host=f"localhost:{studio.port}")[0] == 200
    for path in ("/x", f"/{studio.token}"):  # no redirection to a host that a request names
        assert request(studio, path, Host="evil.example")[0] == 404
    assert request(studio, "/x")[0] == 404
    assert request(studio, f"/{studio.token}")[0] == 307
    assert request(studio, home, Origin="http://evil.example")[0] == 404
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{studio.port}", None):
        with pytest.raises(InvalidStatus), studio.socket(origin=origin):
            pass
    foreign = {"Host": f"evil.example:{studio.port}"}
    with pytest.raises(InvalidStatus), studio.socket(additional_headers=foreign):
        pass


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="no /proc")
def test_it_listens_on_this_machine_only(studio: Studio) -> None:
    lines = [*Path("/proc/net/tcp").read_text().splitlines()[1:]]
    if Path("/proc/net/tcp6").exists():
        lines += Path("/proc/net/tcp6").read_text().splitlines()[1:]
    listening = [line.split()[1] for line in lines if line.split()[3] == "0A"]
    assert [one for one in listening if one.endswith(f":{studio.port:04X}")] == [
        f"0100007F:{studio.port:04X}"
    ]


def test_tokens_are_long_and_new(studio: Studio) -> None:
    assert len(studio.token) >= 32


def test_a_page_is_given_the_file(studio: Studio) -> None:
    with studio.socket() as socket:
        file = receive_until(socket, type="file")
        assert file["name"] == "elbow"
        assert [one["name"] for one in file["scene"]["coordinates"]] == ["q1", "q2"]


@pytest.mark.slow
def test_it_answers_what_a_page_asks(studio: Studio) -> None:
    with studio.socket() as socket:
        receive_until(socket, type="file")
        ask(socket, "equations", by="lagrange", steps=True)
        done = receive_until(socket, kind="equations", state="done")
        assert "Positions of the centres of mass" in done["html"]
        ask(socket, "own", text="tau2 = 0*q1")
        assert "wrong" in receive_until(socket, kind="own", state="done")["html"]
        ask(socket, "simulation", seconds=0.2, q=[0.1, 0.2], qd=[0, 0], efforts={"q1": "sin(t)"})
        done = receive_until(socket, kind="simulation", state="done")
        scene = json.loads(done["scene"])
        assert scene["run"]["t"][-1] == pytest.approx(0.2)
        assert scene["run"]["q"][0] == pytest.approx([0.1, 0.2])


def test_what_is_not_understood_is_refused_in_words(studio: Studio) -> None:
    bad = [
        "no json",
        "[]",
        '{"ask": "secrets"}',
        '{"ask": "equations", "options": {"by": "../x"}}',
        '{"ask": "simulation", "options": {"seconds": "1e9"}}',
        '{"ask": "simulation", "options": {"q": ["a"]}}',
        '{"ask": "own", "options": {"text": 3}}',
        "[" * 100_000,
    ]
    with studio.socket() as socket:
        receive_until(socket, type="file")
        for text in bad:
            socket.send(text)
            assert receive_until(socket, type="refused")["error"]
        ask(socket, "simulation", seconds=1.0, efforts={"nobody": "1"})
        failed = receive_until(socket, kind="simulation", state="failed")
        assert "nobody" in failed["error"]


@pytest.mark.slow
def test_the_last_good_state_stays(tmp_path: Path) -> None:
    """An error, then the file is deleted, then it is written again."""
    file = tmp_path / "elbow.toml"
    file.write_text(ELBOW)
    with run_studio(file) as studio, studio.socket() as socket:
        receive_until(socket, type="file")
        file.write_text(ELBOW.replace("mass", "mas", 1))
        problem = receive_until(socket, type="problem")["problem"]
        assert problem["line"] == ELBOW[: ELBOW.index("mass")].count("\n") + 1
        assert problem["remedy"] == "did you mean 'mass'?"
        with studio.socket() as another:  # a page that is opened now sees both
            seen = receive_until(another, type="file")
            assert seen["version"] == 1
            assert seen["problem"] == problem
        file.unlink()
        assert receive_until(socket, type="problem")["problem"]["what"] == "is gone"
        ask(socket, "equations", by="general", steps=False)
        assert receive_until(socket, kind="equations", state="done")["html"]
        other = tmp_path / "other"
        other.write_text(ELBOW.replace('"elbow"', '"arm"'))
        other.rename(file)  # as editors save
        assert receive_until(socket, type="file")["name"] == "arm"


@pytest.mark.slow
def test_a_file_deleted_while_it_is_read_is_said_to_be_gone(tmp_path: Path) -> None:
    """The result of the reading comes after the message; it does not take the message away."""
    file = tmp_path / "arm.toml"
    file.write_text(ELBOW)
    with run_studio(file) as studio, studio.socket() as socket:
        receive_until(socket, type="file")
        lw.save(lw.gallery("seven-axis"), file)  # whose scene takes more than a second
        receive_until(socket, type="reading", state="running")
        time.sleep(0.5)  # the worker has opened the file, and computes
        file.unlink()
        while receive_until(socket, type="problem")["problem"]["what"] != "is gone":
            pass
        end, seen = time.monotonic() + PATIENCE / 8, {"version": 1}
        while seen["version"] == 1 and time.monotonic() < end:  # or the worker came too late
            time.sleep(0.3)
            with studio.socket() as another:
                seen = receive_until(another, type="file")
        assert seen["problem"]["what"] == "is gone"


def test_a_killed_worker_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "elbow.toml"
    file.write_text(ELBOW)
    with run_studio(file) as studio, studio.socket() as socket:
        receive_until(socket, type="file")
        ask(socket, "simulation", seconds=9000.0)
        receive_until(socket, kind="simulation", state="running")
        end = time.monotonic() + PATIENCE
        while len(studio.worker_processes()) < 2:  # that of the file, and that of the simulation
            assert time.monotonic() < end
            time.sleep(0.05)
        _kill_workers(studio)
        assert (
            "ended from outside"
            in receive_until(socket, kind="simulation", state="failed")["error"]
        )
        ask(socket, "simulation", seconds=0.1)
        receive_until(socket, kind="simulation", state="done")
        _kill_workers(studio)  # while they rest
        ask(socket, "simulation", seconds=0.2)
        receive_until(socket, kind="simulation", state="done")
        file.write_text(ELBOW.replace('"elbow"', '"arm"'))
        assert receive_until(socket, type="file")["name"] == "arm"


def _kill_workers(studio: Studio) -> None:
    for number in studio.worker_processes():
        os.kill(number, signal.SIGKILL)


@pytest.mark.slow
def test_long_work_is_cancelled(tmp_path: Path) -> None:
    file = tmp_path / "elbow.toml"
    file.write_text(ELBOW)
    with run_studio(file) as studio, studio.socket() as socket:
        receive_until(socket, type="file")
        for kind, options in (("formulations", {}), ("simulation", {"seconds": 9000.0})):
            ask(socket, kind, **options)
            key = receive_until(socket, kind=kind, state="running")["key"]
            socket.send(json.dumps({"cancel": key}))
            receive_until(socket, kind=kind, state="cancelled")
        ask(socket, "formulations")
        stages = set()
        while (message := receive_until(socket, kind="formulations")).get("state") != "done":
            stages.add(message.get("stage"))
        assert "lagrange, 2 of 9" in stages
        assert "lagrange" in message["html"]


@pytest.mark.slow
def test_a_thousand_saves_and_ten_pages(tmp_path: Path) -> None:
    """All pages see the last save; few of the saves are read."""
    file = tmp_path / "elbow.toml"
    file.write_text(ELBOW)
    with run_studio(file) as studio, ExitStack() as stack:
        sockets = [stack.enter_context(studio.socket()) for _ in range(10)]
        for socket in sockets:
            receive_until(socket, type="file")
        for k in range(1000):
            text = ELBOW.replace("l1 = 1.0", f"l1 = {1 + k / 1000}").replace(
                '"elbow"', f'"save {k}"'
            )
            file.write_text(text if k % 7 else text.replace("mass", "mas"))
            time.sleep(0.01)
        file.write_text(ELBOW.replace('"elbow"', '"last"'))
        for socket in sockets:
            last = receive_until(socket, type="file", name="last")
            assert last["problem"] is None
            assert last["version"] < 500
        assert studio.process.poll() is None


@pytest.mark.slow
def test_ctrl_c_ends_it_and_its_workers(tmp_path: Path) -> None:
    """It ends by itself, with its workers."""
    file = tmp_path / "elbow.toml"
    file.write_text(ELBOW)
    with run_studio(file) as studio:
        with studio.socket() as socket:
            receive_until(socket, type="file")
            ask(socket, "simulation", seconds=9000.0)
            receive_until(socket, kind="simulation", state="running")
            status, errors = studio.stop()
        assert (status, errors) == (0, "")
        end = time.monotonic() + PATIENCE
        while any(state != "Z" for state in studio.worker_processes().values()):
            assert time.monotonic() < end
            time.sleep(0.05)


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "watchfiles.py").write_text("raise ImportError('no', name='watchfiles')")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = run_in_new_python(
        "studio", "elbow", env=os.environ | {"PYTHONPATH": path}, timeout=PATIENCE
    )
    assert done.returncode == 2
    said = "linkwright: the studio needs watchfiles; install linkwright[studio]\n"
    assert done.stderr == said
    assert not re.search("Traceback", done.stdout)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    done = run_in_new_python(
        "studio", str(tmp_path / "no.toml"), env=dict(os.environ), timeout=PATIENCE
    )
    assert done.returncode == 2
    assert "no such file" in done.stderr
