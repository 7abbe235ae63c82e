"""The system calls that programs may make, by purpose, and their numbers.

These are the calls of the standard library and compiled packages on the program itself, its files and its
children. Names and numbers: the kernel's `asm/unistd_64.h` and `asm-generic/unistd.h`.
"""

from __future__ import annotations

import os

AF_UNIX = 1
MACHINES = {"x86_64": 0, "aarch64": 1}
"""Index of a machine's number in the pairs below."""
NEWEST = 469
"""`file_setattr` of Linux 6.17, the newest call that was considered for this list."""
_NONE = -1  # the machine has no such call

Numbers = dict[str, tuple[int, int]]

_FILES: Numbers = {
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67),
    "pwrite64": (18, 68), "preadv": (295, 69), "pwritev": (296, 70), "preadv2": (327, 286),
    "pwritev2": (328, 287), "lseek": (8, 62), "open": (2, _NONE), "creat": (85, _NONE),
    "openat": (257, 56), "openat2": (437, 437), "close": (3, 57), "close_range": (436, 436),
    "dup": (32, 23), "dup2": (33, _NONE), "dup3": (292, 24), "pipe": (22, _NONE), "pipe2": (293, 59),
    "flock": (73, 32), "fsync": (74, 82), "fdatasync": (75, 83), "sync_file_range": (277, 84),
    "truncate": (76, 45), "ftruncate": (77, 46), "fallocate": (285, 47), "fadvise64": (221, 223),
    "readahead": (187, 213), "sendfile": (40, 71), "copy_file_range": (326, 285),
    "memfd_create": (319, 279), "stat": (4, _NONE), "fstat": (5, 80), "lstat": (6, _NONE),
    "newfstatat": (262, 79), "statx": (332, 291), "statfs": (137, 43), "fstatfs": (138, 44),
    "access": (21, _NONE), "faccessat": (269, 48), "faccessat2": (439, 439), "readlink": (89, _NONE),
    "readlinkat": (267, 78), "getdents": (78, _NONE), "getdents64": (217, 61), "getxattr": (191, 8),
    "lgetxattr": (192, 9), "fgetxattr": (193, 10), "listxattr": (194, 11), "llistxattr": (195, 12),
    "flistxattr": (196, 13), "getcwd": (79, 17), "chdir": (80, 49), "fchdir": (81, 50),
    "mkdir": (83, _NONE), "mkdirat": (258, 34), "mknod": (133, _NONE), "mknodat": (259, 33),
    "rmdir": (84, _NONE), "unlink": (87, _NONE), "unlinkat": (263, 35), "rename": (82, _NONE),
    "renameat": (264, 38), "renameat2": (316, 276), "link": (86, _NONE), "linkat": (265, 37),
    "symlink": (88, _NONE), "symlinkat": (266, 36), "chmod": (90, _NONE), "fchmod": (91, 52),
    "fchmodat": (268, 53), "fchmodat2": (452, 452), "umask": (95, 166), "utime": (132, _NONE),
    "utimes": (235, _NONE), "futimesat": (261, _NONE), "utimensat": (280, 88),
}  # fmt: skip
_MEMORY: Numbers = {
    "brk": (12, 214), "mmap": (9, 222), "munmap": (11, 215), "mremap": (25, 216), "mprotect": (10, 226),
    "madvise": (28, 233), "mincore": (27, 232), "msync": (26, 227), "membarrier": (324, 283),
    "get_mempolicy": (239, 236), "map_shadow_stack": (453, 453), "mseal": (462, 462),
}  # fmt: skip
_WAITING: Numbers = {
    "poll": (7, _NONE), "ppoll": (271, 73), "select": (23, _NONE), "pselect6": (270, 72),
    "epoll_create": (213, _NONE), "epoll_create1": (291, 20), "epoll_ctl": (233, 21),
    "epoll_wait": (232, _NONE), "epoll_pwait": (281, 22), "epoll_pwait2": (441, 441),
    "eventfd": (284, _NONE), "eventfd2": (290, 19), "signalfd": (282, _NONE), "signalfd4": (289, 74),
    "timerfd_create": (283, 85), "timerfd_settime": (286, 86), "timerfd_gettime": (287, 87),
    "pause": (34, _NONE), "nanosleep": (35, 101), "clock_nanosleep": (230, 115), "alarm": (37, _NONE),
    "getitimer": (36, 102), "setitimer": (38, 103), "restart_syscall": (219, 128),
}  # fmt: skip
_SIGNALS: Numbers = {
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "rt_sigpending": (127, 136), "rt_sigtimedwait": (128, 137), "rt_sigsuspend": (130, 133),
    "sigaltstack": (131, 132),
}  # fmt: skip
_ITSELF: Numbers = {
    "execve": (59, 221), "exit": (60, 93), "exit_group": (231, 94), "wait4": (61, 260),
    "waitid": (247, 95), "pidfd_open": (434, 434), "futex": (202, 98), "set_tid_address": (218, 96),
    "set_robust_list": (273, 99), "get_robust_list": (274, 100), "rseq": (334, 293),
    "arch_prctl": (158, _NONE), "sched_yield": (24, 124), "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121), "sched_getscheduler": (145, 120), "sched_rr_get_interval": (148, 127),
    "sched_get_priority_max": (146, 125), "sched_get_priority_min": (147, 126), "getpriority": (140, 141),
    "getpid": (39, 172), "getppid": (110, 173), "gettid": (186, 178), "getuid": (102, 174),
    "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177), "getgroups": (115, 158),
    "getresuid": (118, 148), "getresgid": (120, 150), "getpgrp": (111, _NONE), "getpgid": (121, 155),
    "setpgid": (109, 154), "getsid": (124, 156), "setsid": (112, 157), "getrlimit": (97, 163),
    "setrlimit": (160, 164), "getrusage": (98, 165), "times": (100, 153), "time": (201, _NONE),
    "gettimeofday": (96, 169), "clock_gettime": (228, 113), "clock_getres": (229, 114),
    "getcpu": (309, 168), "getrandom": (318, 278), "uname": (63, 160), "sysinfo": (99, 179),
}  # fmt: skip
_SOCKET_PAIRS: Numbers = {
    "sendto": (44, 206), "sendmsg": (46, 211), "recvfrom": (45, 207), "recvmsg": (47, 212),
    "shutdown": (48, 210), "getsockname": (51, 204), "getpeername": (52, 205), "getsockopt": (55, 209),
}  # fmt: skip
_CONDITIONAL: Numbers = {
    "socketpair": (53, 199), "setsockopt": (54, 208), "clone": (56, 220), "kill": (62, 129),
    "tgkill": (234, 131), "prlimit64": (302, 261),
    "prctl": (157, 167), "fcntl": (72, 25), "ioctl": (16, 29), "sched_setaffinity": (203, 122),
    "setpriority": (141, 140), "socket": (41, 198),
}  # fmt: skip
_WIDE: Numbers = {
    "fork": (57, _NONE), "vfork": (58, _NONE), "kill": (62, 129), "tgkill": (234, 131),
    "bind": (49, 200), "connect": (42, 203), "listen": (50, 201), "accept": (43, 202),
    "accept4": (288, 242), "recvmmsg": (299, 243), "sendmmsg": (307, 269),
    "chown": (92, _NONE), "fchown": (93, 55), "lchown": (94, _NONE), "fchownat": (260, 54),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14),
    "lremovexattr": (198, 15), "fremovexattr": (199, 16),
}  # fmt: skip
_UNCOUNTED = {"memfd_create"}
_REFUSED: Numbers = {
    "ptrace": (101, 117), "inotify_init": (253, _NONE), "inotify_init1": (294, 26), "mlock": (149, 228),
    "mlock2": (325, 284), "mlockall": (151, 230), "shmget": (29, 194),
    "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),
    "sched_setscheduler": (144, 119), "sched_setattr": (314, 274), "tkill": (200, 130),
    "ioprio_set": (251, 30), "splice": (275, 76),
    "tee": (276, 77), "vmsplice": (278, 75), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_setup": (206, 0), "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "chroot": (161, 51),
    "setuid": (105, 146), "setgid": (106, 144), "setreuid": (113, 145), "setresuid": (117, 147),
    "setgroups": (116, 159), "sethostname": (170, 161), "timer_create": (222, 107), "keyctl": (250, 219),
    "add_key": (248, 217), "bpf": (321, 280), "perf_event_open": (298, 241), "personality": (135, 92),
    "process_vm_readv": (310, 270), "pidfd_send_signal": (424, 424), "rt_sigqueueinfo": (129, 138),
    "fanotify_init": (300, 262), "seccomp": (317, 277), "quotactl": (179, 60),
    "clock_settime": (227, 112), "settimeofday": (164, 170), "syslog": (103, 116), "acct": (163, 89),
}  # fmt: skip
_UNAVAILABLE: Numbers = {
    "clone3": (435, 435), "execveat": (322, 281), "mbind": (237, 235), "set_mempolicy": (238, 237),
}  # fmt: skip


def allowed_calls(machine: str) -> dict[str, int]:
    """Calls that are allowed with any arguments."""
    return _of(machine, {**_FILES, **_MEMORY, **_WAITING, **_SIGNALS, **_ITSELF, **_SOCKET_PAIRS})


def wide_calls(machine: str) -> dict[str, int]:
    """Calls that are allowed with any arguments in a wide room.

    All that can be changed there is private. A file that is only in memory would not be counted.
    """
    calls = allowed_calls(machine) | _of(machine, _WIDE)
    return {name: number for name, number in calls.items() if name not in _UNCOUNTED}


def conditional(machine: str) -> dict[str, int]:
    """Calls that are allowed with some arguments, or to some programs."""
    return _of(machine, _CONDITIONAL)


def refused_calls(machine: str) -> dict[str, int]:
    """The better-known ones of the calls that no program may make; there are others."""
    return _of(machine, _REFUSED)


def absent(machine: str) -> dict[str, int]:
    """Calls that are answered as by an older kernel (`ENOSYS`), for which their callers have a fallback."""
    return _of(machine, _UNAVAILABLE)


def describe_call(number: int, first: int) -> str:
    """What a refused call of this machine would do, such as `make the system call shmget`."""
    machine = os.uname().machine
    calls = allowed_calls(machine) | conditional(machine) | refused_calls(machine)
    names = {call: name for name, call in calls.items()}
    name = names.get(number, str(number))
    if name == "socket":
        return "open a Unix socket" if first == AF_UNIX else f"open a socket of the family {first}"
    return f"make the system call {name}"


def _of(machine: str, calls: Numbers) -> dict[str, int]:
    column = MACHINES[machine]
    return {name: pair[column] for name, pair in calls.items() if pair[column] != _NONE}
