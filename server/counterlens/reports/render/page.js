"use strict";
// Unpacks compressed content, and runs the filter.
(() => {
  // Compressed content: gzip of JSON, in base64, unpacked once.
  let unpacked;
  const packed = () => {
    unpacked ??= (async () => {
      const place = document.getElementById("packed");
      if (!place) return [];
      const bytes = Uint8Array.from(atob(JSON.parse(place.textContent)), (letter) => letter.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      return new Response(stream).json();
    })();
    return unpacked;
  };

  for (const pair of document.querySelectorAll("[data-packed]")) {
    const fill = async () => {
      const number = pair.dataset.packed;
      if (number === undefined) return;
      delete pair.dataset.packed;
      pair.insertAdjacentHTML("beforeend", (await packed())[number]);
    };
    pair.addEventListener("toggle", fill, { once: true });
  }

  const form = document.getElementById("filter");
  if (!form) return;
  form.hidden = false;
  const records = [...document.querySelectorAll(".record")];
  const said = form.querySelector("output");

  const show = () => {
    const wanted = Object.fromEntries(new FormData(form));
    const named = wanted.function.trim().toLowerCase();
    const narrowed = wanted.mutation || wanted.outcome;
    let shown = 0;
    for (const record of records) {
      const fits =
        (!wanted.model || record.dataset.model === wanted.model) && record.dataset.function.toLowerCase().includes(named);
      let inside = 0;
      for (const pair of record.querySelectorAll(".pair")) {
        pair.hidden =
          !fits ||
          (wanted.mutation !== "" && pair.dataset.mutation !== wanted.mutation) ||
          (wanted.outcome !== "" && pair.dataset.outcome !== wanted.outcome);
        inside += pair.hidden ? 0 : 1;
      }
      record.hidden = !fits || (narrowed && inside === 0);
      shown += inside;
    }
    said.value = `${shown} ${shown === 1 ? "pair" : "pairs"}`;
  };

  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("click", (event) => {
    const open = event.target.dataset?.open;
    if (open === undefined) return;
    for (const pair of document.querySelectorAll(".pair")) {
      if (open === "false" || !pair.hidden) pair.open = open === "true";
    }
  });
  show();

  // A link to a pair opens it.
  const follow = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  addEventListener("hashchange", follow);
  follow();
})();
