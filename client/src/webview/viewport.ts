/// <reference lib="dom" />
/** What of the picture is on the screen, and how large: scrolling, zooming, dragging. */

import type { Box } from "../picture/layout";

const SMALLEST = 0.25;
const LARGEST = 2;
/** Unasked it is not made smaller than can be read. */
const READABLE = 0.75;
/** Around what is looked at. */
const AROUND = 40;

export class Viewport {
  private width = 0;
  private height = 0;
  private own: number | undefined;
  private now = 1;

  constructor(
    private readonly scroller: HTMLElement,
    private readonly apply: (scale: number) => void,
    resized: () => void,
  ) {
    scroller.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.zoom(event.deltaY < 0 ? 1.1 : 1 / 1.1, event);
      },
      { passive: false },
    );
    scroller.addEventListener("pointerdown", (event) => this.drag(event));
    new ResizeObserver(resized).observe(scroller);
  }

  get scale(): number {
    return this.now;
  }

  /** The scale that the user has chosen, if any. */
  get chosen(): number | undefined {
    return this.own;
  }

  choose(scale: number): void {
    this.own = Math.min(LARGEST, Math.max(SMALLEST, scale));
    this.now = this.own;
  }

  /** Forget the scale, for a picture of something else. */
  reset(): void {
    this.own = undefined;
    this.scroller.scrollTo(0, 0);
  }

  /** Whether a picture so wide can be seen without scrolling sideways, and read. */
  holds(width: number): boolean {
    return width * READABLE <= this.scroller.clientWidth;
  }

  /** How wide a picture may be that need not be scrolled sideways. */
  get widest(): number {
    return Math.max(480, this.scroller.clientWidth / (this.own ?? 1));
  }

  sized(width: number, height: number): void {
    [this.width, this.height] = [width, height];
    if (this.own === undefined && width > 0) {
      this.now = Math.max(READABLE, Math.min(1, this.scroller.clientWidth / width));
    }
    this.apply(this.now);
  }

  /** @param at what stays where it is; the middle by default */
  zoom(by: number, at?: { clientX: number; clientY: number }): void {
    const { left, top, width, height } = this.scroller.getBoundingClientRect();
    const [x, y] = at ? [at.clientX - left, at.clientY - top] : [width / 2, height / 2];
    const before = this.now;
    const [column, row] = [(this.scroller.scrollLeft + x) / before, (this.scroller.scrollTop + y) / before];
    this.choose(before * by);
    this.apply(this.now);
    this.scroller.scrollTo(column * this.now - x, row * this.now - y);
  }

  /** All of it, as far as that can be read at all. */
  fit(): void {
    const { clientWidth, clientHeight } = this.scroller;
    if (this.width > 0) this.choose(Math.min(1, clientWidth / this.width, clientHeight / this.height));
    this.apply(this.now);
  }

  /** Scroll no further than it takes to have a box on the screen. */
  lookAt(box: Box): void {
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.scroller;
    const along = (now: number, size: number, from: number, length: number) => {
      const [first, last] = [from * this.now - AROUND, (from + length) * this.now + AROUND];
      if (first < now) return Math.max(0, first);
      return last > now + size ? Math.min(first, last - size) : now;
    };
    const left = along(scrollLeft, clientWidth, box.x, box.width);
    const top = along(scrollTop, clientHeight, box.y, box.height);
    this.scroller.scrollTo({ left, top });
  }

  /** Move the picture with the mouse where nothing is drawn. */
  private drag(event: PointerEvent): void {
    const { target, button, pointerId, clientX, clientY } = event;
    if (button !== 0 || event.pointerType !== "mouse") return;
    if (target instanceof Element && target.closest("[data-row]")) return;
    const { scrollLeft, scrollTop } = this.scroller;
    const move = (to: PointerEvent) =>
      this.scroller.scrollTo(scrollLeft + clientX - to.clientX, scrollTop + clientY - to.clientY);
    this.scroller.setPointerCapture(pointerId);
    this.scroller.addEventListener("pointermove", move);
    this.scroller.addEventListener(
      "lostpointercapture",
      () => this.scroller.removeEventListener("pointermove", move),
      { once: true },
    );
  }
}
