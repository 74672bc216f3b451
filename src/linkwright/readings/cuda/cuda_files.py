"""The files of an export to CUDA: kernels, and a host program that checks and times them."""

from __future__ import annotations

from collections.abc import Sequence

from ..targets.c_code import c_number, describe_c_function, write_c_comment
from ..targets.exported_code import ExportedCode, ExportedFunction
from .cuda_options import CudaOptions
from .state_function import CudaFunction
from .tape_kernels import plan_row_staging, write_cuda_source

_HOST_HEAD = """\
#include "{stem}.cu"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

static void require(cudaError_t status)
{{
    if (status != cudaSuccess) {{
        printf("%s\\n", cudaGetErrorString(status));
        exit(2);
    }}
}}

/* An array on the GPU: one state, repeated `count` times in rows or in columns. */
static real *repeat_state(const double *state, int size, lw_int count, bool in_rows)
{{
    std::vector<real> all(size*count);
    for (lw_int i = 0; i < count; ++i)
        for (int k = 0; k < size; ++k)
            all[in_rows ? i*size + k : k*count + i] = (real)state[k];
    real *found;
    require(cudaMalloc(&found, all.size()*sizeof(real)));
    require(cudaMemcpy(found, all.data(), all.size()*sizeof(real), cudaMemcpyHostToDevice));
    return found;
}}

static int check_values(const char *what, const real *array, const double *wanted, int size,
                        lw_int count, bool in_rows)
{{
    std::vector<real> all(size*count);
    require(cudaMemcpy(all.data(), array, all.size()*sizeof(real), cudaMemcpyDeviceToHost));
    double error = 0, largest = 1;
    for (lw_int i = 0; i < count; ++i)
        for (int k = 0; k < size; ++k) {{
            const double distance =
                fabs((double)all[in_rows ? i*size + k : k*count + i] - wanted[k]);
            error = distance > error || distance != distance ? distance : error;
            largest = fabs(wanted[k]) > largest ? fabs(wanted[k]) : largest;
        }}
    const int failed = !(error <= {tolerance} * largest);
    if (failed)
        printf("%s: error %.1e, largest entry %.1e\\n", what, error, largest);
    return failed;
}}
"""

_LAUNCH = """\
    for (int in_rows = 0; in_rows < 2; ++in_rows) {{
{arrays}
        const int block = in_rows ? {rows} : {columns};
        const unsigned grid = (unsigned)((count + block - 1)/block);
        cudaEvent_t start, end;
        require(cudaEventCreate(&start));
        require(cudaEventCreate(&end));
        float best = 1e30f;
        for (int trial = 0; trial < 10; ++trial) {{
            require(cudaEventRecord(start));
            if (in_rows)
                {name}_rows<<<grid, block>>>(count, {given});
            else
                {name}_columns<<<grid, block>>>(count, {given});
            require(cudaEventRecord(end));
            require(cudaEventSynchronize(end));
            float time;
            require(cudaEventElapsedTime(&time, start, end));
            best = time < best ? time : best;
        }}
        require(cudaGetLastError());
        printf("{name} in %s: %.3g states/s\\n", in_rows ? "rows" : "columns", count/(best*1e-3));
{checks}
{frees}
    }}
"""


def write_cuda_files(code: ExportedCode) -> tuple[dict[str, str], str]:
    """Return the texts of the files by name, and how they are compiled."""
    stem, options = code.stem, CudaOptions(code.precision)
    functions = [CudaFunction(function.identifier, function.tape) for function in code.functions]
    heading = write_c_comment([*code.heading, "", *_describe_kernels()])
    size = options.item_bytes
    about = [
        line
        for function in code.functions
        for line in write_c_comment([function.identifier, "", *describe_c_function(function, size)])
    ]
    source = "\n".join([*heading, *about, write_cuda_source(functions, options)])
    files = {f"{stem}.cu": source, f"{stem}_example.cu": _write_example(code, options)}
    return files, f"nvcc -O3 -arch=native {stem}_example.cu -o example && ./example\n"


def _describe_kernels() -> Sequence[str]:
    return [
        "NAME_rows(count, inputs, outputs) takes a state in each row, NAME_columns one in each",
        "column; matrices are stored by rows. Threads of a block: see __launch_bounds__; the grid",
        "has as many blocks as the states need. Any number of states is allowed.",
    ]


def _write_example(code: ExportedCode, options: CudaOptions) -> str:
    """Return the host program: each kernel on a million states, checked and timed."""
    checked = [function for function in code.functions if function.reference is not None]
    lines = [
        *write_c_comment([*code.heading, "", "Runs every kernel, checks it and prints its speed."]),
        _HOST_HEAD.format(stem=code.stem, tolerance=c_number(code.tolerance)),
    ]
    for function in checked:
        lines += _write_trial(function, options)
    lines += ["int main(int count, char **words)", "{"]
    lines += [
        "    const lw_int states = count > 1 ? atoll(words[1]) : 1 << 20;",
        "    int failures = 0;",
    ]
    lines += [f"    failures += try_{function.identifier}(states);" for function in checked]
    lines += ['    printf("%d failures\\n", failures);', "    return failures != 0;", "}", ""]
    return "\n".join(lines)


def _write_trial(function: ExportedFunction, options: CudaOptions) -> list[str]:
    """Return the function that runs, checks and times the kernels of a function."""
    assert function.reference is not None
    name, values = function.identifier, []
    pairs = zip(
        (*function.inputs, *function.outputs),
        (*function.reference.inputs, *function.reference.outputs),
        strict=True,
    )
    for note, numbers in pairs:
        texts = ", ".join(c_number(x) for x in numbers)
        values.append(f"    static const double {note.name}[] = {{{texts}}};")
    arrays, frees, checks = [], [], []
    for k, note in enumerate((*function.inputs, *function.outputs)):
        size = note.port.size
        is_input = k < len(function.inputs)
        start = note.name if is_input else f"nan_{note.name}.data()"
        if not is_input:
            arrays.append(f"        std::vector<double> nan_{note.name}({size}, NAN);")
            what = f'"{name}: {note.name}"'
            given = f"{what}, on_{note.name}, {note.name}, {size}, count, in_rows"
            checks.append(f"        failures += check_values({given});")
        arrays.append(
            f"        real *on_{note.name} = repeat_state({start}, {size}, count, in_rows);"
        )
        frees.append(f"        require(cudaFree(on_{note.name}));")
    kernels = CudaFunction(name, function.tape)
    launch = _LAUNCH.format(
        arrays="\n".join(arrays),
        rows=plan_row_staging(kernels, options).block,
        columns=kernels.block(options),
        name=name,
        given=", ".join(f"on_{note.name}" for note in (*function.inputs, *function.outputs)),
        checks="\n".join(checks),
        frees="\n".join(frees),
    )
    return [
        f"static int try_{name}(const lw_int count)",
        "{",
        "    int failures = 0;",
        *values,
        launch + "    return failures;",
        "}",
        "",
    ]
