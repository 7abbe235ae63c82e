"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const KIND = 0, CATEGORY = 1, START = 2, END = 3, PARENT = 4, VALUE = 5, BITS = 7, FIRST = 8, LAST = 9, LEVEL = 10, INNER = 11;
  const text = data.text;
  const at = (id) => document.getElementById(id);

  // Content of the document or the model is inserted as text nodes only.
  function element(name, properties = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
      if (key in made) made[key] = value;
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  const percent = (value) => {
    if (value === null) return "not scored";
    if (value < 0.001) return "below 0.1 %";
    return value < 0.01 ? `${(100 * value).toFixed(1)} %` : `${Math.round(100 * value)} %`;
  };
  const visible = (token) =>
    token.trim() === "" ? token.replace(/\r/g, "").replace(/\n/g, "\u23ce").replace(/\t/g, "\u21e5").replace(/ /g, "\u00b7") || "nothing" : token.trim();
  const excerpt = (start, end, length = 60) => {
    const piece = text.slice(start, Math.min(end, start + 4 * length)).trim().replace(/\s+/g, " ");
    return piece.length > length ? `${piece.slice(0, length - 1)}\u2026` : piece || visible(text.slice(start, end));
  };
  const isError = (i) => data.kinds[data.nodes[i][KIND]] === "ERROR";
  const levelClass = (level) => (level === null ? "" : `l${level}`);

  // ---- lines
  const lines = [];
  for (let start = 0; start <= text.length; ) {
    const next = /\r\n|\n|\r/g;
    next.lastIndex = start;
    const found = next.exec(text);
    if (!found) {
      if (start < text.length || lines.length === 0) lines.push([start, text.length]);
      break;
    }
    lines.push([start, found.index]);
    start = next.lastIndex;
  }
  const lineOf = (offset) => {
    let low = 0, high = lines.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (lines[middle][0] <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  };

  // ---- code
  let pieces = []; // in the order of the text: {element, span, start, end}
  let current = -1;

  function paint(by) {
    const spans = data.spans[by];
    const rows = [];
    pieces = [];
    current = -1;
    let next = 0;
    lines.forEach(([start, end], number) => {
      const content = element("span", { className: "text" });
      while (next < spans.length && spans[next][1] <= start) next++;
      let cursor = start;
      for (let i = next; i < spans.length && spans[i][0] < end; i++) {
        const blanks = spans[i][0] < start ? text.slice(start, end).match(/^\s*/)[0].length : 0;
        const low = Math.max(spans[i][0], start + blanks), high = Math.min(spans[i][1], end);
        if (low > cursor) content.append(text.slice(cursor, low));
        if (high > low) {
          const shown = element("span", { className: `piece ${levelClass(spans[i][3])}`, tabIndex: -1 }, text.slice(low, high));
          shown.dataset.piece = pieces.length;
          pieces.push({ element: shown, span: spans[i], start: low, end: high });
          content.append(shown);
        }
        cursor = Math.max(cursor, high);
      }
      content.append(text.slice(cursor, end) || (start === end ? "\u200b" : ""));
      rows.push(element("div", { className: "row" }, element("span", { className: "number", ariaHidden: "true" }, String(number + 1)), content));
    });
    at("code").replaceChildren(...rows);
    if (pieces.length) pieces[0].element.tabIndex = 0;
  }

  function goTo(index, focus) {
    if (index < 0 || index >= pieces.length) return;
    if (pieces[current]) pieces[current].element.tabIndex = -1;
    else if (pieces[0]) pieces[0].element.tabIndex = -1;
    current = index;
    const piece = pieces[index];
    piece.element.tabIndex = 0;
    if (focus) piece.element.focus();
    const node = by() === "token" ? innermost(piece.start, piece.end) : piece.span[4];
    describe(node, by() === "token" ? piece.span[4] : null, piece.span);
    if (focus) reveal(by() === "token" && view() === "sequence" ? piece.span[4] : node);
  }

  const pieceOf = (event) => {
    const found = event.target.closest(".piece");
    return found ? Number(found.dataset.piece) : -1;
  };
  at("code").addEventListener("mouseover", (event) => {
    const index = pieceOf(event);
    if (index >= 0 && index !== current) goTo(index, false);
  });
  at("code").addEventListener("click", (event) => goTo(pieceOf(event), true));
  at("code").addEventListener("focusin", (event) => {
    const index = pieceOf(event);
    if (index >= 0 && index !== current) goTo(index, false);
  });
  at("code").addEventListener("keydown", (event) => {
    const here = pieceOf(event);
    if (here < 0) return;
    const vertical = (step) => {
      const line = lineOf(pieces[here].start);
      let i = here;
      while (i >= 0 && i < pieces.length && lineOf(pieces[i].start) === line) i += step;
      return i;
    };
    const target = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: pieces.length - 1 }[event.key]
      ?? (event.key === "ArrowDown" ? vertical(1) : event.key === "ArrowUp" ? vertical(-1) : null);
    if (target === null) return;
    event.preventDefault();
    goTo(Math.max(0, Math.min(target, pieces.length - 1)), true);
  });

  function innermost(start, end) {
    let best = 0;
    data.nodes.forEach((node, i) => {
      if (node[START] <= start && start < node[END] && (node[END] >= end || best === 0)) best = i;
    });
    return best;
  }

  function mark(start, end, scroll) {
    for (const shown of document.querySelectorAll(".marked")) shown.classList.remove("marked");
    let first = null;
    for (const piece of pieces) {
      if (piece.start < end && piece.end > start) {
        piece.element.classList.add("marked");
        first = first ?? piece.element;
      }
    }
    const target = first ?? at("code").children[lineOf(start)];
    if (scroll && target) target.scrollIntoView({ block: "nearest" });
  }

  // ---- details
  function describe(node, token, span) {
    const parts = [];
    const least = token ?? weakest(node, span);
    if (span) parts.push(element("p", {}, element("code", {}, excerpt(span[0], span[1])), ` ${percent(span[2])}`));
    const chain = [];
    for (let i = node; i >= 0; i = data.nodes[i][PARENT]) chain.push(i);
    const rows = chain.filter((i, place) => place === 0 || data.nodes[i][INNER]).slice(0, 8).map((i) => {
      const one = data.nodes[i];
      return element("tr", {},
        element("td", { className: "kind" }, data.kinds[one[KIND]]),
        element("td", {}, data.categories[one[CATEGORY]]),
        element("td", { className: "figure" }, percent(one[VALUE])),
        element("td", { className: "figure" }, one[BITS] === null ? "" : one[BITS].toFixed(one[BITS] < 100 ? 1 : 0)));
    });
    parts.push(element("table", {},
      element("tr", {}, element("th", {}, "node, innermost first"), element("th", {}, "concept"),
        element("th", { className: "figure" }, "confidence"), element("th", { className: "figure" }, "bits")), ...rows));
    if (least !== null) {
      const [start, end, probability, , alternatives] = data.tokens[least];
      const shown = element("dl", {}, element("dt", {}, token === null ? "least certain" : "token"),
        element("dd", {}, element("code", {}, visible(text.slice(start, end))), ` ${percent(probability)}`));
      if (alternatives.length) {
        const expected = element("dd");
        alternatives.forEach(([word, chance], i) => expected.append(i ? " \u00b7 " : "", element("code", {}, visible(word)), ` ${percent(chance)}`));
        shown.append(element("dt", {}, "expected"), expected);
      }
      parts.push(shown);
    }
    parts.push(element("p", { className: "note" }, `Confidence: the ${data.aggregation} of the probabilities of a node's tokens. It says how likely the model finds this text, not whether it is right.`));
    at("details").replaceChildren(...parts);
  }

  function weakest(node, span) {
    const [from, to] = span ? span : data.nodes[node].slice(START, END + 1);
    let best = null;
    for (let i = data.nodes[node][FIRST]; i < data.nodes[node][LAST]; i++) {
      const [start, end, probability] = data.tokens[i];
      if (probability === null || start >= to || end <= from) continue;
      if (best === null || probability < data.tokens[best][2]) best = i;
    }
    return best;
  }

  // ---- tree
  let children = new Map(), open = new Set(), selected = null, shownRows = [];

  function plant() {
    children = new Map();
    open = new Set();
    selected = null;
    if (view() !== "sequence") {
      data.nodes.forEach((node, i) => {
        if (view() === "partial" && !node[INNER]) return;
        const siblings = children.get(node[PARENT]) ?? [];
        siblings.push(i);
        children.set(node[PARENT], siblings);
      });
      const grow = (i, depth) => {
        if (depth > 2 || !children.has(i)) return;
        open.add(i);
        for (const child of children.get(i)) grow(child, depth + 1);
      };
      for (const root of children.get(-1) ?? []) grow(root, 0);
    }
    draw();
  }

  function draw() {
    shownRows = [];
    if (view() === "sequence") data.tokens.forEach((_, i) => shownRows.push([i, 0]));
    else {
      const waiting = [...(children.get(-1) ?? [])].reverse().map((i) => [i, 0]);
      while (waiting.length) {
        const [i, depth] = waiting.pop();
        shownRows.push([i, depth]);
        if (open.has(i)) for (const child of [...children.get(i)].reverse()) waiting.push([child, depth + 1]);
      }
    }
    at("tree").replaceChildren(...shownRows.map(([i, depth]) => row(i, depth)));
    const first = at("tree").querySelector('[aria-selected="true"]') ?? at("tree").firstElementChild;
    if (first) first.tabIndex = 0;
  }

  function row(i, depth) {
    const sequence = view() === "sequence";
    const one = sequence ? data.tokens[i] : data.nodes[i];
    const [start, end, value, level] = sequence ? [one[0], one[1], one[2], one[5]] : [one[START], one[END], one[VALUE], one[LEVEL]];
    const branch = !sequence && children.has(i);
    const made = element("div", { className: "item", role: "treeitem", tabIndex: -1, ariaLevel: String(depth + 1), ariaSelected: String(i === selected) },
      element("span", { className: "fold", ariaHidden: "true" }, branch ? (open.has(i) ? "\u25be" : "\u25b8") : ""),
      element("span", { className: `value ${levelClass(level)}` }, percent(value)),
      element("span", { className: "kind" }, sequence ? visible(text.slice(start, end)) : `${isError(i) ? "\u26a0 " : ""}${data.kinds[one[KIND]]}`),
      element("span", { className: "excerpt" }, sequence ? `line ${lineOf(start) + 1}` : excerpt(start, end)));
    if (!sequence && isError(i)) made.classList.add("alarm");
    if (branch) made.ariaExpanded = String(open.has(i));
    made.style.setProperty("padding-left", `${0.4 + Math.min(depth, 40) * 0.9}em`);
    made.dataset.row = i;
    return made;
  }

  function select(i, focus) {
    selected = i;
    for (const item of at("tree").children) {
      const mine = Number(item.dataset.row) === i;
      item.ariaSelected = String(mine);
      item.tabIndex = mine ? 0 : -1;
      if (mine && focus) item.focus({ preventScroll: true });
      if (mine) scrollTree(item);
    }
  }

  // Only the tree scrolls: the details above it stay in place.
  function scrollTree(item) {
    const box = at("tree").getBoundingClientRect(), mine = item.getBoundingClientRect();
    if (mine.top < box.top) at("tree").scrollTop -= box.top - mine.top + 4;
    else if (mine.bottom > box.bottom) at("tree").scrollTop += mine.bottom - box.bottom + 4;
  }

  function choose(i, focus) {
    select(i, focus);
    const sequence = view() === "sequence";
    const one = sequence ? data.tokens[i] : data.nodes[i];
    const [start, end, value, level] = sequence ? [one[0], one[1], one[2], one[5]] : [one[START], one[END], one[VALUE], one[LEVEL]];
    mark(start, end, true);
    describe(sequence ? innermost(start, end) : i, sequence ? i : null, [start, end, value, level]);
  }

  function reveal(i) {
    if (view() !== "sequence") {
      if (view() === "partial") while (i >= 0 && !data.nodes[i][INNER]) i = data.nodes[i][PARENT];
      for (let above = data.nodes[i]?.[PARENT] ?? -1; above >= 0; above = data.nodes[above][PARENT]) open.add(above);
      selected = i;
      draw();
    }
    select(i, false);
    const one = view() === "sequence" ? data.tokens[i] : data.nodes[i];
    if (one) mark(...(view() === "sequence" ? [one[0], one[1]] : [one[START], one[END]]), false);
  }

  function fold(i, opened) {
    if (!children.has(i)) return;
    if (opened) open.add(i);
    else open.delete(i);
    draw();
    select(i, true);
  }

  at("tree").addEventListener("click", (event) => {
    const item = event.target.closest(".item");
    if (!item) return;
    const i = Number(item.dataset.row);
    if (event.target.closest(".fold")) fold(i, !open.has(i));
    else choose(i, true);
  });
  at("tree").addEventListener("keydown", (event) => {
    const item = event.target.closest(".item");
    if (!item) return;
    const i = Number(item.dataset.row);
    const place = shownRows.findIndex(([row]) => row === i);
    const parent = view() === "sequence" ? -1 : data.nodes[i][PARENT];
    const actions = {
      ArrowDown: () => shownRows[place + 1] && choose(shownRows[place + 1][0], true),
      ArrowUp: () => shownRows[place - 1] && choose(shownRows[place - 1][0], true),
      Home: () => choose(shownRows[0][0], true),
      End: () => choose(shownRows.at(-1)[0], true),
      ArrowRight: () => (children.has(i) && !open.has(i) ? fold(i, true) : children.has(i) && choose(children.get(i)[0], true)),
      ArrowLeft: () => (open.has(i) ? fold(i, false) : parent >= 0 && choose(parent, true)),
      Enter: () => choose(i, true),
      " ": () => fold(i, !open.has(i)),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  });

  // ---- from a concept to its nodes, the least certain first
  let followed = null, turn = -1;

  function follow(name, nodes) {
    if (followed !== name) turn = -1;
    followed = name;
    turn = (turn + 1) % nodes.length;
    const i = nodes[turn], one = data.nodes[i];
    if (view() !== "sequence") reveal(i);
    mark(one[START], one[END], true);
    describe(i, null, [one[START], one[END], one[VALUE], one[LEVEL]]);
    at("followed").textContent = `${name}: ${turn + 1} of ${nodes.length}`;
  }

  const certain = (i) => data.nodes[i][VALUE] ?? 2;
  function link(name, nodes) {
    const button = element("button", { type: "button", className: "link", title: "Go to its nodes, the least certain first" }, name);
    button.addEventListener("click", () => follow(name, nodes));
    return button;
  }
  const nodesOf = (wanted) => data.nodes.map((_, i) => i).filter(wanted).sort((a, b) => certain(a) - certain(b));

  // ---- controls
  function radios(id, options, chosen, changed) {
    for (const [value, label] of options) {
      const input = element("input", { type: "radio", name: id, value, checked: value === chosen });
      input.addEventListener("change", changed);
      at(id).append(element("label", {}, input, ` ${label}`));
    }
    return () => document.querySelector(`input[name="${id}"]:checked`).value;
  }
  const by = radios("granularity", ["token", "leaf", "statement", "concept"].map((one) => [one, one]), data.by, () => paint(by()));
  const view = radios("view", [["partial", "non-terminals"], ["complete", "all nodes"], ["sequence", "tokens"]], "partial", () => plant());

  at("name").textContent = data.name;
  at("facts").textContent = [
    data.language,
    `${data.tokens.length.toLocaleString("en")} tokens`,
    `confidence ${data.confidence === null ? "unknown" : data.confidence.toFixed(2)}`,
    ...(data.bitsPerByte === null ? [] : [`${data.bitsPerByte.toFixed(2)} bits per byte`]),
    `${data.model}, ${data.where}`,
  ].join(" \u00b7 ");
  const broken = nodesOf(isError);
  if (broken.length) at("facts").append(" \u00b7 ", element("span", { className: "alarm" }, "\u26a0 ", link("does not parse", broken)));
  data.labels.forEach((label, level) => at("legend").append(element("li", { className: levelClass(level) }, label)));
  at("concepts").append(
    element("tr", {}, element("th", {}, "concept"), element("th", { className: "figure" }, "confidence"), element("th", { className: "figure" }, "nodes")),
    ...data.concepts.map(([name, value, n]) => element("tr", {}, element("td", {}, link(name, nodesOf((i) => data.categories[data.nodes[i][CATEGORY]] === name && data.nodes[i][VALUE] !== null))),
      element("td", { className: "figure" }, value.toFixed(2)), element("td", { className: "figure" }, String(n)))));
  at("concept-note").textContent = data.conceptNote;
  at("details").append(element("p", { className: "note" }, "Point at a piece of code, or move there with Tab and the arrow keys."));
  paint(data.by);
  plant();
})();
