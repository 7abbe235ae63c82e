/** The client library, ten times as large as all other code: loaded only when a server is started. */

import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  State,
} from "vscode-languageclient/node";
import { forward } from "./serverLog";

export type { LanguageClient };

/** Logs failed requests without a pop-up, since the user may only have moved the mouse. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/** The command that runs the server. */
export interface Program {
  command: string;
  args: string[];
  options: { cwd: string; env: Record<string, string> };
}

/**
 * A client that only logs failures, and that does not restart the server.
 *
 * @param died called when the server stops after it was running
 */
export function languageClient(
  program: Program,
  options: Pick<
    LanguageClientOptions,
    "documentSelector" | "initializationOptions" | "markdown" | "middleware" | "outputChannel"
  >,
  died: (client: LanguageClient) => void,
): LanguageClient {
  const client = new QuietClient("counterlens", "Counterlens", program, {
    ...options,
    stdioOptions: {
      stdout: () => undefined,
      stderr: (input, channel) => input.on("data", (data) => forward(String(data), channel)),
    },
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      // `server.ts` restarts the server: the client library would do so immediately and endlessly.
      closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
    },
  });
  client.onDidChangeState(({ oldState, newState }) => {
    if (oldState === State.Running && newState === State.Stopped) died(client);
  });
  return client;
}
