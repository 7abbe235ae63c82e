/** Chooses the Python and the packages that run the server, with the reason. */

import type { Candidate } from "./discovery";
import type { Answer, Fit } from "./examine";

/** Source of the server's packages: bundled with the extension, or installed for the interpreter. */
export const IMPORT_STRATEGIES = ["useBundled", "fromEnvironment"] as const;
export type ImportStrategy = (typeof IMPORT_STRATEGIES)[number];

export interface Interpreter {
  path: string;
  /** The version of the counterlens package. */
  version: string;
  /** The choice and its reason, in a few words. */
  why: string;
  /** Environment variables to add for the server. */
  environment: Record<string, string>;
}

export interface Question {
  strategy: ImportStrategy;
  candidates: Candidate[];
  /** Whether the user named the interpreter, so that no other may replace it. */
  named: boolean;
  /** Whether the extension carries the server's packages. */
  carries: boolean;
  /** The interpreter of the extension's own environment, if there is one. */
  own: string | undefined;
  fits(python: string): Promise<Answer<Fit>>;
  installed(python: string): Promise<Answer<string>>;
}

export interface Choice {
  chosen: Interpreter | undefined;
  /** A sentence about each failed attempt, in order. */
  tried: string[];
  /** The first of these that says why the bundled packages do not fit. */
  misfit: string | undefined;
}

export async function choose(question: Question): Promise<Choice> {
  const tried: string[] = [];
  let misfit: string | undefined;
  for (const attempt of attempts(question)) {
    const answer = await attempt.run();
    if ("found" in answer) return { chosen: answer.found, tried, misfit };
    const why = `${attempt.title} ${answer.reason}`;
    if (attempt.carried) misfit ??= why;
    if (!tried.includes(why)) tried.push(why);
  }
  return { chosen: undefined, tried, misfit };
}

interface Attempt {
  title: string;
  /** Whether it uses the bundled packages. */
  carried: boolean;
  run(): Promise<Answer<Interpreter>>;
}

/**
 * The order of attempts: bundled packages, then the extension's own environment, then any Python that has the package.
 */
function attempts({ strategy, candidates, named, carries, own, fits, installed }: Question): Attempt[] {
  const fromEnvironment = candidates.map((one) => withInstalled(one, installed));
  if (strategy === "fromEnvironment") return fromEnvironment;
  const bundled = carries ? candidates.map((one) => withBundled(one, fits)) : [];
  const made =
    own && !named ? [withInstalled({ path: own, origin: "created by the extension" }, installed)] : [];
  return [...bundled, ...made, ...fromEnvironment];
}

function withBundled({ path, origin }: Candidate, fits: Question["fits"]): Attempt {
  return {
    title: `${path} (${origin})`,
    carried: true,
    async run() {
      const answer = await fits(path);
      if ("reason" in answer) return answer;
      const { version, paths } = answer.found;
      const why = `${origin}, with the bundled packages of the extension`;
      return { found: { path, version, why, environment: { PYTHONPATH: paths } } };
    },
  };
}

function withInstalled({ path, origin }: Candidate, installed: Question["installed"]): Attempt {
  return {
    title: `${path} (${origin})`,
    carried: false,
    async run() {
      const answer = await installed(path);
      if ("reason" in answer) return answer;
      return { found: { path, version: answer.found, why: origin, environment: {} } };
    },
  };
}
