"""`study`: many designs of a mechanism, their measures as one dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path

from ..errors import ArgumentError, UnsupportedError
from ..formulations import formulation_module
from ..mechanism import Mechanism, require_mechanism
from ..number_checks import check_whole_number
from ..simulation.settings import Settings
from ..types import VectorLike
from .design_tables import DesignTable, read_design_table
from .factors import read_factors
from .measures import ANALYSES, MeasureFunction, find_functions, read_measures
from .object_storage import MemoryStorage, ObjectStorage, open_storage
from .sampling_methods import choose_sampling
from .study_continuation import WorkerChoice, run_study
from .study_plan import StudyPlan, choose_block, learn_sizes, measure_rate
from .study_progress import show_preparation
from .study_recipe import StudyRecipe, check_settings
from .study_result import Study
from .study_store import RECIPE_KEY, StudyStore

RESERVED = ("status", "seed", "message", "design", "blocks", "zarr.json", "study.json")
"""Names that the store uses itself."""

AnalysisSettings = Mapping[str, object]
"""Keyword arguments of an analysis."""


def study(
    mechanism: Mechanism,
    vary: DesignTable,
    measure: Mapping[str, str | MeasureFunction],
    *,
    design: str | None = None,
    count: int | Mapping[str, int] | None = None,
    seed: int = 0,
    store: str | Path | None = None,
    block: int | None = None,
    workers: int = 1,
    cluster: object = None,
    retries: int = 3,
    progress: bool | None = None,
    t: float = 1.0,
    q0: VectorLike | None = None,
    qd0: VectorLike | None = None,
    torque: Mapping[str, object] | Sequence[float] | None = None,
    control: AnalysisSettings | None = None,
    by: str = "recursive",
    integrator: str = "dop853",
    rtol: float = 1e-9,
    atol: float = 1e-10,
    samples: int = 201,
    options: AnalysisSettings | None = None,
    kinematics: AnalysisSettings | None = None,
    inverse: AnalysisSettings | None = None,
    equilibria: AnalysisSettings | None = None,
    linearize: AnalysisSettings | None = None,
    linkage: AnalysisSettings | None = None,
) -> Study:
    """Evaluate many designs of a mechanism: what differs, and what is measured, by name.

    Designs are computed in blocks: as ensembles of compiled code in each worker, by several workers
    at a time. With a store, finished blocks are kept, and the same call, or `resume_study`,
    continues a study where it ended. A design that cannot be evaluated is a failure with a message.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    vary : mapping, table of pandas, or path of a .csv or .parquet file
        By factor a range (0.5, 1.5), a list of values, or a text: "0.5..1.5", "30deg..60deg",
        "normal(1, 0.1)", "loguniform(0.1, 10)". Factors are parameters ("m2"), starts ("q0.q1",
        "qd0.q1"), inputs ("torque.q1"), numbers of the controller ("control.kp"), formulations
        ("by") and integrators ("integrator"). A table has one design in each row.
    measure : mapping
        By name an expression ("max(abs(tau1))", "min(linkage.transmission_angle)") or a function,
        whose parameters are named run, kinematics, inverse, equilibria, linearize, linkage,
        mechanism, factors or seed. Functions also as "module:function".
    design : str, optional
        "grid", "random", "latin", "sobol", "saltelli" (for Sobol' indices), "morris" or "list"
        (default: "grid" if all factors are lists, else "sobol").
    count : int or mapping, optional
        Number of designs (default: 256); of a grid the levels of each range (default: 5); base
        points of "saltelli", trajectories of "morris".
    seed : int
        Seed of everything that is random; each design has its own, which follows from it.
    store : str or Path, optional
        Folder or fsspec address of the Zarr store (default: in memory).
    block : int, optional
        Designs in a block (default: as many as take about a second).
    workers : int
        Number of workers; 1 is this process with all its threads.
    cluster : object, optional
        "local" or "processes" of this machine, the address of a dask scheduler, or a cluster or
        client of dask.
    retries : int
        The number of times that a block is computed again if its worker ends.
    progress : bool, optional
        Show progress (default: on a terminal).
    t, q0, qd0, torque, by, integrator, rtol, atol, samples
        Those of `simulate`, for all designs.
    control : mapping, optional
        The recipe of a controller: {"controller": "pid", "reference": [0.5, 0], "kp": 100}.
    options : mapping, optional
        More arguments of `simulate`: step, max_step, events, stops, …
    kinematics, inverse, equilibria, linearize, linkage : mapping, optional
        Arguments of `solve_kinematics` ("motion", "t"), `solve_inverse`, `equilibria`,
        `linearize` and `analyze_linkage`, for measures of these.

    Returns
    -------
    Study
        The results, `data` an xarray.Dataset, with analyses and plots.

    Examples
    --------
    >>> import linkwright as lw
    >>> measure = {"peak": "max(abs(dq1))"}
    >>> found = lw.study(lw.gallery("elbow"), {"m2": [1.0, 2.0]}, measure, t=0.1, samples=11)
    >>> found.data["peak"].shape
    (2,)
    """
    run = {"t": t, "q0": q0, "qd0": qd0, "torque": torque, "control": control, "by": by}
    run |= {"integrator": integrator, "rtol": rtol, "atol": atol, "samples": samples}
    analyses = {
        "run": {**run, **(options or {})},
        "kinematics": kinematics,
        "inverse": inverse,
        "equilibria": equilibria,
        "linearize": linearize,
        "linkage": linkage,
    }
    choice = WorkerChoice(workers, cluster, retries)
    require_mechanism(mechanism)
    sampling = design, count, seed
    with show_preparation(mechanism.name, progress):
        recipe, functions = prepare_recipe(mechanism, vary, measure, sampling, analyses)
        storage = MemoryStorage() if store is None else open_storage(store)
        if block is None:
            block = _kept_block(storage) or choose_block(
                recipe, measure_rate(recipe, functions, choice.threads), choice.block_workers
            )
    recipe = replace(recipe, block=check_whole_number(block, "block", 1))
    opened = StudyStore.create(storage, recipe)
    return run_study(opened, functions, choice, progress=progress)


def plan_study(
    mechanism: Mechanism,
    vary: DesignTable,
    measure: Mapping[str, str | MeasureFunction],
    **arguments: object,
) -> StudyPlan:
    """Return the designs, time and size of a study; a few designs are computed to measure them.

    Parameters
    ----------
    mechanism, vary, measure
        Those of `study`.
    **arguments
        The other arguments of `study`.

    Returns
    -------
    StudyPlan
        The plan.

    Examples
    --------
    >>> import linkwright as lw
    >>> arm, measure = lw.gallery("elbow"), {"end": "q1[-1]"}
    >>> plan = lw.studies.plan_study(arm, {"m2": (1.0, 2.0)}, measure, count=64, t=0.1, samples=3)
    >>> plan.count
    64
    """
    given = signature(study).bind(mechanism, vary, measure, **arguments)
    given.apply_defaults()
    chosen = given.arguments
    names = ("t", "q0", "qd0", "torque", "control", "by", "integrator", "rtol", "atol", "samples")
    run = {name: chosen[name] for name in names} | dict(chosen["options"] or {})
    analyses = {"run": run, **{name: chosen[name] for name in ANALYSES[1:]}}
    choice = WorkerChoice(chosen["workers"], chosen["cluster"], chosen["retries"])
    sampling = chosen["design"], chosen["count"], chosen["seed"]
    recipe, functions = prepare_recipe(mechanism, vary, measure, sampling, analyses)
    rate, block = measure_rate(recipe, functions, choice.threads), chosen["block"]
    recipe = replace(recipe, block=block or choose_block(recipe, rate, choice.block_workers))
    store = StudyStore(MemoryStorage(), recipe)
    blocks = recipe.block_count
    objects = blocks * (len(store.arrays) + 1) + len(store.all_arrays) + 2
    size = store.bytes_per_block * blocks
    return StudyPlan(recipe.count, recipe.block, blocks, rate, choice.block_workers, size, objects)


def prepare_recipe(
    mechanism: Mechanism,
    vary: DesignTable,
    measure: Mapping[str, str | MeasureFunction],
    sampling: tuple[str | None, int | Mapping[str, int] | None, int],
    analyses: Mapping[str, AnalysisSettings | None],
) -> tuple[StudyRecipe, dict[str, MeasureFunction]]:
    """Return the checked recipe of a study, without the size of blocks, and its functions."""
    require_mechanism(mechanism)
    design, count, seed = sampling
    columns = read_design_table(vary)
    if columns is not None:
        vary, design = columns, design or "list"
    measures, functions = read_measures(measure)
    control = (analyses["run"] or {}).get("control")
    factors = read_factors(mechanism, vary, control)  # type: ignore[arg-type]
    chosen, factors = choose_sampling(factors, design, count, seed)
    settings = {
        name: check_settings(name, given) for name, given in analyses.items() if given is not None
    }
    recipe = StudyRecipe(mechanism, factors, chosen, measures, settings)
    _check_recipe(recipe)
    functions = find_functions(measures, functions)
    recipe = learn_sizes(recipe, functions)
    _check_dimension_names(recipe)
    return recipe, functions


def _kept_block(storage: ObjectStorage) -> int | None:
    """Return the size of blocks of a study that has begun."""
    kept = storage.read(RECIPE_KEY)
    if kept is None:
        return None
    return StudyRecipe.from_text(kept.decode(errors="replace"), storage.address).block


def _check_recipe(recipe: StudyRecipe) -> None:
    """Raise for names that occur twice, unknown formulations and integrators."""
    names = [one.name for one in recipe.factors] + [one.name for one in recipe.measures]
    for name in names:
        if name in RESERVED:
            raise ArgumentError(f"'{name}' is the name of a result", remedy="rename the measure")
        if names.count(name) > 1:
            raise ArgumentError(
                f"'{name}' is the name of a factor and of a measure", remedy="rename the measure"
            )
    targets = [(one.table, one.key) for one in recipe.factors]
    for one in recipe.factors:
        twin = recipe.factors[targets.index((one.table, one.key))]
        if twin is not one:
            raise ArgumentError(
                f"the factors '{twin.name}' and '{one.name}' are the same quantity",
                remedy="leave one out",
            )
    run = recipe.settings.get("run", {})
    if "control" in run and ("torque" in run or any(x.table == "torque" for x in recipe.factors)):
        raise ArgumentError("control and torque exclude each other", remedy="give one of them")
    for one in recipe.factors:
        for level in one.levels if one.table in ("by", "integrator") else ():
            if one.table == "by":
                reason = formulation_module(str(level)).supports(recipe.mechanism)
                if reason is not None:
                    raise UnsupportedError(
                        f"the formulation '{level}' cannot treat {recipe.mechanism.name}: {reason}",
                        where=f"vary '{one.name}'",
                    )
            else:
                Settings(integrator=str(level))


def _check_dimension_names(recipe: StudyRecipe) -> None:
    """Raise for a factor or measure with the name of the second dimension of a measure."""
    names = {one.name for one in recipe.factors} | {one.name for one in recipe.measures}
    for measure, size in recipe.sizes.items():
        dimension = recipe.dimension_name(measure)
        if size and dimension in names:
            raise ArgumentError(
                f"'{dimension}' is the name of a dimension of the measure '{measure}'",
                remedy=f"rename '{dimension}'",
            )
