"""Confinement of the calling process by the Linux kernel; standard library only, used before `exec`."""
