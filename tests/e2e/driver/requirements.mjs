// Whether this machine can run a VS Code at all. In continuous integration the answer must be yes.
import { whyNoEndToEnd } from "../../../scripts/setup/code-server.mjs";

const reason = whyNoEndToEnd();
if (reason && process.env.CI) throw new Error(`The end-to-end tests cannot run: ${reason}`);

/** For node:test's `skip` option: false, or why not. */
export const skip = reason ?? false;
