// Checks whether this machine can run a VS Code at all. Continuous integration must be able to.
import { whyNoEndToEnd } from "../../../scripts/setup/code-server.mjs";

const reason = whyNoEndToEnd();
if (reason && process.env.CI) throw new Error(`The end-to-end tests cannot run: ${reason}`);

/** For node:test's `skip` option: false, or the reason. */
export const skip = reason ?? false;
