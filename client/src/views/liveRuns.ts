/** The active runs that this window started: the state of each, and its progress in the status bar. */

import * as vscode from "vscode";
import type { RunNews } from "./protocol";
import { leftWords } from "./words";

const GOES_ON = "counterlens.runGoesOn";

interface Live {
  news: RunNews;
  progress: vscode.Progress<{ message?: string }> | undefined;
  over: () => void;
}

export class LiveRuns implements vscode.Disposable {
  private readonly runs = new Map<string, Live>();

  /** The latest news of an active run. */
  of(folder: string): RunNews | undefined {
    return this.runs.get(folder)?.news;
  }

  get folders(): string[] {
    return [...this.runs.keys()];
  }

  take(news: RunNews, name: string): void {
    const known = this.runs.get(news.folder);
    if (news.state !== "running") {
      this.runs.delete(news.folder);
      known?.over();
    } else if (known) {
      known.news = news;
      known.progress?.report({ message: words(news) });
    } else this.begin(news, name);
    void vscode.commands.executeCommand("setContext", GOES_ON, this.runs.size > 0);
  }

  /** Called when the server has stopped, which ends its runs. */
  forget(): void {
    for (const { over } of this.runs.values()) over();
    this.runs.clear();
    void vscode.commands.executeCommand("setContext", GOES_ON, false);
  }

  private begin(news: RunNews, name: string): void {
    const live: Live = { news, progress: undefined, over: () => undefined };
    this.runs.set(news.folder, live);
    const title = `Run ${name}`;
    void vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, (progress) => {
      live.progress = progress;
      progress.report({ message: words(live.news) });
      return new Promise<void>((resolve) => {
        live.over = resolve;
      });
    });
  }

  dispose(): void {
    this.forget();
  }
}

function words(news: RunNews): string {
  return [news.total > 0 && leftWords(news), news.what].filter(Boolean).join(" · ");
}
