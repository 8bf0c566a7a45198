// What the widgets that draw SVG share. The page takes a widget as one module, so `diagrams.py` sends this text and
// then the widget's own. So no import has to be resolved: it works in JupyterLab, in Voila and offline.
const SVG = "http://www.w3.org/2000/svg";
// Pixels: the labels at the left, and a column (a bank, four bytes, a lane).
const LABEL = 136, CELL = 29;

function element(name, attributes = {}, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

const words = (x, y, text, attributes = {}) => element("text", { x, y, ...attributes }, text);
const centred = (x, y, text, attributes = {}) => words(x, y, text, { "text-anchor": "middle", ...attributes });
const rowLabel = (y, text, attributes = {}) => words(LABEL - 8, y, text, { "text-anchor": "end", ...attributes });
const bandEdge = (x, y1, y2) => element("line", { x1: x, y1, x2: x, y2, class: "softlab-band" });

// The sentence below a picture, which screen readers read out when it changes.
function noteBelow() {
  const note = document.createElement("div");
  note.className = "softlab-note";
  note.setAttribute("aria-live", "polite");
  return note;
}

// Pixels of the viewBox; the page may show the picture smaller, never larger.
function resize(svg, width, height) {
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.style.maxWidth = `${width}px`;
}

// Calls `move(change)` for an arrow key on a cell, where `changes` has the key, and `leave()` for Escape.
function onKeys(el, changes, move, leave) {
  el.addEventListener("keydown", (event) => {
    if (event.key === "Escape") leave();
    const change = changes[event.key];
    if (!change || !event.target.closest(".softlab-cell")) return;
    event.preventDefault();
    event.stopPropagation();
    move(change);
  });
}

// A picture that has become smaller keeps its space, so that what stands below does not jump while a slider moves.
function keepSpace(el) {
  requestAnimationFrame(() => {
    const svg = el.querySelector("svg"), tall = svg ? svg.getBoundingClientRect().height : 0;
    el.style.minHeight = `${Math.max(parseFloat(el.style.minHeight) || 0, tall)}px`;
  });
}
