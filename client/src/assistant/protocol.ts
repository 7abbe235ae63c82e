/** Messages for models that the editor offers. */

/** Server to client, a request: the reply of such a model. */
export const COMPLETE = "counterlens/complete";

export interface CompleteParams {
  /** Id of the model in the editor. */
  model: string;
  messages: { role: "system" | "user"; content: string }[];
  maxTokens: number;
}

/** The whole reply, or the reason why there is none. */
export interface CompleteResult {
  text?: string;
  error?: string;
}
