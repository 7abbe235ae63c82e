// Waiting for things that arrive late: code lenses shift lines, and scores come when the model has finished.

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** How long a test waits for a state: on an idle machine it comes at once, and no test is about a busy one. */
export const PATIENCE_MS = 180_000;

/** Retries until the attempt does not throw, or throws its last error when time is up. */
export async function until(attempt, { ms = PATIENCE_MS, every = 250 } = {}) {
  for (const end = Date.now() + ms; ; await sleep(every)) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

/** Checks repeatedly that the attempt never throws for a while: for things that must not happen. */
export async function throughout(attempt, { ms = 2_000, every = 100 } = {}) {
  for (const end = Date.now() + ms; Date.now() < end; await sleep(every)) await attempt();
}
