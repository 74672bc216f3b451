"""Runs kernels on a GPU. This package imports only NumPy and CuPy.

`prepare_kernels` copies it beside the kernels as `linkwright_cuda`, so that a machine without
Linkwright can run them.
"""

from .device_arrays import DeviceArray
from .device_function import DeviceFunction
from .prepared_kernels import PreparedKernels, load_prepared_kernels

__all__ = ["DeviceArray", "DeviceFunction", "PreparedKernels", "load_prepared_kernels"]
