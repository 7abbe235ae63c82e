// Waiting for things that arrive late: code lenses shift lines, scores come when the model is done.

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Try until it does not throw; its last error when time is up. */
export async function until(attempt, { ms = 15_000, every = 100 } = {}) {
  for (const end = Date.now() + ms; ; await sleep(every)) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

/** Stays true for a while: for things that must not happen. */
export async function throughout(attempt, { ms = 2_000, every = 100 } = {}) {
  for (const end = Date.now() + ms; Date.now() < end; await sleep(every)) await attempt();
}
