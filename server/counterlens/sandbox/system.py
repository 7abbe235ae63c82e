"""System files that every program may read, because interpreters and compiled packages need them."""

from __future__ import annotations

from pathlib import Path

_PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/sys/devices/system/cpu", "/nix/store")
_SETTINGS = (
    # the dynamic linker; links by which Debian chooses among packages of compiled libraries
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ld.so.preload", "alternatives",
    # users, hosts and services by name
    "passwd", "group", "nsswitch.conf", "hosts", "host.conf", "services", "protocols",
    # time zone, locale, system
    "localtime", "timezone", "locale.alias", "os-release", "debian_version",
    # files that the standard library and common packages look up
    "mime.types", "ssl/openssl.cnf", "ssl/certs", "pki/tls/certs", "pki/ca-trust/extracted", "fonts", "xml",
)  # fmt: skip


def readable() -> tuple[str, ...]:
    """Folders and files, existing or not; of `/etc` only needed files: root could read secrets there."""
    settings = Path("/etc")
    own = sorted(str(path) for path in settings.glob("python3*"))  # Debian's `sitecustomize`
    return (*_PROGRAMS, *(str(settings / name) for name in _SETTINGS), *own)
