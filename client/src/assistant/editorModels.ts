/**
 * Models that the editor offers. The server's requests to them go through the extension, since only it may use them.
 */

import * as vscode from "vscode";
import type { CompleteParams, CompleteResult } from "./protocol";

/** Memento key of the models that the user agreed to send code to. */
const AGREED = "counterlens.editorModels.agreed";

export class EditorModels {
  /** The open consent question of each model: one at a time, however many prompts wait for it. */
  private readonly asking = new Map<string, Promise<boolean>>();

  constructor(private readonly state: vscode.Memento) {}

  /** Returns the whole reply to some messages, or the reason why there is none. */
  async complete(params: CompleteParams, cancel: vscode.CancellationToken): Promise<CompleteResult> {
    try {
      const [model] = await vscode.lm.selectChatModels({ id: params.model });
      if (!model) return { error: `the editor offers no model ${params.model}` };
      if (!(await this.agreed(model))) {
        return { error: `code may not be sent to ${model.name}, by your choice` };
      }
      // The API has no role for instructions, so they come first.
      const text = params.messages.map(({ content }) => content).join("\n\n");
      const message = vscode.LanguageModelChatMessage.User(text);
      const modelOptions = { temperature: 0, max_tokens: params.maxTokens };
      const reply = await model.sendRequest([message], { modelOptions }, cancel);
      let written = "";
      for await (const piece of reply.text) written += piece;
      return { text: written };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Whether code may be sent to this model. The user is asked once, and consent is remembered. */
  private agreed(model: vscode.LanguageModelChat): Promise<boolean> {
    const known = this.state.get<string[]>(AGREED) ?? [];
    if (known.includes(model.id)) return Promise.resolve(true);
    const asking = this.asking.get(model.id) ?? this.ask(model);
    this.asking.set(model.id, asking);
    void asking.finally(() => this.asking.delete(model.id));
    return asking;
  }

  private async ask({ id, name, vendor }: vscode.LanguageModelChat): Promise<boolean> {
    const send = "Send Code";
    const title = `Send code to ${name}?`;
    const detail = `To probe this model, parts of your files are sent to its provider (${vendor}), for this and later probes.`;
    const answer = await vscode.window.showWarningMessage(title, { modal: true, detail }, send);
    if (answer !== send) return false;
    await this.state.update(AGREED, [...(this.state.get<string[]>(AGREED) ?? []), id]);
    return true;
  }
}
