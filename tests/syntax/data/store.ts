// A typed store that tells its listeners.
import type { Event } from "./events";
import fs = require("fs");

export type Listener<T> = (value: Readonly<T>, old?: T) => void;
type Keys<T> = { readonly [K in keyof T]?: T[K] extends string ? `on${K & string}` : never };

export enum Level {
  Low = 1,
  High,
}

declare module "events" {
  interface Event extends Base {
    new (name: string): Event;
    readonly level: Level | null;
    [key: string]: unknown;
    close?(): Promise<void>;
  }
}

abstract class Base<T extends object = {}> {
  protected abstract reset(): void;
}

@logged({ level: "debug" })
export class Store<T extends object> extends Base<T> implements Iterable<T> {
  static #count = 0;
  private listeners: Array<Listener<T>> = [];

  constructor(
    private state: T,
    public readonly name: string = `store ${Store.#count++}`,
  ) {
    super();
  }

  protected override reset(): void {
    for (const key of Object.keys(this.state) as (keyof T)[]) {
      delete this.state[key];
    }
  }

  async set(next: Partial<T>): Promise<boolean> {
    const old = this.state;
    try {
      this.state = { ...old, ...next };
      await Promise.all(this.listeners.map((listener) => listener(this.state, old)));
    } catch (error: unknown) {
      if (!(error instanceof Error)) throw error;
      console.error(error.message ?? "unknown", <string>error.name);
      return false;
    }
    return this.listeners!.length > 0;
  }

  *[Symbol.iterator](): Generator<T> {
    yield this.state;
  }
}

export function isLevel(value: unknown): value is Level {
  switch (typeof value) {
    case "number":
      return /^\d+$/u.test(String(value)) && value in Level;
    default:
      return false;
  }
}

const pair = [1, "two"] satisfies [number, string];
