// The Python from which .venv is made: recent, able to make environments, and compiled to be quick.
import { ask, Problem } from "../terminal.mjs";
import { allOnPath, mayInstall, provide } from "./debian.mjs";

const OLDEST = [3, 11];
/** The version that is tested most comes first. */
const NAMES = ["python3.11", "python3.12", "python3.13", "python3.14", "python3", "python"];

/** A share of the first interpreter's time below which another one of the same name is taken. */
const QUICKER = 0.85;

/** Prints the processor time of some calls, attributes and allocations, in seconds: the least of several trials. */
const TRIAL = `
import time

class Node:
    def __init__(self, value):
        self.value = value

    def next(self):
        return Node(self.value + 1)

def work():
    began, node, seen = time.process_time(), Node(0), {}
    for _ in range(30_000):
        node = node.next()
        seen[node.value % 100] = [node, (node.value, str)]
    return time.process_time() - began

print(min(work() for _ in range(7)))
`;

/**
 * Finds the first recent Python that can make environments. If there are several of its name, the first is taken unless
 * another one is clearly quicker: a Python that was built at home without profile-guided optimisation, for example by
 * pyenv, takes half as long again as a distribution's.
 *
 * @returns {Promise<string>} a command or a path
 * @throws {Problem} there is none
 */
export async function findPython() {
  const chosen = process.env.COUNTERLENS_PYTHON;
  if (chosen && !(await isRecent(chosen))) {
    throw new Problem(
      `COUNTERLENS_PYTHON is ${chosen}, which is not a Python ${OLDEST.join(".")} or later.`,
      "Set it to one, or unset it to let the set-up search.",
    );
  }
  let withoutVenv;
  for (const name of chosen ? [chosen] : NAMES) {
    const recent = await filtered(chosen ? [chosen] : allOnPath(name), isRecent);
    const usable = await filtered(recent, canMakeVenvs);
    if (usable.length > 0) return quickest(usable);
    withoutVenv ??= recent[0];
  }
  if (withoutVenv) return withVenv(withoutVenv);
  throw new Problem(
    `No Python ${OLDEST.join(".")} or later was found (tried ${NAMES.join(", ")}).`,
    "On Debian 12 or Ubuntu 24.04: sudo apt-get install python3 python3-venv; or set COUNTERLENS_PYTHON to one.",
  );
}

export async function isRecent(python) {
  const version = await ask(python, ["-c", "import sys; print(*sys.version_info[:2])"]);
  if (!version) return false;
  const [major, minor] = version.split(" ").map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

/** The first of some interpreters, or one that takes clearly less time. */
export async function quickest(pythons, times = timed) {
  if (pythons.length === 1) return pythons[0];
  const taken = await times(pythons);
  const least = Math.min(...taken);
  return least < QUICKER * taken[0] ? pythons[taken.indexOf(least)] : pythons[0];
}

/** Seconds that each interpreter takes, one after the other; infinite if it fails. */
async function timed(pythons) {
  const taken = [];
  for (const python of pythons) taken.push(Number((await ask(python, ["-c", TRIAL])) ?? "Infinity"));
  return taken;
}

/** Installs the module that makes environments, if permitted. */
async function withVenv(python) {
  const version = await ask(python, ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"]);
  const requirement = { package: `python${version}-venv`, present: () => false };
  if (mayInstall()) await provide([requirement]);
  if (await canMakeVenvs(python)) return python;
  throw new Problem(
    `${python} cannot make virtual environments: its venv or ensurepip module is missing.`,
    `On Debian or Ubuntu: sudo apt-get install ${requirement.package}`,
  );
}

async function canMakeVenvs(python) {
  return (await ask(python, ["-c", "import venv, ensurepip"])) !== undefined;
}

async function filtered(pythons, accepts) {
  const kept = [];
  for (const python of pythons) if (await accepts(python)) kept.push(python);
  return kept;
}
