/** Forwards the server's standard error to the log. */

import type * as vscode from "vscode";

/** Logs each line at the level that it names. */
export function forward(text: string, channel: vscode.LogOutputChannel): void {
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === "") continue;
    const level = /^\W*(DEBUG|INFO|WARNING|ERROR|CRITICAL)\b/.exec(line)?.[1];
    if (level === "ERROR" || level === "CRITICAL") channel.error(line);
    else if (level === "WARNING") channel.warn(line);
    else if (level === "DEBUG") channel.debug(line);
    else channel.info(line);
  }
}
