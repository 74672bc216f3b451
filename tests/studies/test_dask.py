"""Studies on dask, each check in a process of its own.

A cluster has threads and sockets that end when they like; here they end with their process, which
has a time limit.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("distributed")

CHECKS = [
    "workers_of_dask_may_be_killed",
    "a_scheduler_that_is_restarted_loses_nothing",
    "a_scheduler_that_fails_again_and_again_is_given_up",
    "a_scheduler_that_is_not_there_is_a_sentence",
    "a_cluster_and_a_client_of_the_user_are_used_and_left_alone",
    "a_cluster_that_starts_workers_for_tasks_is_not_refused",
    "a_cluster_without_workers_is_a_sentence",
    "workers_without_a_module_or_the_store_end_the_study",
    "errors_of_the_cluster_are_not_those_of_designs",
    "clients_that_cannot_be_used_are_a_sentence",
    "a_full_store_stops_workers_of_dask_with_one_sentence",
    "a_cluster_of_jobs_is_used_and_left_alone",
]
LIMIT = 420
"""Seconds: a check takes about ten on an idle machine."""


def test_every_check_is_listed() -> None:
    text = Path(__file__).with_name("dask_checks.py").read_text(encoding="utf-8")
    assert text.count("def check_that_") == len(CHECKS)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
def test_a_study_on_dask(name: str, tmp_path: Path) -> None:
    program = "import sys; from tests.studies import dask_checks; dask_checks.run(*sys.argv[1:])"
    command = [sys.executable, "-c", program, f"check_that_{name}", str(tmp_path)]
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, *filter(None, sys.path)])}
    said = tmp_path / "said.txt"
    with said.open("wb") as file:
        process = subprocess.Popen(
            command, env=environment, stdout=file, stderr=file, start_new_session=True
        )
        try:
            code = process.wait(LIMIT)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # it and all that it has started
            process.wait()
    assert code == 0, said.read_text(errors="replace")[-4000:]
