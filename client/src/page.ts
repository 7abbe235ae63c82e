/** The page of a webview. Its content security policy allows only our own script and style. */

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

export interface Content {
  /** File name of its script and its style in the folder, without the extension. */
  name: string;
  title: string;
  /** HTML in which all text is escaped. */
  body: string;
}

export function page(webview: vscode.Webview, folder: vscode.Uri, { name, title, body }: Content): string {
  const nonce = randomBytes(16).toString("base64");
  const file = (kind: string) =>
    webview.asWebviewUri(vscode.Uri.joinPath(folder, `${name}.${kind}`)).toString();
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">
<title>${escaped(title)}</title>
<link rel="stylesheet" href="${file("css")}">
</head>
<body>
${body}
<script nonce="${nonce}" src="${file("js")}"></script>
</body>
</html>`;
}

export function escaped(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => names[character] ?? character);
}
