"""Functions of a model on a GPU: kernels, their runtime, and kernels prepared beforehand."""

from ..readings.cuda.cuda_options import CudaOptions
from .cuda_model import CudaModel, compile_cuda_model
from .preparation import prepare_kernels

__all__ = ["CudaModel", "CudaOptions", "compile_cuda_model", "prepare_kernels"]
