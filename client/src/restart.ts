/** When to start a server again that has died, and when to give up. */

export interface RestartLimits {
  /** Restarts allowed within the window. */
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

  /** The server died: milliseconds to wait before it is started again, or undefined to give up. */
  next(): number | undefined {
    const now = this.now();
    this.restarts = this.restarts.filter((at) => now - at < this.limits.windowMs);
    if (this.restarts.length >= this.limits.most) return undefined;
    const delay = Math.min(this.limits.firstDelayMs * 2 ** this.restarts.length, this.limits.longestDelayMs);
    this.restarts.push(now);
    return delay;
  }

  /** The user asked for a restart: start counting afresh. */
  reset(): void {
    this.restarts = [];
  }
}
