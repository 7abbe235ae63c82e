// Waiting for things that arrive late: code lenses shift lines, and scores come when the model has finished.

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Retries until the attempt does not throw, or throws its last error when time is up. */
export async function until(attempt, { ms = 15_000, every = 250 } = {}) {
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
