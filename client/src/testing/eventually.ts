/** Debounces actions: runs each once it has not been requested again for a while. */
export class Eventually {
  private readonly waiting = new Map<string, NodeJS.Timeout>();

  /** @param quiet the delay in milliseconds */
  constructor(private readonly quiet: number) {}

  /** @param about the subject of the action; a later action replaces a pending one with the same subject */
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
