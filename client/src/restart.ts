/** Decides when to restart a server that died, and when to give up. */

export interface RestartLimits {
  /** Maximum number of restarts within the window. */
  most: number;
  windowMs: number;
  firstDelayMs: number;
  longestDelayMs: number;
}

export const RESTART_LIMITS: RestartLimits = {
  most: 5,
  windowMs: 3 * 60_000,
  firstDelayMs: 500,
  longestDelayMs: 8_000,
};

export class RestartPolicy {
  private restarts: number[] = [];

  constructor(
    private readonly limits: RestartLimits = RESTART_LIMITS,
    private readonly now: () => number = Date.now,
  ) {}

  /** Called when the server died. Returns the milliseconds to wait before a restart, or undefined to give up. */
  next(): number | undefined {
    const now = this.now();
    this.restarts = this.restarts.filter((at) => now - at < this.limits.windowMs);
    if (this.restarts.length >= this.limits.most) return undefined;
    const delay = Math.min(this.limits.firstDelayMs * 2 ** this.restarts.length, this.limits.longestDelayMs);
    this.restarts.push(now);
    return delay;
  }

  /** Called when the user requests a restart. Resets the count. */
  reset(): void {
    this.restarts = [];
  }
}
