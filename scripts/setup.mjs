// npm run setup: installs everything that developing and testing needs.

import { provideCodeModel } from "./setup/code-model.mjs";
import { setUpEndToEnd } from "./setup/code-server.mjs";
import { BUBBLEWRAP, installCommand, JAVA, JUNIT, NEOVIM, STRACE, wish } from "./setup/debian.mjs";
import { setUpNode } from "./setup/node.mjs";
import { setUpPython } from "./setup/python.mjs";
import { main, say } from "./terminal.mjs";

await main(async () => {
  await setUpPython({ testing: true });
  await Promise.all([setUpNode(), provideCodeModel()]);
  const reason = await setUpEndToEnd();
  const missing = await wish([BUBBLEWRAP, JAVA, JUNIT, NEOVIM, STRACE]);
  if (process.platform === "linux" && missing.includes(BUBBLEWRAP)) {
    say(`Programs will run in the second-best sandbox; for the best one: ${installCommand([BUBBLEWRAP])}`);
  }
  if (reason) say(`The end-to-end tests cannot run here: ${reason}.`);
  say("Everything is set up.");
});
