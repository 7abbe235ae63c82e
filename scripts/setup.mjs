// npm run setup: everything that developing and testing needs.
import { setUpEndToEnd } from "./setup/code-server.mjs";
import { setUpNode } from "./setup/node.mjs";
import { setUpPython } from "./setup/python.mjs";
import { main, say } from "./terminal.mjs";

await main(async () => {
  await setUpPython();
  await setUpNode();
  const reason = await setUpEndToEnd();
  if (reason) say(`The end-to-end tests cannot run here: ${reason}.`);
  say("Everything is set up.");
});
