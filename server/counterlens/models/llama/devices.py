"""Devices of llama.cpp besides the processor, and the number of layers to offload to them.

llama.cpp counts the layers of a model and its output matrix, and offloads the last ones: `n` of them are the
output and the last `n - 1` layers. Token embeddings stay with the processor.

"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from counterlens.errors import ModelError
from counterlens.models.base import PROCESSOR

MARGIN = 1 << 30
"""Bytes of each device that `auto` leaves free: for llama.cpp's compute buffers, and the screen."""

_PROCESSOR = frozenset({"CPU", "BLAS", "AMX"})  # back ends without memory of their own
_GPU, _INTEGRATED = 1, 2  # `ggml_backend_dev_type`
_NO_BUILD = "docs/installing.md says how to get a build that has one; or leave the GPU layers at auto"
_NO_DEVICE = "Check its driver, and that `counterlens doctor` lists it; or leave the GPU layers at auto"


@dataclass(frozen=True, slots=True)
class Device:
    """A device that can hold layers.

    Attributes:
        name: llama.cpp's name, such as `CUDA0`.
        description: The product, such as `NVIDIA GeForce RTX 3060`.
        free: Free memory, in bytes.
        total: All of its memory, in bytes.
        integrated: Whether it shares the processor's memory.
    """

    name: str
    description: str
    free: int
    total: int
    integrated: bool = False

    def __str__(self) -> str:
        return f"{self.name} ({self.description})" if self.description else self.name


@dataclass(frozen=True, slots=True)
class Hardware:
    """What a build of llama.cpp can offload to on this machine.

    Attributes:
        backends: Its back ends, without those of the processor, such as `CUDA`.
    """

    backends: tuple[str, ...] = ()
    devices: tuple[Device, ...] = ()

    @property
    def used(self) -> tuple[Device, ...]:
        """The devices to offload to: integrated ones only if there are no others, as llama.cpp does."""
        return tuple(each for each in self.devices if not each.integrated) or self.devices

    @property
    def lack(self) -> str:
        """Why no layers can be offloaded; empty if there is a device."""
        if self.devices:
            return ""
        if not self.backends:
            return "this build of llama.cpp has no back end for graphics processors"
        return f"llama.cpp finds no device for {' or '.join(self.backends)} on this machine"


@dataclass(frozen=True, slots=True)
class Offload:
    """Where a model is computed.

    Attributes:
        count: Number of offloaded layers, counted as llama.cpp does.
        of: Number of layers that the model has, counted in the same way.
        devices: The devices that hold them; empty for the processor alone.
        reason: Without offloaded layers: the processor, and why no device is used, if there is one.
    """

    count: int = 0
    of: int = 0
    devices: tuple[Device, ...] = ()
    reason: str = PROCESSOR

    def __str__(self) -> str:
        if not self.devices:
            return self.reason
        return f"{' and '.join(map(str, self.devices))}, {self.count} of {self.of} layers"


NOTHING = Offload()
"""No layer is offloaded."""


def choose_offload(wanted: str, hardware: Hardware, needs: Sequence[int]) -> Offload:
    """Where to compute a model.

    Args:
        wanted: A number of layers, `all`, or `auto` for as many as fit into the free memory.
        hardware: What llama.cpp can offload to.
        needs: (layers + 1,) bytes that each layer needs on a device, and the output; see `layer_sizes`.

    Raises:
        ModelError: layers are wanted, and there is no device.
    """
    devices = hardware.used
    if not wanted.strip("0") or (wanted == "auto" and not devices):
        return NOTHING
    if not devices:
        raise ModelError(hardware.lack, _NO_BUILD if not hardware.backends else _NO_DEVICE)
    if wanted != "auto":
        count = len(needs) if wanted == "all" else min(int(wanted), len(needs))
        return Offload(count, len(needs), devices)
    count = fitting_layers(needs, sum(max(0, each.free - MARGIN) for each in devices))
    if count:
        return Offload(count, len(needs), devices)
    names, free = " and ".join(map(str, devices)), sum(each.free for each in devices)
    return Offload(reason=f"the processor: too little memory is free on {names}: {free / 1e9:.1f} GB")


def fitting_layers(needs: Sequence[int], room: int) -> int:
    """The largest number of last layers that need at most `room` bytes together."""
    count = 0
    for need in reversed(needs):
        room -= need
        if room < 0:
            break
        count += 1
    return count


def find_hardware() -> Hardware:
    """What this build of llama.cpp can offload to; only in the child process, which a driver may end."""
    from counterlens.models.llama.ggml import backend_names, ggml, load_backends

    load_backends()
    names = backend_names()
    listed = [ggml.ggml_backend_dev_get(i) for i in range(ggml.ggml_backend_dev_count())]
    kinds = [(each, ggml.ggml_backend_dev_type(each)) for each in listed]
    return Hardware(
        tuple(name for name in names if name not in _PROCESSOR),
        tuple(_device(each, kind == _INTEGRATED) for each, kind in kinds if kind in (_GPU, _INTEGRATED)),
    )


def _device(handle: int, integrated: bool) -> Device:
    from counterlens.models.llama.ggml import ggml

    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    ggml.ggml_backend_dev_memory(handle, ctypes.byref(free), ctypes.byref(total))
    name, description = (
        read(handle).decode("utf-8", "replace")
        for read in (ggml.ggml_backend_dev_name, ggml.ggml_backend_dev_description)
    )
    return Device(name, description, free.value, total.value, integrated)


def device_list(devices: Sequence[Device]) -> Any:
    """llama.cpp's list of some devices, which ends with null; without any, it uses only the processor."""
    from counterlens.models.llama.ggml import ggml

    handles = [ggml.ggml_backend_dev_by_name(each.name.encode()) for each in devices]
    return (ctypes.c_void_p * (len(handles) + 1))(*handles, None)
