// npm run docs: the documentation as a site, in build/site; with --serve on a local server.
import { venvBin } from "./paths.mjs";
import { setUpPython } from "./setup/python.mjs";
import { main, run, say } from "./terminal.mjs";

await main(async () => {
  await setUpPython();
  const serve = process.argv.includes("--serve");
  const mkdocs = venvBin("mkdocs");
  const env = { ...process.env, NO_MKDOCS_2_WARNING: "1" };
  const code = await run(mkdocs, serve ? ["serve"] : ["build", "--quiet"], { env });
  if (!serve && code === 0) say("The site is in build/site: open build/site/index.html.");
  return code;
});
