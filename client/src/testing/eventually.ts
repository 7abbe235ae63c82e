/** Does something once it has not been asked for again for a while. */
export class Eventually {
  private readonly waiting = new Map<string, NodeJS.Timeout>();

  /** @param quiet milliseconds */
  constructor(private readonly quiet: number) {}

  /** @param about of two that are about the same, the later one is done */
  do(about: string, action: () => unknown): void {
    clearTimeout(this.waiting.get(about));
    const then = () => {
      this.waiting.delete(about);
      void action();
    };
    this.waiting.set(about, setTimeout(then, this.quiet));
  }

  dispose(): void {
    for (const timer of this.waiting.values()) clearTimeout(timer);
    this.waiting.clear();
  }
}
