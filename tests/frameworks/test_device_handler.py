"""The handler that launches kernels for XLA, called with frames laid out as in XLA's c_api.h: what it
passes to cuLaunchKernel, and that a launch that fails is an error, not outputs that were never written."""

from __future__ import annotations

import ctypes
from ctypes import c_int, c_int32, c_int64, c_size_t, c_uint, c_void_p

import linkwright as lw
from linkwright.readings.llvm.xla_handler import load_device_handler

KERNEL, STREAM, CONTEXT, ERROR = 0x1230, 0x4560, 0x7890, 0xABC0
BLOCK, COUNT = 64, 130


def structure(name: str, *fields: tuple[str, type]) -> type[ctypes.Structure]:
    """A structure of XLA's interface, each of which begins with its size and its extension."""
    head = [("struct_size", c_size_t), ("extension_start", c_void_p)]
    return type(name, (ctypes.Structure,), {"_fields_": [*head, *fields]})


Version = structure("Version", ("major", c_int), ("minor", c_int))
Api = structure(
    "Api", ("version", Version), ("internal", c_void_p), ("create_error", c_void_p),
    ("get_message", c_void_p), ("destroy_error", c_void_p), ("register", c_void_p),
    ("get_stream", c_void_p),
)  # fmt: skip
ErrorRequest = structure("ErrorRequest", ("message", ctypes.c_char_p), ("code", c_int))
StreamRequest = structure("StreamRequest", ("context", c_void_p), ("stream", c_void_p))
Buffer = structure("Buffer", ("type", c_int), ("data", c_void_p), ("rank", c_int64), ("dims", c_void_p))  # fmt: skip
Buffers = structure("Buffers", ("size", c_int64), ("types", c_void_p), ("list", c_void_p))
Frame = structure(
    "Frame", ("api", c_void_p), ("context", c_void_p), ("stage", c_int), ("inputs", Buffers),
    ("outputs", Buffers),
)  # fmt: skip

GetStream = ctypes.CFUNCTYPE(c_void_p, ctypes.POINTER(StreamRequest))
CreateError = ctypes.CFUNCTYPE(c_void_p, ctypes.POINTER(ErrorRequest))
Launch = ctypes.CFUNCTYPE(
    c_int32, c_void_p, *[c_uint] * 7, c_void_p, ctypes.POINTER(c_void_p), c_void_p
)


class FakeDevice:
    """Stands for XLA and CUDA: it keeps what the handler asks for."""

    def __init__(self, status: int) -> None:
        self.status = status
        self.launches: list[tuple[int, ...]] = []
        self.counts: list[int] = []
        self.data: list[list[int]] = []
        self.errors: list[tuple[bytes, int]] = []
        self.get_stream = GetStream(self.on_get_stream)
        self.create_error = CreateError(self.on_create_error)
        self.launch = Launch(self.on_launch)

    def on_get_stream(self, request) -> int:
        assert request.contents.context == CONTEXT
        request.contents.stream = STREAM
        return 0

    def on_create_error(self, request) -> int:
        self.errors.append((request.contents.message, request.contents.code))
        return ERROR

    def on_launch(self, kernel, *rest) -> int:
        *sizes, stream, arguments, extra = rest
        self.launches.append((kernel, *sizes, stream, extra or 0))
        self.counts.append(ctypes.cast(arguments[0], ctypes.POINTER(c_int64))[0])
        self.data.append(
            [ctypes.cast(arguments[k], ctypes.POINTER(c_int64))[0] for k in range(1, 5)]
        )
        return self.status


def call_handler(device: FakeDevice, count: int) -> int | None:
    """The handler's answer for inverse dynamics of elbow with inputs (count, 2)."""
    tape = lw.compile(lw.gallery("elbow")).tape("inverse_dynamics")
    address = ctypes.cast(device.launch, c_void_p).value
    assert address is not None
    code = load_device_handler(tape, BLOCK, KERNEL, address)
    dims = (c_int64 * 2)(count, 2)
    buffers = [Buffer(data=0x1000 * (k + 1), rank=2, dims=ctypes.addressof(dims)) for k in range(4)]
    pointers = [(c_void_p * 3)(*map(ctypes.addressof, buffers[:3]))]
    pointers.append((c_void_p * 1)(ctypes.addressof(buffers[3])))
    api = Api(
        get_stream=ctypes.cast(device.get_stream, c_void_p),
        create_error=ctypes.cast(device.create_error, c_void_p),
    )
    frame = Frame(
        api=ctypes.addressof(api),
        context=CONTEXT,
        inputs=Buffers(size=3, list=ctypes.addressof(pointers[0])),
        outputs=Buffers(size=1, list=ctypes.addressof(pointers[1])),
    )
    handler = ctypes.CFUNCTYPE(c_void_p, c_void_p)(code.address)
    return handler(ctypes.addressof(frame))


def test_launch_covers_all_states_on_the_stream_of_xla() -> None:
    device = FakeDevice(status=0)
    assert call_handler(device, COUNT) is None
    assert device.launches == [(KERNEL, 3, 1, 1, BLOCK, 1, 1, 0, STREAM, 0)]
    assert device.counts == [COUNT]
    assert device.data == [[0x1000, 0x2000, 0x3000, 0x4000]]
    assert not device.errors


def test_failed_launch_is_an_error() -> None:
    device = FakeDevice(status=701)
    assert call_handler(device, COUNT) == ERROR
    assert device.errors == [
        (b"Linkwright: cuLaunchKernel refused the kernel; its outputs were not written", 13)
    ]


def test_no_state_needs_no_launch() -> None:
    device = FakeDevice(status=701)
    assert call_handler(device, 0) is None
    assert not device.launches
