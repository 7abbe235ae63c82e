// The workbench as a user sees it. All access is through the DOM, the mouse and the keyboard.
import { pathToFileURL } from "node:url";
import { KEYS } from "./keys.mjs";
import { until } from "./retry.mjs";

/** Monaco renders spaces as no-break spaces. */
const plain = (text) => text.replace(/\u00a0/g, " ");

/**
 * Spinners and progress bars turn once: they are painted by the processor, all the time that a model works. Animations
 * that end, such as the fading in of a hover, are not changed.
 */
const STILL = "*, ::before, ::after { animation-iteration-count: 1 !important }";

export class Workbench {
  constructor(page, url) {
    this.page = page;
    this.url = url;
  }

  async open(folder, file) {
    const query = new URLSearchParams({ folder });
    const uri = `vscode-remote://${new URL(this.url).host}${pathToFileURL(file).pathname}`;
    query.set("payload", JSON.stringify([["openFile", uri]]));
    // A busy machine takes long to start an editor, which no test is about.
    await this.page.goto(`${this.url}/?${query}`, { waitUntil: "domcontentloaded", timeout: 120_000 });
    await this.page.locator(".monaco-workbench .part.statusbar").waitFor({ timeout: 120_000 });
    await this.page.evaluate((style) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(style);
      document.adoptedStyleSheets.push(sheet);
    }, STILL);
    await this.editor.locator(".view-line").first().waitFor();
  }

  get editor() {
    return this.page.locator(".part.editor .editor-instance .monaco-editor").first();
  }

  line(text) {
    return this.editor.locator(".view-line").filter({ hasText: text });
  }

  statusItem(text) {
    return this.page.locator(".part.statusbar .statusbar-item", { hasText: text });
  }

  /**
   * Records all texts of the status bar from now on, including those that pass quickly.
   *
   * @returns {Promise<(text: string) => Promise<void>>} waits until a recorded text contains `text`
   */
  async statusNoted() {
    const noted = await this.page.evaluateHandle(() => {
      const bar = document.querySelector(".part.statusbar");
      const texts = [];
      const look = () => texts.push(bar.innerText);
      new MutationObserver(look).observe(bar, { childList: true, characterData: true, subtree: true });
      return texts;
    });
    return (text) =>
      until(async () => {
        const texts = (await noted.jsonValue()).map(plain);
        if (!texts.some((each) => each.includes(text))) throw new Error(`${text}: ${texts.join(" | ")}`);
      });
  }

  notification(text) {
    return this.page.locator(".notification-toast .notification-list-item", { hasText: text });
  }

  codeLens(text) {
    return this.editor.locator(".codelens-decoration a", { hasText: text });
  }

  problems(text) {
    return this.page.locator(".markers-panel .monaco-list-row", { hasText: text });
  }

  async quickInput(options = {}) {
    const box = this.page.locator(".quick-input-widget input.input");
    await box.waitFor({ state: "visible", ...options });
    return box;
  }

  /** Runs a command by its title: those of the editor itself that have a key with it, others in the palette. */
  async command(title) {
    if (KEYS.has(title)) return this.page.keyboard.press(KEYS.get(title));
    const row = this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first();
    const palette = this.page.locator(".quick-input-widget");
    // The palette lists the commands that were registered when it was opened; to list later ones, it must be closed
    // first. While the focus moves, the key that opens it may be lost.
    let listed = false;
    await until(async () => {
      if (listed && (await palette.isVisible())) await this.page.keyboard.press("Escape");
      listed = true;
      await this.page.keyboard.press("F1");
      await (await this.quickInput({ timeout: 5_000 })).fill(`>${title}`);
      await row.waitFor({ timeout: 5_000 });
    });
    await row.click();
  }

  /** Rows of an open quick pick. */
  choice(text) {
    return this.page.locator(".quick-input-list .monaco-list-row", { hasText: text });
  }

  /** Open tabs whose title contains the text. */
  tab(text) {
    return this.page.locator(".tabs-container .tab", { hasText: text });
  }

  /** The page of the visible webview whose title begins with the text. */
  panel(title) {
    const outer = this.page.locator("iframe.webview.ready").contentFrame();
    return outer.locator(`iframe#active-frame[title^="${title}"]`).contentFrame();
  }

  /**
   * The report of a probe in its panel, once there is one: before, the panel shows what is known so far.
   *
   * @param {string} name the qualified name of the function
   * @param {object} [waiting] how long
   */
  async probed(name, waiting) {
    const panel = this.panel(`Probe of ${name}`);
    await panel.getByRole("heading", { level: 1, name, exact: true }).waitFor(waiting);
    return panel;
  }

  /**
   * One side of the visible diff: its language, its lines, and those marked as changed.
   *
   * @param {"original" | "modified"} side
   */
  async difference(side) {
    const editor = this.page.locator(`.monaco-diff-editor .editor.${side}`);
    await editor.locator(".view-line").first().waitFor();
    return editor.evaluate((element) => {
      const clean = (line) => line.textContent.replace(/\u00a0/g, " ");
      const lines = [...element.querySelectorAll(".view-lines > .view-line")];
      lines.sort((a, b) => Number.parseFloat(a.style.top) - Number.parseFloat(b.style.top));
      const marks = element.querySelectorAll(".view-overlays .line-insert, .view-overlays .line-delete");
      const tops = new Set([...marks].map((mark) => mark.parentElement.style.top));
      return {
        language: element.dataset.modeId,
        lines: lines.map(clean),
        changed: lines.filter(({ style }) => tops.has(style.top)).map(clean),
        colours: new Set([...element.querySelectorAll(".view-line span span")].map((span) => span.className))
          .size,
      };
    });
  }

  /** Opens a file of the workspace by its name; a new one may not be known yet, and a click on a row may be lost. */
  async quickOpen(file) {
    const row = this.page.locator(".quick-input-list .monaco-list-row", { hasText: file }).first();
    await until(async () => {
      await this.page.keyboard.press("Escape");
      await this.page.keyboard.press("Control+P");
      const box = await this.quickInput({ timeout: 5_000 });
      await box.fill(file);
      await row.click({ timeout: 5_000 });
      await box.waitFor({ state: "hidden", timeout: 5_000 });
    });
  }

  /**
   * Ends all unsaved edits with a command that saves or reverts them. Waits until there is none, since the editor asks
   * whether to save one when its tab is closed.
   */
  async settle(title) {
    await this.command(title);
    await this.page.locator(".tabs-container .tab.dirty").first().waitFor({ state: "detached" });
  }

  async clearNotifications() {
    await this.command("Notifications: Clear All Notifications");
  }

  /** Titles of the palette's commands for a text. */
  async commandsFor(text) {
    await this.page.keyboard.press("F1");
    await (await this.quickInput()).fill(`>${text}`);
    const rows = this.page.locator(".quick-input-list .monaco-list-row .label-name");
    await rows.first().waitFor();
    const titles = await rows.allInnerTexts();
    await this.page.keyboard.press("Escape");
    return titles;
  }

  /** The client rectangle of some text in the editor, once it no longer moves. */
  async box(text, { line = text } = {}) {
    let last = "";
    return until(
      async () => {
        const found = await this.boxNow(text, line);
        const now = JSON.stringify(found);
        const still = found && now === last;
        last = now;
        if (!still) throw new Error(`"${text}" is ${found ? "still moving" : "not on the screen"}`);
        return found;
      },
      { every: 200 },
    );
  }

  boxNow(text, line) {
    return this.editor.evaluate(
      (editor, [wanted, inLine]) => {
        const clean = (value) => value.replace(/\u00a0/g, " ");
        for (const row of editor.querySelectorAll(".view-line")) {
          const at = clean(row.textContent).includes(inLine) ? clean(row.textContent).indexOf(inLine) : -1;
          if (at < 0) continue;
          const begin = at + inLine.indexOf(wanted);
          const range = document.createRange();
          const texts = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
          let passed = 0;
          let started = false;
          for (let node = texts.nextNode(); node; node = texts.nextNode()) {
            const length = node.data.length;
            if (!started && begin < passed + length) {
              range.setStart(node, begin - passed);
              started = true;
            }
            if (started && begin + wanted.length <= passed + length) {
              range.setEnd(node, begin + wanted.length - passed);
              const { x, y, width, height } = range.getBoundingClientRect();
              return { x, y, width, height };
            }
            passed += length;
          }
        }
        return null;
      },
      [text, line],
    );
  }

  async leave() {
    await this.page.mouse.move(5, 5);
    await this.page.keyboard.press("Escape");
  }

  /** Points at some text, and reads the whole hover. */
  async hover(text, where) {
    await this.leave();
    const { x, y, width, height } = await this.box(text, where);
    await this.page.mouse.move(x + width / 2 - 3, y + height / 2);
    await this.page.mouse.move(x + width / 2, y + height / 2, { steps: 3 });
    const hover = this.page.locator(".monaco-hover:not(.hidden)", {
      has: this.page.locator(".hover-contents"),
    });
    await hover.first().waitFor({ state: "visible", timeout: 10_000 }); // `until` points there again
    return plain((await hover.allInnerTexts()).join("\n"));
  }

  /** Points at some text, clicks "more", and reads the whole hover. */
  async more(text, where) {
    await this.hover(text, where);
    const hover = this.page.locator(".monaco-hover:not(.hidden)");
    await hover
      .getByRole("link", { name: /^(more|mehr)$/ })
      .first()
      .click({ timeout: 5_000 });
    await hover.locator("hr").first().waitFor();
    return plain((await hover.allInnerTexts()).join("\n"));
  }

  /** Clicks an offer in the hover of some text. It points there again only if the hover is gone. */
  async clickOffer(offer, text, where) {
    const link = this.page.locator(".monaco-hover:not(.hidden)").getByRole("link").filter({ hasText: offer });
    await until(async () => {
      if (!(await link.isVisible())) await this.hover(text, where);
      await link.click({ timeout: 10_000 });
    });
  }

  /** Clicks some text of the code; again if it has moved meanwhile, as code lenses that arrive move it. */
  async click(text, where) {
    for (let moved = true; moved; ) {
      const { x, y, width, height } = await this.box(text, where);
      await this.page.mouse.click(x + width / 2, y + height / 2);
      const now = await this.boxNow(text, where?.line ?? text);
      moved = now && (now.x !== x || now.y !== y);
    }
  }

  /**
   * The decorations of some text: classes and computed style of those whose rectangle overlaps it, behind the text
   * (`cdr`) and on the text itself.
   */
  async decorationsAt(text, where) {
    const box = await this.box(text, where);
    return this.editor.evaluate((editor, at) => {
      const overlaps = (element) =>
        [...element.getClientRects()].some(
          (r) =>
            Math.min(r.right, at.x + at.width) - Math.max(r.left, at.x) > 1 &&
            Math.min(r.bottom, at.y + at.height) - Math.max(r.top, at.y) > at.height / 2,
        );
      const elements = editor.querySelectorAll(".view-overlays .cdr, .view-line span span");
      return [...elements].filter(overlaps).map((element) => {
        const { backgroundColor, textDecorationLine, textDecorationStyle } = getComputedStyle(element);
        return { classes: element.className, backgroundColor, textDecorationLine, textDecorationStyle };
      });
    }, box);
  }

  /** Whether some text has a squiggle (information: blue; hint: dots). */
  async markedAt(text, where) {
    return (await this.decorationsAt(text, where)).some(({ classes }) =>
      /squiggly-(error|info|hint|inline)/.test(classes),
    );
  }

  /** The visible lines, from top to bottom. */
  async text() {
    const lines = await this.editor.locator(".view-lines > .view-line").evaluateAll((found) =>
      found
        .map((line) => ({ top: Number.parseFloat(line.style.top), text: line.textContent }))
        .sort((a, b) => a.top - b.top)
        .map(({ text }) => text),
    );
    return plain(lines.join("\n"));
  }

  /** Text of the output view. */
  async output() {
    return plain((await this.page.locator(".part.panel .view-line").allInnerTexts()).join("\n"));
  }
}
