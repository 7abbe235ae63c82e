// Records the network calls of a program and its descendants, as the kernel sees them (strace).
import { existsSync, readFileSync } from "node:fs";
import { onPath } from "../../../scripts/setup/debian.mjs";

const TRACE = "trace=connect,sendto,sendmsg,sendmmsg";

/** False, or the reason why nothing can be recorded here. */
export const cannotWatch = onPath("strace") ? false : "strace is not installed";

/**
 * The beginning of a command that records another one's network calls in a file. Only these calls are stopped at, which
 * needs a program that is started so: every call of a running one would be.
 */
export const watching = (log) => ["strace", "-f", "--seccomp-bpf", "-e", TRACE, "-o", log];

/** The calls so far, and the ends of the processes. */
export const callsIn = (log) => (existsSync(log) ? readFileSync(log, "utf8").split("\n") : []);
