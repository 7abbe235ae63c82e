import assert from "node:assert/strict";
import test from "node:test";
import { folded, unfolded } from "../../client/src/hovers";

const HOVER =
  "`x`: 3 %\n\nIt expected `y`\n\n<details><summary>more</summary>\n\n| a |\n| - |\n\nnote\n\n</details>";

test("what is folded away has a link in its place, or all of it is shown", () => {
  assert.equal(folded(HOVER, "command:c?1"), "`x`: 3 %\n\nIt expected `y`\n\n[more](command:c?1)");
  assert.equal(unfolded(HOVER), "`x`: 3 %\n\nIt expected `y`\n\n---\n\n| a |\n| - |\n\nnote");
});

test("a hover that folds nothing stays as it is, whatever it has in it", () => {
  for (const text of ["scoring…", "a $& b $1", "`<details>` is code"]) {
    assert.equal(folded(text, "command:c"), text);
    assert.equal(unfolded(text), text);
  }
  assert.match(
    folded(
      HOVER.replace("note", () => "$&"),
      "command:c",
    ),
    /\[more\]/,
  );
  assert.match(unfolded(HOVER.replace("note", () => "$&")), /\$&$/);
});
