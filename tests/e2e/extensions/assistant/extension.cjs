// Stands in for an assistant: writes the results that it gets to files for the tests.
const { writeFileSync } = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

const { ASSISTANT_FOLDER: folder, ASSISTANT_MODELS: baseUrl, ASSISTANT_KEY: key } = process.env;

const tell = (name, what) => writeFileSync(path.join(folder, name), JSON.stringify(what, null, 2));

/** The text of a tool's result, or the reason why there is none. */
async function use(name, input) {
  try {
    const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined });
    return { text: content.map(({ value }) => value).join("\n") };
  } catch (error) {
    return { error: error.message };
  }
}

/** A model behind a server, offered in the same way as by assistants' extensions. */
const provider = {
  async provideLanguageModelResponse(messages, _options, _from, progress) {
    const asked = messages.map(({ content }) => content.map(({ value }) => value).join(""));
    const response = await fetch(`${baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        messages: asked.map((content) => ({ role: "user", content })),
        max_tokens: 16,
        temperature: 0,
      }),
    });
    const { choices } = await response.json();
    progress.report({ index: 0, part: new vscode.LanguageModelTextPart(choices[0].message.content) });
  },
  provideTokenCount: async (text) => JSON.stringify(text).length,
};

exports.activate = (context) => {
  const model = {
    vendor: "house",
    name: "House Model",
    family: "house",
    version: "1",
    maxInputTokens: 2048,
    maxOutputTokens: 16,
    isUserSelectable: true,
  };
  context.subscriptions.push(
    vscode.lm.registerChatModelProvider("house-model", provider, model),
    vscode.commands.registerCommand("assistant.use", async () => {
      const name = await vscode.window.showQuickPick(vscode.lm.tools.map((tool) => tool.name));
      const input = await vscode.window.showInputBox();
      tell("used.json", await use(name, JSON.parse(input)));
    }),
    vscode.commands.registerCommand("assistant.commands", async () =>
      tell("commands.json", await vscode.commands.getCommands()),
    ),
  );
};
