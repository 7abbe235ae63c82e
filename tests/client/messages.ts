/** The texts in the client's code: those that are translated, and those that a person might read as they stand. */

import path from "node:path";
import * as ast from "typescript/unstable/ast";
import { API } from "typescript/unstable/sync";

/** Words, or a capitalised word alone. */
const PROSE = /\p{L}{2,}[,.;:)”]* [\p{L}(“{]|^\p{Lu}\p{Ll}+(…|\.\.\.)?$/u;

/** Where the editor's own `t` is given to the modules that know no editor. */
const PASSED_ON = "parts.ts";

/** The same in every language: names, and those of concepts, which the settings and the server use. */
const NAMES = new Set([
  ...["Counterlens", "LM Studio", "Ollama"],
  ...["data structures", "functional programming", "natural language"],
]);

/** Read by programs: pages, their policies and selectors, what is drawn, and what Python runs. */
const CODE = /[<>=]|'none'|^\.\w|\.format\(|^ *(import|try|except|if|print|sys)\b/;

/** What is given to these is for the log, which is English everywhere, for comparing, or a path. */
const UNSEEN = new Set([
  ...["debug", "info", "warn", "error", "restart", "renew", "enqueue", "replaceNow"],
  ...["includes", "startsWith", "join"],
]);

export interface Messages {
  /** English texts, as they stand in `t("…")`. */
  translated: Set<string>;
  /** What is wrong: `file:line: text`. */
  untranslated: string[];
  /** Calls of `t` whose text is no literal, or that are made before the language is known. */
  misused: string[];
}

/** @param files of TypeScript, with their absolute paths */
export function messagesOf(files: string[]): Messages {
  const found: Messages = { translated: new Set(), untranslated: [], misused: [] };
  const typescript = new API();
  try {
    const snapshot = typescript.updateSnapshot({ openFiles: files });
    for (const file of files) {
      const source = snapshot.getDefaultProjectForFile(file)?.program.getSourceFile(file);
      if (!source) throw new Error(`TypeScript cannot read ${file}.`);
      collect(source, found);
    }
  } finally {
    typescript.close();
  }
  return found;
}

function collect(source: ast.SourceFile, found: Messages): void {
  const name = path.basename(source.fileName);
  const at = (node: ast.Node) =>
    `${name}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${node.getText()}`;
  const visit = (node: ast.Node, inFunction: boolean): void => {
    if (isUnread(node)) return;
    if (ast.isCallExpression(node) && calleeOf(node) === "t") {
      const [text, ...values] = node.arguments;
      if (text && ast.isStringLiteral(text)) found.translated.add(text.text);
      else if (name !== PASSED_ON) found.misused.push(at(node));
      if (!inFunction && ast.isIdentifier(node.expression)) found.misused.push(at(node));
      for (const value of values) visit(value, inFunction);
      return;
    }
    if (isText(node) && PROSE.test(node.text) && !CODE.test(node.text) && !NAMES.has(node.text)) {
      found.untranslated.push(at(node));
    }
    const unseen = ast.isCallExpression(node) && UNSEEN.has(calleeOf(node));
    const inside = inFunction || ast.isFunctionLikeDeclaration(node);
    node.forEachChild((child) => {
      if (ast.isPropertyAssignment(node) && child === node.name && isText(child)) return;
      if (!unseen || child === node.expression) visit(child, inside);
    });
  };
  visit(source, false);
}

function isText(node: ast.Node): node is ast.StringLiteral | ast.TemplateLiteralLikeNode {
  return ast.isStringLiteral(node) || ast.isTemplateLiteralLikeNode(node);
}

/** The last name of what is called: `t` of `vscode.l10n.t`. */
function calleeOf({ expression }: ast.CallExpression): string {
  if (ast.isPropertyAccessExpression(expression)) return expression.name.text;
  return ast.isIdentifier(expression) ? expression.text : "";
}

/** Types, imports, comparisons; errors are for assistants and programmers. */
function isUnread(node: ast.Node): boolean {
  if (ast.isTypeNode(node) || ast.isImportDeclaration(node)) return true;
  if (ast.isBinaryExpression(node)) return COMPARISONS.includes(node.operatorToken.kind);
  return ast.isNewExpression(node) && node.expression.getText() === "Error";
}

const COMPARISONS = [
  ast.SyntaxKind.EqualsEqualsEqualsToken,
  ast.SyntaxKind.ExclamationEqualsEqualsToken,
] as ast.SyntaxKind[];
