/** Converts a range of the protocol to one of the editor. */

import * as vscode from "vscode";
import type { Range } from "vscode-languageclient/node";

export function rangeOf({ start, end }: Range): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}
