"""Functions of ggml that llama_cpp does not declare: its devices, and the headers of GGUF files.

Imported only inside the child process.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import llama_cpp
from llama_cpp.llama_cpp import _lib

ggml = _lib
"""The library that was loaded; a search for a function includes the libraries that it needs."""
_POINTER, _TEXT, _SIZE, _NUMBER = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int64
_SEPARATE = ("cuda", "hip", "metal", "opencl", "sycl", "vulkan")


class GgufReading(ctypes.Structure):
    """`gguf_init_params`: with neither memory nor a context, only the header is read."""

    _fields_ = (("no_alloc", ctypes.c_bool), ("context", ctypes.c_void_p))


for _name, _result, _arguments in (
    ("ggml_backend_load", _POINTER, (_TEXT,)),
    ("ggml_backend_load_all_from_path", None, (_TEXT,)),
    ("ggml_backend_reg_count", _SIZE, ()),
    ("ggml_backend_reg_get", _POINTER, (_SIZE,)),
    ("ggml_backend_reg_name", _TEXT, (_POINTER,)),
    ("ggml_backend_dev_count", _SIZE, ()),
    ("ggml_backend_dev_get", _POINTER, (_SIZE,)),
    ("ggml_backend_dev_by_name", _POINTER, (_TEXT,)),
    ("ggml_backend_dev_name", _TEXT, (_POINTER,)),
    ("ggml_backend_dev_description", _TEXT, (_POINTER,)),
    ("ggml_backend_dev_type", ctypes.c_int, (_POINTER,)),
    ("ggml_backend_dev_memory", None, (_POINTER, ctypes.POINTER(_SIZE), ctypes.POINTER(_SIZE))),
    ("gguf_init_from_file", _POINTER, (_TEXT, GgufReading)),
    ("gguf_free", None, (_POINTER,)),
    ("gguf_find_key", _NUMBER, (_POINTER, _TEXT)),
    ("gguf_get_kv_type", ctypes.c_int, (_POINTER, _NUMBER)),
    ("gguf_get_val_u32", ctypes.c_uint32, (_POINTER, _NUMBER)),
    ("gguf_get_val_str", _TEXT, (_POINTER, _NUMBER)),
    ("gguf_get_n_tensors", _NUMBER, (_POINTER,)),
    ("gguf_get_tensor_name", _TEXT, (_POINTER, _NUMBER)),
    ("gguf_get_tensor_size", _SIZE, (_POINTER, _NUMBER)),
):
    _function = getattr(ggml, _name)
    _function.restype, _function.argtypes = _result, _arguments


def load_backends() -> None:
    """Load back ends that are libraries of their own, in the folder of llama.cpp's (`GGML_BACKEND_DL`)."""
    folder = Path(os.environ.get("LLAMA_CPP_LIB_PATH") or Path(llama_cpp.__file__).parent / "lib")
    if not ggml.ggml_backend_reg_count():
        ggml.ggml_backend_load_all_from_path(os.fsencode(folder))
    loaded_backends = {name.lower() for name in backend_names()}
    for path in sorted(folder.glob("*ggml-*")):
        name = path.name.partition("ggml-")[2].partition(".")[0]
        if name in _SEPARATE and name not in loaded_backends and ggml.ggml_backend_load(os.fsencode(path)):
            loaded_backends.add(name)


def backend_names() -> list[str]:
    """The names of the loaded back ends, such as `CPU` and `Vulkan`."""
    registered = (ggml.ggml_backend_reg_get(i) for i in range(ggml.ggml_backend_reg_count()))
    return [ggml.ggml_backend_reg_name(each).decode() for each in registered]
