/** The confidence overlay: colours code by the model's confidence in it. */

import * as vscode from "vscode";
import { faded, type LevelColours, themeColour, UNDERLINES } from "./colours";
import {
  OVERLAY,
  OVERLAY_LEVELS,
  type OverlayParams,
  type OverlayResult,
  type ScoresChangedParams,
} from "./protocol";
import type { Server } from "./server";
import { byLevel, type Lines, pieces, withMargin } from "./spans";

/** Pause after scrolling before the overlay is requested again. */
const SCROLL_PAUSE_MS = 120;

/** Number of levels that are also marked beside the scroll bar. */
const IN_RULER = 2;

/** The overlay's appearance, from the settings. */
export interface Style {
  /** Per cent of the opacity of the theme's colours. */
  opacity: number;
  /** Whether the least certain levels are also underlined, so that colour is not the only cue. */
  underline: boolean;
}

/** A fixed set, with one decoration type per level whatever the number of ranges. */
function decorationTypes(style: Style, defaults: LevelColours[]): vscode.TextEditorDecorationType[] {
  return Array.from({ length: OVERLAY_LEVELS }, (_, level) => {
    const colour = drawn(style, defaults, level);
    const line = style.underline ? UNDERLINES[level] : undefined;
    return vscode.window.createTextEditorDecorationType({
      backgroundColor: colour,
      borderRadius: "3px",
      rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
      ...(line && { textDecoration: `underline 1px ${line}` }),
      ...(level < IN_RULER && {
        overviewRulerColor: colour,
        overviewRulerLane: vscode.OverviewRulerLane.Left,
      }),
    });
  });
}

/** The theme colour, which the user may have changed, or a literal colour if it has to be fainter or stronger. */
function drawn(style: Style, defaults: LevelColours[], level: number): vscode.ThemeColor | string {
  const known = defaults[level];
  if (style.opacity === 100 || !known) return new vscode.ThemeColor(`counterlens.confidence${level}`);
  return faded(themeColour(known, vscode.window.activeColorTheme.kind), style.opacity);
}

export class Overlay implements vscode.Disposable {
  private types: vscode.TextEditorDecorationType[];
  private readonly disposables: vscode.Disposable[] = [];
  private readonly timers = new Map<vscode.TextEditor, NodeJS.Timeout>();
  /** Number of the latest request of each editor; responses to earlier ones are dropped. */
  private readonly asked = new WeakMap<vscode.TextEditor, number>();
  private enabled: boolean;
  private readonly toggled = new vscode.EventEmitter<boolean>();
  readonly onDidToggle = this.toggled.event;

  constructor(
    private readonly server: Server,
    /** The manifest's colours, by level. */
    private readonly defaults: LevelColours[],
    enabled: boolean,
    private style: Style,
  ) {
    this.enabled = enabled;
    this.types = decorationTypes(style, defaults);
    this.disposables.push(
      vscode.window.onDidChangeVisibleTextEditors((editors) => editors.forEach((e) => void this.draw(e))),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.drawSoon(textEditor)),
      vscode.window.onDidChangeActiveColorTheme(() => this.setStyle(this.style)),
    );
  }

  get isEnabled(): boolean {
    return this.enabled;
  }

  setEnabled(enabled: boolean): void {
    this.enabled = enabled;
    this.toggled.fire(enabled);
    this.drawAll();
  }

  get isUnderlined(): boolean {
    return this.style.underline;
  }

  /** The colour of a level in the current theme. */
  colourOf(level: number): string {
    const known = this.defaults[level];
    return known
      ? faded(themeColour(known, vscode.window.activeColorTheme.kind), this.style.opacity)
      : "#00000000";
  }

  setStyle(style: Style): void {
    this.style = style;
    for (const type of this.types) type.dispose();
    this.types = decorationTypes(style, this.defaults);
    this.drawAll();
  }

  drawAll(): void {
    for (const editor of vscode.window.visibleTextEditors) void this.draw(editor);
  }

  scoresChanged({ uri }: ScoresChangedParams): void {
    const changed = vscode.Uri.parse(uri).toString();
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.toString() === changed) void this.draw(editor);
    }
  }

  private drawSoon(editor: vscode.TextEditor): void {
    clearTimeout(this.timers.get(editor));
    const timer = setTimeout(() => {
      this.timers.delete(editor);
      void this.draw(editor);
    }, SCROLL_PAUSE_MS);
    this.timers.set(editor, timer);
  }

  private async draw(editor: vscode.TextEditor): Promise<void> {
    const { document } = editor;
    if (!this.server.serves(document)) return;
    if (!this.enabled) return this.clear(editor);
    const visible = editor.visibleRanges.map(({ start, end }) => ({ first: start.line, last: end.line }));
    const question = (this.asked.get(editor) ?? 0) + 1;
    this.asked.set(editor, question);
    const answer = await this.ask(document, visible);
    if (this.asked.get(editor) !== question) return;
    // A response for an older text would colour the wrong words; the server announces the next one. While a text is
    // being scored, its scored part is coloured; before that, the existing colours stay.
    const some = answer?.state === "ready" || (answer?.state === "scoring" && answer.spans.length > 0);
    if (answer && some && this.enabled && answer.version === document.version) {
      this.paint(editor, answer, visible);
    } else if (answer?.state === "unavailable") {
      this.clear(editor);
    }
  }

  private async ask(document: vscode.TextDocument, visible: Lines[]): Promise<OverlayResult | undefined> {
    const lines = withMargin(visible, document.lineCount);
    const params: OverlayParams = { textDocument: { uri: document.uri.toString() } };
    if (lines) {
      const end = document.lineAt(lines.last).range.end;
      params.range = { start: { line: lines.first, character: 0 }, end };
    }
    return this.server.request<OverlayResult>(OVERLAY, params);
  }

  private paint(editor: vscode.TextEditor, answer: OverlayResult, visible: Lines[]): void {
    const { document } = editor;
    const textOf = (line: number) => (line < document.lineCount ? document.lineAt(line).text : "");
    byLevel(answer.spans, visible).forEach((spans, level) => {
      const type = this.types[level];
      const drawn = spans.flatMap((span) => pieces(span, textOf));
      if (type) {
        editor.setDecorations(
          type,
          drawn.map(({ line, from, to }) => new vscode.Range(line, from, line, to)),
        );
      }
    });
  }

  private clear(editor: vscode.TextEditor): void {
    for (const type of this.types) editor.setDecorations(type, []);
  }

  dispose(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
    for (const disposable of [...this.disposables, ...this.types, this.toggled]) disposable.dispose();
  }
}
