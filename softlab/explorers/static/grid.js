// Draws the data of softlab.views.diagrams as SVG: panels of rows and columns, a cell for each word or run of words.
// One lane can be selected (click, or arrow keys on a cell): its cells stand out in every panel and its sentence is read out.
const SVG = "http://www.w3.org/2000/svg";
let drawn = 0;
const LABEL = 136, CELL = 29, HEIGHT = 22, HEAD = 40, GAP = 14;

function element(name, attributes = {}, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

function drawCell(cell, top, panel, hatch) {
  const x = LABEL + cell.column * CELL, y = top + cell.row * HEIGHT;
  const group = element("g", {
    class: `softlab-cell softlab-${cell.role}`, tabindex: -1, role: "img", "aria-label": cell.tip,
    "data-panel": panel, "data-row": cell.row, "data-column": cell.column, "data-span": cell.span,
    "data-role": cell.role, "data-lanes": cell.lanes.join(" "),
  });
  const box = { x: x + 1, y: y + 1, width: cell.span * CELL - 2, height: HEIGHT - 2, rx: 3 };
  group.append(element("rect", { ...box, fill: cell.fill, class: "softlab-box" }));
  if (cell.role === "conflict") group.append(element("rect", { ...box, fill: `url(#${hatch})` }));
  group.append(element("text", { x: x + cell.span * CELL / 2, y: y + HEIGHT / 2 + 4, fill: cell.ink, stroke: cell.fill, class: cell.text.length > 3 ? "softlab-small" : "", "text-anchor": "middle" }, cell.text));
  group.append(element("title", {}, cell.tip));
  return group;
}

function drawPanel(svg, panel, index, top, hatch) {
  svg.append(element("text", { x: 0, y: top + 13, class: "softlab-title" }, panel.title));
  const numbers = top + HEAD - 8, body = top + HEAD;
  svg.append(element("text", { x: LABEL - 8, y: numbers, class: "softlab-axis", "text-anchor": "end" }, panel.columnTitle));
  for (let c = 0; c < panel.columns; c++) {
    svg.append(element("text", { x: LABEL + (c + 0.5) * CELL, y: numbers, class: "softlab-axis", "text-anchor": "middle" }, c));
  }
  panel.rows.forEach((row, r) => {
    const y = body + r * HEIGHT;
    svg.append(element("rect", { x: LABEL, y, width: panel.columns * CELL, height: HEIGHT, class: r % 2 ? "softlab-row softlab-odd" : "softlab-row" }));
    const words = row.mark ? `${row.label} · ${row.mark}` : row.label;
    svg.append(element("text", { x: LABEL - 8, y: y + HEIGHT / 2 + 4, "text-anchor": "end", class: `softlab-label softlab-mark-${row.mark || "none"}`, "data-row-label": r }, words));
  });
  const layer = element("g", { "data-panel-cells": index });
  panel.cells.forEach((cell) => layer.append(drawCell(cell, body, index, hatch)));
  svg.append(layer);
  return body + panel.rows.length * HEIGHT + GAP;
}

function draw(data) {
  const columns = Math.max(1, ...data.panels.map((panel) => panel.columns));
  const width = LABEL + columns * CELL + 2;
  const svg = element("svg", { class: "softlab-grid", role: "group", "aria-label": data.title });
  const hatch = `softlab-hatch-${drawn++}`; // a page may hold several diagrams, and hide some
  const pattern = element("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  pattern.append(element("rect", { width: 1.5, height: 6, fill: "rgba(0,0,0,.35)" }));
  svg.append(pattern, element("text", { x: 0, y: 16, class: "softlab-head" }, data.title));
  let top = 26;
  data.panels.forEach((panel, index) => { top = drawPanel(svg, panel, index, top, hatch); });
  let x = LABEL;
  data.legend.forEach((entry) => {
    svg.append(element("rect", { x, y: top, width: 14, height: 14, rx: 3, fill: entry.fill }));
    if (entry.role === "conflict") svg.append(element("rect", { x, y: top, width: 14, height: 14, rx: 3, fill: `url(#${hatch})` }));
    svg.append(element("text", { x: x + 20, y: top + 12, class: "softlab-label" }, entry.text));
    x += 44 + entry.text.length * 6.6;
  });
  svg.setAttribute("viewBox", `0 0 ${width} ${top + 22}`);
  svg.style.maxWidth = `${width}px`;
  return svg;
}

function render({ model, el }) {
  const note = document.createElement("div");
  note.className = "softlab-note";
  note.setAttribute("aria-live", "polite");
  let svg = null;

  const mark = () => {
    const lane = model.get("lane");
    let tip = "";
    svg.querySelectorAll(".softlab-cell").forEach((cell) => {
      const mine = cell.dataset.lanes.split(" ").includes(String(lane));
      cell.classList.toggle("softlab-selected", mine);
      if (mine && !tip) tip = cell.getAttribute("aria-label");
    });
    note.textContent = tip || "Click a cell, or use the arrow keys on one: its lane stands out wherever it is drawn.";
  };
  const select = (lane) => { model.set("lane", lane); model.save_changes(); };
  const redraw = () => {
    svg = draw(model.get("data"));
    const first = svg.querySelector(".softlab-cell");
    if (first) first.setAttribute("tabindex", 0);
    el.replaceChildren(svg, note);
    mark();
  };
  el.classList.add("softlab-diagram");
  el.addEventListener("click", (event) => {
    const cell = event.target.closest(".softlab-cell");
    if (cell) { const lane = Number(cell.dataset.lanes.split(" ")[0]); select(lane === model.get("lane") ? -1 : lane); }
  });
  el.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") select(-1);
    if (!step || !event.target.closest(".softlab-cell")) return;
    event.preventDefault();
    event.stopPropagation();
    const lanes = [...new Set([...svg.querySelectorAll(".softlab-cell")].flatMap((cell) => cell.dataset.lanes.split(" ").map(Number)))].sort((a, b) => a - b);
    select(lanes[(lanes.indexOf(model.get("lane")) + step + lanes.length) % lanes.length]);
  });
  model.on("change:data", redraw);
  model.on("change:lane", mark);
  redraw();
}

export default { render };
