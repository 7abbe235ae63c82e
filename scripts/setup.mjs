// npm run setup: everything that developing and testing needs.
import { setUpEndToEnd } from "./setup/code-server.mjs";
import { BUBBLEWRAP, installCommand, provide } from "./setup/debian.mjs";
import { setUpNode } from "./setup/node.mjs";
import { setUpPython } from "./setup/python.mjs";
import { main, say } from "./terminal.mjs";

await main(async () => {
  await setUpPython();
  await setUpNode();
  const reason = await setUpEndToEnd();
  if (process.platform === "linux" && (await wanting([BUBBLEWRAP]))) {
    say(`Programs will run in the second-best sandbox; for the best one: ${installCommand([BUBBLEWRAP])}`);
  }
  if (reason) say(`The end-to-end tests cannot run here: ${reason}.`);
  say("Everything is set up.");
});

/** Whether any of these is still missing after an attempt to install it; a failed attempt is no reason to stop. */
async function wanting(requirements) {
  try {
    return (await provide(requirements)).length > 0;
  } catch {
    return true;
  }
}
