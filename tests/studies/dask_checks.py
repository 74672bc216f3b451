"""Studies on dask: local workers killed, schedulers restarted, clusters and clients of users.

`test_dask` calls each check in a process of its own.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import distributed
import numpy as np
import pytest
from distributed.deploy.spec import ProcessInterface

import linkwright as lw
from linkwright.studies import dask_engine, load_study, resume_study
from linkwright.studies.dask_engine import DaskEngine
from linkwright.studies.object_storage import FolderStorage, StorageFullError
from linkwright.studies.study_store import StudyStore

from .bucket_file_system import STORE, check_that_it_goes_on, fill_up, open_buckets
from .study_processes import (
    ELBOW,
    KILLS,
    LARGE,
    PACED,
    VARY,
    begin,
    begin_paced,
    check_same,
    count_blocks,
    kills,
    wait_for_blocks,
)


def run(name: str, folder: str) -> None:
    """Call a check, and end this process without waiting for threads of dask."""
    try:
        globals()[name](Path(folder))
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def check_that_workers_of_dask_may_be_killed(folder: Path) -> None:
    with kills(KILLS) as killed:
        begin(folder / "a", LARGE, 1250, workers=2, cluster="local", retries=20)
    assert len(killed) == len(set(killed)) == len(KILLS)
    check_same(folder / "a", LARGE)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def dask_process(kind: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    program = f"import sys; from distributed.cli.dask_{kind} import main; main(sys.argv[1:])"
    silent = subprocess.DEVNULL
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words], stdout=silent, stderr=silent, env=environment
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def check_that_a_scheduler_that_is_restarted_loses_nothing(folder: Path) -> None:
    store, port = folder / "a", free_port()
    address = f"tcp://127.0.0.1:{port}"
    scheduler = ("--port", str(port), "--host", "127.0.0.1", "--no-dashboard")
    worker = (address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0")
    failures: list[BaseException] = []

    def run() -> None:
        try:
            begin_paced(store, cluster=address)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    with dask_process("scheduler", *scheduler), dask_process("worker", *worker):
        wait_for_port(port)
        thread.start()
        wait_for_blocks(store, 4)
    between = count_blocks(store)
    assert 4 <= between < PACED // 10
    with dask_process("scheduler", *scheduler), dask_process("worker", *worker):
        thread.join(200)
    assert not thread.is_alive()
    assert not failures
    check_same(store, PACED)


def wait_for_port(port: int) -> None:
    """Wait until something listens."""
    end = time.monotonic() + 120
    while True:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 5):
            return
        assert time.monotonic() < end, "the scheduler has not started"
        time.sleep(0.1)


@contextmanager
def cutting_proxy(port: int) -> Iterator[tuple[int, list[int]]]:
    """Pass connections on to a scheduler, and cut them all as soon as one submits a block."""
    cuts: list[int] = []
    open_ends: list[socket.socket] = []

    def pass_on(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if b"block-" in data:
                    cuts.append(len(open_ends))
                    for one in open_ends:
                        with suppress(OSError):
                            one.shutdown(socket.SHUT_RDWR)
                    return
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)

    def accept() -> None:
        with suppress(OSError):
            while True:
                near = listener.accept()[0]
                far = socket.create_connection(("127.0.0.1", port), 30)
                far.settimeout(None)
                open_ends.extend((near, far))
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=pass_on, args=pair, daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield int(listener.getsockname()[1]), cuts
    for one in open_ends:
        one.close()


def check_that_a_scheduler_that_fails_again_and_again_is_given_up(folder: Path) -> None:
    dask_engine.MAX_RECONNECTS = 2
    with distributed.LocalCluster(
        n_workers=0,
        processes=False,
        dashboard_address="127.0.0.1:0",
        host="127.0.0.1",
        protocol="tcp://",
    ) as cluster:
        port = int(cluster.scheduler_address.rsplit(":", 1)[1])
        with cutting_proxy(port) as (middle, cuts):
            said = r"was lost 3 times in a row; look at the log .* then 'linkwright study resume "
            with pytest.raises(lw.LinkwrightError, match=said):
                begin(folder / "a", 100, 50, cluster=f"tcp://127.0.0.1:{middle}")
            assert cuts
    assert not load_study(folder / "a").is_complete
    assert resume_study(folder / "a").is_complete
    check_same(folder / "a", 100)


def check_that_a_scheduler_that_is_not_there_is_a_sentence(folder: Path) -> None:
    with pytest.raises(lw.LinkwrightError, match="does not answer"):
        begin(folder / "a", 100, 50, cluster=f"tcp://127.0.0.1:{free_port()}")
    assert resume_study(folder / "a").is_complete


@contextmanager
def user_cluster(workers: int = 1) -> Iterator[distributed.LocalCluster]:
    """A cluster with two threads in a worker, inside of this process."""
    with distributed.LocalCluster(
        n_workers=workers, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0"
    ) as cluster:
        yield cluster


def wait_until_tasks_are_released(client: distributed.Client) -> None:
    """Wait until the scheduler keeps no task of a study."""
    end = time.monotonic() + 60
    while [one for one in client.run_on_scheduler(known_tasks) if one.startswith("block-")]:
        assert time.monotonic() < end, "the study has left tasks"
        time.sleep(0.1)


def known_tasks(dask_scheduler: distributed.Scheduler) -> list[str]:
    return [str(one) for one in dask_scheduler.tasks]


def check_that_a_cluster_and_a_client_of_the_user_are_used_and_left_alone(folder: Path) -> None:
    with user_cluster() as cluster, distributed.Client(cluster, set_as_default=False) as client:
        for name, given in (("a", cluster), ("b", client)):
            begin(folder / name, 400, 20, cluster=given)
            check_same(folder / name, 400)
            assert client.status == "running"
            assert client.submit(sum, [1, 2]).result(timeout=60) == 3
            wait_until_tasks_are_released(client)


def check_that_a_cluster_that_starts_workers_for_tasks_is_not_refused(folder: Path) -> None:
    with user_cluster(0) as cluster:
        cluster.adapt(minimum=0, maximum=1, interval="100 ms")
        begin(folder / "a", 100, 20, cluster=cluster)
    check_same(folder / "a", 100)


def check_that_a_cluster_without_workers_is_a_sentence(folder: Path) -> None:
    vars(dask_engine)["START_SECONDS"] = 1
    said = "has had no workers for 1 seconds; start workers, then 'linkwright study resume"
    with user_cluster(0) as cluster, pytest.raises(lw.LinkwrightError, match=said):
        begin(folder / "a", 100, 20, cluster=cluster)


def check_that_workers_without_a_module_or_the_store_end_the_study(folder: Path) -> None:
    """Not a design is the reason: none is recorded as a failure, and the study goes on later."""
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    (folder / "own").mkdir()
    scheduler = ("--port", str(port), "--host", "127.0.0.1", "--no-dashboard")
    worker = (address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0")
    with dask_process("scheduler", *scheduler), dask_process("worker", *worker):
        wait_for_port(port)
        (folder / "own/masses.py").write_text("def twice(factors):\n    return 2 * factors['m2']\n")
        sys.path.append(str(folder / "own"))
        measure = {"own": "masses:twice"}
        given: dict[str, Any] = {"block": 5, "t": 0.05, "samples": 3, "count": 20}
        said = r"^the worker .* cannot take part: measure 'own': .* resume \S*a' continues$"
        with pytest.raises(lw.LinkwrightError, match=said):
            lw.study(ELBOW, VARY, measure, store=folder / "a", cluster=address, **given)
        assert count_blocks(folder / "a") == 0
        (folder / "a").rename(folder / "b")  # another machine, which does not have this folder
        (folder / "a").mkdir()
        with pytest.raises(lw.LinkwrightError, match=r"cannot take part: .*a: holds no study"):
            DaskEngine(StudyStore(FolderStorage(folder / "a"), load_study(folder / "b").recipe),
                       address, retries=1).run(iter(range(4)), print)  # fmt: skip
    found = resume_study(folder / "b")
    np.testing.assert_array_equal(found.data["own"], 2 * found.data["m2"])


def check_that_errors_of_the_cluster_are_not_those_of_designs(folder: Path) -> None:
    """Python is another version there, or has no linkwright: what dask says is no failure."""
    begin(folder / "a", 20, 10)
    (folder / "a/blocks/1.json").unlink()
    with user_cluster() as cluster, pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_engine, "make_block", BadImport())
        with pytest.raises(lw.LinkwrightError, match=r"take part: .*; install these versions of"):
            resume_study(folder / "a", cluster=cluster)
    assert count_blocks(folder / "a") == 1
    resume_study(folder / "a")
    check_same(folder / "a", 20)


class BadImport:
    """A function of a package that the others do not have."""

    def __call__(self, *given: object) -> None:
        raise NotImplementedError

    def __reduce__(self) -> tuple[object, ...]:
        return import_module, ("linkwright_of_another_version",)


def check_that_clients_that_cannot_be_used_are_a_sentence(folder: Path) -> None:
    with user_cluster() as cluster:
        client = distributed.Client(cluster, set_as_default=False)
        client.close()
        with pytest.raises(lw.LinkwrightError, match="cluster: the client is closed; connect a"):
            begin(folder / "a", 100, 20, cluster=client)
    with pytest.raises(lw.LinkwrightError, match="the cluster 42 does not answer"):
        begin(folder / "a", 100, 20, cluster=42)


def check_that_a_full_store_stops_workers_of_dask_with_one_sentence(folder: Path) -> None:
    with open_buckets(folder) as objects:
        fill_up(objects)
        said = r"^bucket://lab/arm: no space is left; free some; all finished blocks are kept"
        with pytest.raises(StorageFullError, match=said):
            resume_study(STORE, workers=2, cluster="local")
        check_that_it_goes_on(objects, "local", 2)


class ShellJob(ProcessInterface):
    """A job as those of dask-jobqueue: a command that some queue starts, later and elsewhere."""

    def __init__(self, scheduler: str, name: object = None, **options: object) -> None:
        super().__init__(scheduler=scheduler, name=name)
        self.scheduler, self.name = scheduler, name

    async def start(self) -> None:
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0"]
        program = "import sys; from distributed.cli.dask_worker import main; main(sys.argv[1:])"
        words = [sys.executable, "-c", program, self.scheduler, *options, "--name", str(self.name)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        silent = subprocess.DEVNULL
        self.process = subprocess.Popen(words, env=environment, stdout=silent, stderr=silent)
        await super().start()

    async def close(self) -> None:
        self.process.kill()
        self.process.wait()
        await super().close()


def check_that_a_cluster_of_jobs_is_used_and_left_alone(folder: Path) -> None:
    """A SpecCluster whose workers a queue starts: one comes during the study, one is killed."""
    options = {"host": "127.0.0.1", "port": 0, "dashboard_address": "127.0.0.1:0"}
    with distributed.SpecCluster(
        scheduler={"cls": distributed.Scheduler, "options": options},
        worker={"cls": ShellJob, "options": {}},
    ) as cluster:
        cluster.scale(2)
        killed: list[int] = []

        def disturb() -> None:
            wait_for_blocks(folder / "a", 4)
            job = cluster.workers[0]
            job.process.kill()
            killed.append(job.process.wait())
            cluster.scale(3)

        thread = threading.Thread(target=disturb, daemon=True)
        thread.start()
        begin_paced(folder / "a", cluster=cluster)
        thread.join(60)
        assert killed == [-9]
        check_same(folder / "a", PACED)
        made = [json.loads(one.read_text())["worker"] for one in folder.glob("a/blocks/*.json")]
        assert len(set(made)) >= 2
        assert cluster.status == distributed.Status.running
        with distributed.Client(cluster, set_as_default=False) as client:
            assert client.submit(sum, [1, 2]).result(timeout=60) == 3
