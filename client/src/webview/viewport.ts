/// <reference lib="dom" />
/** The visible part of the diagram and its scale: scrolling, zooming, dragging. */

import type { Box } from "../diagram/layout";

const SMALLEST = 0.25;
const LARGEST = 2;
/** Minimum scale unless the user zooms, so that the text stays readable. */
const READABLE = 0.75;
/** Margin around a box that is scrolled into view. */
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

  /** Resets the scale and the scroll position, for a diagram of something else. */
  reset(): void {
    this.own = undefined;
    this.scroller.scrollTo(0, 0);
  }

  /** Whether a diagram of this width fits without horizontal scrolling, at a readable scale. */
  holds(width: number): boolean {
    return width * READABLE <= this.scroller.clientWidth;
  }

  /** Maximum width of a diagram that needs no horizontal scrolling. */
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

  /** @param at the point that does not move; the middle by default */
  zoom(by: number, at?: { clientX: number; clientY: number }): void {
    const { left, top, width, height } = this.scroller.getBoundingClientRect();
    const [x, y] = at ? [at.clientX - left, at.clientY - top] : [width / 2, height / 2];
    const before = this.now;
    const [column, row] = [(this.scroller.scrollLeft + x) / before, (this.scroller.scrollTop + y) / before];
    this.choose(before * by);
    this.apply(this.now);
    this.scroller.scrollTo(column * this.now - x, row * this.now - y);
  }

  /** Fits the whole diagram into the viewport, within the smallest scale. */
  fit(): void {
    const { clientWidth, clientHeight } = this.scroller;
    if (this.width > 0) this.choose(Math.min(1, clientWidth / this.width, clientHeight / this.height));
    this.apply(this.now);
  }

  /** Scrolls as little as needed to show a box. */
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

  /** Moves the diagram by dragging its background with the mouse. */
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
