"""Handlers by which XLA calls compiled tapes, as machine code: JAX needs no compiler and no copies.

A handler follows XLA's foreign function interface (`xla/ffi/api/c_api.h`, in jaxlib). XLA calls it
with a frame that lists buffers of inputs and outputs. Every buffer has leading axes over states, all
of them the same, and then the axes of its port.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...ports import Port
from ...tape import Tape
from .code_loader import LoadedCode, load_object_code
from .ir_compiler import compile_ir
from .target import host_target

_FRAME = {"extension": 8, "api": 16, "context": 24, "inputs": 72, "outputs": 112}
"""Offsets in XLA_FFI_CallFrame."""
_BUFFER = {"data": 24, "rank": 32, "lengths": 40}
"""Offsets in XLA_FFI_Buffer."""
_API = {"version": 32, "create_error": 48, "get_stream": 80}
"""Offsets in XLA_FFI_Api."""
_INTERNAL_ERROR = 13
"""XLA_FFI_Error_Code_INTERNAL."""
_LAUNCH_FAILED = "Linkwright: cuLaunchKernel refused the kernel; its outputs were not written"


def address_constant(address: int) -> str:
    """Return an address as a constant of LLVM IR."""
    return f"inttoptr (i64 {address} to ptr)"


def load_processor_handler(tape: Tape, item_bytes: int, loop: int, threads: int) -> LoadedCode:
    """Return a handler that calls the loop of a tape at the address `loop`.

    `threads` is the address of an integer: how many threads the loop may use.
    """
    text = write_handler_ir(
        tape.inputs,
        tape.outputs,
        _call_loop_ir(
            tape.inputs,
            tape.outputs,
            item_bytes,
            address_constant(loop),
            address_constant(threads),
        ),
    )
    return load_object_code(compile_ir(text, host_target()))


def load_device_handler(tape: Tape, block: int, kernel: int, launch: int) -> LoadedCode:
    """Return a handler that launches the row kernel of a tape on XLA's stream.

    `kernel` is a CUfunction with blocks of `block` threads, `launch` the address of cuLaunchKernel.
    """
    call = launch_kernel_ir(
        len(tape.inputs) + len(tape.outputs),
        block,
        address_constant(kernel),
        address_constant(launch),
    )
    text = write_handler_ir(tape.inputs, tape.outputs, call)
    return load_object_code(compile_ir(text, host_target()))


def write_handler_ir(inputs: Sequence[Port], outputs: Sequence[Port], call: str) -> str:
    """Return the module of a handler `loop(frame)`.

    `call` computes from %frame, %count (the number of states) and %data (addresses of inputs and
    outputs), and ends in a branch to %done.
    """
    ports = [*((k, "inputs") for k in range(len(inputs)))]
    ports += [(k, "outputs") for k in range(len(outputs))]
    loads = "\n".join(_load_buffer_ir(n, k, side) for n, (k, side) in enumerate(ports))
    last = len(ports) - 1
    return f"""
@launch.failed = private constant [{len(_LAUNCH_FAILED) + 1} x i8] c"{_LAUNCH_FAILED}\\00"

define ptr @loop(ptr %frame) {{
entry:
  %data = alloca [{len(ports)} x ptr]
  %stride = alloca [{3 * len(ports)} x i64]
  %counts = alloca [1 x i64]
  %p.extension = getelementptr i8, ptr %frame, i64 {_FRAME["extension"]}
  %extension = load ptr, ptr %p.extension
  %is.plain = icmp eq ptr %extension, null
  br i1 %is.plain, label %compute, label %extended
extended:
  %p.type = getelementptr i8, ptr %extension, i64 8
  %type = load i32, ptr %p.type
  %is.metadata = icmp eq i32 %type, 1
  br i1 %is.metadata, label %metadata, label %compute
metadata:
  %p.api = getelementptr i8, ptr %frame, i64 {_FRAME["api"]}
  %api.meta = load ptr, ptr %p.api
  %p.version = getelementptr i8, ptr %api.meta, i64 {_API["version"]}
  %version = load i64, ptr %p.version
  %p.metadata = getelementptr i8, ptr %extension, i64 24
  %about = load ptr, ptr %p.metadata
  %p.own = getelementptr i8, ptr %about, i64 24
  store i64 %version, ptr %p.own
  %p.traits = getelementptr i8, ptr %about, i64 32
  store i32 1, ptr %p.traits
  ret ptr null
compute:
  %p.inputs = getelementptr i8, ptr %frame, i64 {_FRAME["inputs"]}
  %inputs = load ptr, ptr %p.inputs
  %p.outputs = getelementptr i8, ptr %frame, i64 {_FRAME["outputs"]}
  %outputs = load ptr, ptr %p.outputs
{loads}
  %p.rank = getelementptr i8, ptr %buffer{last}, i64 {_BUFFER["rank"]}
  %rank = load i64, ptr %p.rank
  %leading = sub i64 %rank, {len(outputs[-1].shape)}
  %p.lengths = getelementptr i8, ptr %buffer{last}, i64 {_BUFFER["lengths"]}
  %lengths = load ptr, ptr %p.lengths
  br label %axis
axis:
  %a = phi i64 [0, %compute], [%a.next, %length]
  %product = phi i64 [1, %compute], [%product.next, %length]
  %is.end = icmp sge i64 %a, %leading
  br i1 %is.end, label %counted, label %length
length:
  %p.length = getelementptr i64, ptr %lengths, i64 %a
  %one.length = load i64, ptr %p.length
  %product.next = mul i64 %product, %one.length
  %a.next = add i64 %a, 1
  br label %axis
counted:
  %count = add i64 %product, 0
  %is.empty = icmp eq i64 %count, 0
  br i1 %is.empty, label %done, label %call
call:
{call}
done:
  ret ptr null
}}
"""


def _load_buffer_ir(number: int, index: int, side: str) -> str:
    """Stores the address of the data of a buffer in %data."""
    return f"""  %p.buffer{number} = getelementptr ptr, ptr %{side}, i64 {index}
  %buffer{number} = load ptr, ptr %p.buffer{number}
  %p.data{number} = getelementptr i8, ptr %buffer{number}, i64 {_BUFFER["data"]}
  %data{number} = load ptr, ptr %p.data{number}
  %slot{number} = getelementptr ptr, ptr %data, i64 {number}
  store ptr %data{number}, ptr %slot{number}"""


def _call_loop_ir(
    inputs: Sequence[Port], outputs: Sequence[Port], item: int, loop: str, threads: str
) -> str:
    """The call of a ufunc's loop: rows lie behind each other."""
    ports = [*inputs, *outputs]
    strides = [item * port.size for port in ports]
    for port in ports:
        strides += [item * math.prod(port.shape[k + 1 :]) for k in range(len(port.shape))]
    stores = "\n".join(
        f"  %s{k} = getelementptr i64, ptr %stride, i64 {k}\n  store i64 {value}, ptr %s{k}"
        for k, value in enumerate(strides)
    )
    return f"""{stores}
  store i64 %count, ptr %counts
  call void {loop}(ptr %data, ptr %counts, ptr %stride, ptr {threads})
  br label %done"""


def launch_kernel_ir(ports: int, block: int, kernel: str, launch: str) -> str:
    """Return the call of cuLaunchKernel(function, grid, block, 0, stream, arguments, null), with an
    error for XLA where it fails."""
    arguments = "\n".join(
        f"  %to{k} = getelementptr ptr, ptr %list, i64 {k + 1}\n  store ptr %slot{k}, ptr %to{k}"
        for k in range(ports)
    )
    return f"""  %request = alloca [4 x i64]
  %list = alloca [{ports + 1} x ptr]
  store i64 %count, ptr %counts
  store ptr %counts, ptr %list
{arguments}
  store i64 32, ptr %request
  %r1 = getelementptr i64, ptr %request, i64 1
  store i64 0, ptr %r1
  %p.context = getelementptr i8, ptr %frame, i64 {_FRAME["context"]}
  %context = load i64, ptr %p.context
  %r2 = getelementptr i64, ptr %request, i64 2
  store i64 %context, ptr %r2
  %p.api.call = getelementptr i8, ptr %frame, i64 {_FRAME["api"]}
  %api.call = load ptr, ptr %p.api.call
  %p.get = getelementptr i8, ptr %api.call, i64 {_API["get_stream"]}
  %get = load ptr, ptr %p.get
  %error = call ptr %get(ptr %request)
  %has.error = icmp ne ptr %error, null
  br i1 %has.error, label %fail, label %launch
fail:
  ret ptr %error
launch:
  %r3 = getelementptr i64, ptr %request, i64 3
  %stream = load ptr, ptr %r3
  %rounded = add i64 %count, {block - 1}
  %blocks = udiv i64 %rounded, {block}
  %grid = trunc i64 %blocks to i32
  %status = call i32 {launch}(ptr {kernel}, i32 %grid, i32 1, i32 1, i32 {block}, i32 1, i32 1, i32 0, ptr %stream, ptr %list, ptr null)
  %is.launched = icmp eq i32 %status, 0
  br i1 %is.launched, label %done, label %refused
refused:
  %complaint = alloca [4 x i64]
  store i64 32, ptr %complaint
  %c1 = getelementptr i64, ptr %complaint, i64 1
  store i64 0, ptr %c1
  %c2 = getelementptr i64, ptr %complaint, i64 2
  store ptr @launch.failed, ptr %c2
  %c3 = getelementptr i64, ptr %complaint, i64 3
  store i64 {_INTERNAL_ERROR}, ptr %c3
  %p.create = getelementptr i8, ptr %api.call, i64 {_API["create_error"]}
  %create = load ptr, ptr %p.create
  %refusal = call ptr %create(ptr %complaint)
  ret ptr %refusal"""
