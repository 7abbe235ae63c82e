/** The client library, which is ten times as large as all else: loaded only once a server is to be started. */

import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  State,
} from "vscode-languageclient/node";
import { forward } from "./serverLog";

export type { LanguageClient };

/** A failed request is for the log: the person who only moved the mouse needs no pop-up. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/** What is run as the server. */
export interface Program {
  command: string;
  args: string[];
  options: { cwd: string; env: Record<string, string> };
}

/**
 * A client that only logs what fails, and that starts nothing again of itself.
 *
 * @param died told when the server stops after it was running
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
      // Restarting is ours: the client library would do it at once and without end in sight.
      closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
    },
  });
  client.onDidChangeState(({ oldState, newState }) => {
    if (oldState === State.Running && newState === State.Stopped) died(client);
  });
  return client;
}
