import assert from "node:assert/strict";
import test from "node:test";
import { whyEmpty } from "../../client/src/views/empty";

const HERE = { served: true, language: "python", running: true };

test("an empty view says why: the kind of file, the language, the server, the cursor", () => {
  assert.match(whyEmpty({ ...HERE, served: false, language: "rust" }), /\(rust\) are not examined/);
  assert.match(whyEmpty({ ...HERE, language: "go", found: { function: "" } }), /Python and Java files only/);
  assert.match(whyEmpty({ ...HERE, running: false }), /not running.+Show Logs/);
  assert.match(whyEmpty({ ...HERE, found: undefined }), /not running/);
  assert.match(whyEmpty({ ...HERE, found: { function: "" } }), /Move it into a function/);
});

test("where a function is shown, or no file is open, there is nothing to explain", () => {
  assert.equal(whyEmpty({ ...HERE, found: { function: "parity" } }), "");
  assert.equal(whyEmpty(undefined), "");
});
