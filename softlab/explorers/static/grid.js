// Draws the data of softlab.views.diagrams as SVG: panels of rows and columns, a cell for each word or run of words.
// One lane can be selected (click, or arrow keys on a cell): its cells stand out in every panel and its sentence is read out.
const SVG = "http://www.w3.org/2000/svg";
let drawn = 0;
const LABEL = 136, CELL = 29, HEIGHT = 22, HEAD = 40, BAND = 18, GAP = 14;
// Colour never stands alone: these roles are hatched, too.
const HATCHED = ["conflict", "idle"];

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
  if (HATCHED.includes(cell.role)) group.append(element("rect", { ...box, fill: `url(#${hatch})` }));
  group.append(element("text", { x: x + cell.span * CELL / 2, y: y + HEIGHT / 2 + 4, fill: cell.ink, stroke: cell.fill, class: ["", "softlab-small", "softlab-tiny"][Math.min(Math.max(cell.text.length - 3, 0), cell.span > 1 ? 0 : 2)], "text-anchor": "middle" }, cell.text));
  group.append(element("title", {}, cell.tip));
  return group;
}

function drawBands(svg, panel, base, bottom) {
  let column = 0;
  panel.bands.forEach((band) => {
    const x = LABEL + column * CELL, width = band.columns * CELL;
    svg.append(element("text", { x: x + width / 2, y: base, class: "softlab-label", "text-anchor": "middle" }, band.text));
    column += band.columns;
    for (const side of [x, x + width]) svg.append(element("line", { x1: side, y1: base - 10, x2: side, y2: bottom, class: "softlab-band" }));
  });
}

function drawPanel(svg, panel, index, top, hatch) {
  svg.append(element("text", { x: 0, y: top + 13, class: "softlab-title" }, panel.title));
  const head = HEAD + (panel.bands.length ? BAND : 0), numbers = top + head - 8, body = top + head;
  svg.append(element("text", { x: LABEL - 8, y: numbers, class: "softlab-axis", "text-anchor": "end" }, panel.columnTitle));
  for (let c = 0; c < panel.columns; c++) {
    svg.append(element("text", { x: LABEL + (c + 0.5) * CELL, y: numbers, class: "softlab-axis", "text-anchor": "middle" }, panel.columnLabels[c]));
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
  drawBands(svg, panel, numbers - 16, body + panel.rows.length * HEIGHT);
  return body + panel.rows.length * HEIGHT + GAP;
}

function draw(data) {
  const columns = Math.max(...data.panels.map((panel) => panel.columns), data.panels.length ? 1 : 32);
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
    if (HATCHED.includes(entry.role)) svg.append(element("rect", { x, y: top, width: 14, height: 14, rx: 3, fill: `url(#${hatch})` }));
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
    const help = "Click a cell, or use the arrow keys on one: its lane stands out wherever it is drawn.";
    note.textContent = tip || (svg.querySelector(".softlab-cell") ? help : "");
  };
  const select = (lane) => { model.set("lane", lane); model.save_changes(); };
  const redraw = () => {
    svg = draw(model.get("data"));
    const first = svg.querySelector(".softlab-cell:not([data-lanes=''])");
    if (first) first.setAttribute("tabindex", 0);
    el.replaceChildren(svg, note);
    mark();
  };
  el.classList.add("softlab-diagram");
  el.addEventListener("click", (event) => {
    const cell = event.target.closest(".softlab-cell");
    if (cell && cell.dataset.lanes) { const lane = Number(cell.dataset.lanes.split(" ")[0]); select(lane === model.get("lane") ? -1 : lane); }
  });
  el.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") select(-1);
    if (!step || !event.target.closest(".softlab-cell")) return;
    event.preventDefault();
    event.stopPropagation();
    const lanes = [...new Set([...svg.querySelectorAll(".softlab-cell")].flatMap((cell) => cell.dataset.lanes.split(" ").filter(Boolean).map(Number)))].sort((a, b) => a - b);
    select(lanes[(lanes.indexOf(model.get("lane")) + step + lanes.length) % lanes.length]);
  });
  model.on("change:data", redraw);
  model.on("change:lane", mark);
  redraw();
}

export default { render };
