// Draws the data of softlab.views.diagrams: panels of rows and columns, a cell for each word or run of words.
// A click or the arrow keys select a lane: its cells are highlighted in every panel, and its sentence is read out.
const HEIGHT = 22, HEAD = 40, BAND = 18, GAP = 14;
// These roles are also hatched, so that a reader does not need the colour.
const HATCHED = ["conflict", "idle"];
const HELP = "Click a cell, or use the arrow keys on one: its lane is highlighted in every panel.";
let drawn = 0;

// A text longer than three characters is set smaller, in a cell of one column.
function textClass(cell) {
  if (cell.span > 1 || cell.text.length <= 3) return "";
  return cell.text.length === 4 ? "softlab-small" : "softlab-tiny";
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
  const look = { fill: cell.ink, stroke: cell.fill, class: textClass(cell) };
  group.append(centred(x + cell.span * CELL / 2, y + HEIGHT / 2 + 4, cell.text, look));
  group.append(element("title", {}, cell.tip));
  return group;
}

function drawBands(svg, panel, base, bottom) {
  let column = 0;
  panel.bands.forEach((band) => {
    const x = LABEL + column * CELL, width = band.columns * CELL;
    svg.append(centred(x + width / 2, base, band.text, { class: "softlab-label" }));
    svg.append(bandEdge(x, base - 10, bottom), bandEdge(x + width, base - 10, bottom));
    column += band.columns;
  });
}

function drawRow(svg, row, number, y, columns) {
  const shade = number % 2 ? "softlab-row softlab-odd" : "softlab-row";
  svg.append(element("rect", { x: LABEL, y, width: columns * CELL, height: HEIGHT, class: shade }));
  const label = row.mark ? `${row.label} · ${row.mark}` : row.label;
  const look = { class: `softlab-label softlab-mark-${row.mark || "none"}`, "data-row-label": number };
  svg.append(rowLabel(y + HEIGHT / 2 + 4, label, look));
}

// Returns the y below the panel.
function drawPanel(svg, panel, index, top, hatch) {
  const head = HEAD + (panel.bands.length ? BAND : 0), numbers = top + head - 8, body = top + head;
  const bottom = body + panel.rows.length * HEIGHT, axis = { class: "softlab-axis" };
  svg.append(words(0, top + 13, panel.title, { class: "softlab-title" }));
  svg.append(rowLabel(numbers, panel.columnTitle, axis));
  for (let c = 0; c < panel.columns; c++) {
    svg.append(centred(LABEL + (c + 0.5) * CELL, numbers, panel.columnLabels[c], axis));
  }
  panel.rows.forEach((row, r) => drawRow(svg, row, r, body + r * HEIGHT, panel.columns));
  const layer = element("g", { "data-panel-cells": index });
  panel.cells.forEach((cell) => layer.append(drawCell(cell, body, index, hatch)));
  svg.append(layer);
  drawBands(svg, panel, numbers - 16, bottom);
  return bottom + GAP;
}

function drawLegend(svg, legend, top, hatch) {
  let x = LABEL;
  legend.forEach((entry) => {
    const box = { x, y: top, width: 14, height: 14, rx: 3 };
    svg.append(element("rect", { ...box, fill: entry.fill }));
    if (HATCHED.includes(entry.role)) svg.append(element("rect", { ...box, fill: `url(#${hatch})` }));
    svg.append(words(x + 20, top + 12, entry.text, { class: "softlab-label" }));
    x += 44 + entry.text.length * 6.6;
  });
}

function hatching(id) {
  const pattern = element("pattern", {
    id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)",
  });
  pattern.append(element("rect", { width: 1.5, height: 6, fill: "rgba(0,0,0,.35)" }));
  return pattern;
}

function draw(data) {
  const columns = Math.max(...data.panels.map((panel) => panel.columns), data.panels.length ? 1 : 32);
  const svg = element("svg", { class: "softlab-grid", role: "group", "aria-label": data.title });
  const hatch = `softlab-hatch-${drawn++}`; // a page may hold several diagrams, and hide some
  svg.append(hatching(hatch), words(0, 16, data.title, { class: "softlab-head" }));
  let top = 26;
  data.panels.forEach((panel, index) => { top = drawPanel(svg, panel, index, top, hatch); });
  drawLegend(svg, data.legend, top, hatch);
  // Space for the rows that a move of a control may bring: what stands below stays where it is.
  const rows = data.panels.reduce((sum, panel) => sum + panel.rows.length, 0);
  const spare = Math.max(0, (data.leastRows ?? 0) - rows) * HEIGHT;
  resize(svg, LABEL + columns * CELL + 2, top + 22 + spare);
  return svg;
}

const lanesOf = (cell) => cell.dataset.lanes.split(" ").filter(Boolean).map(Number);

function render({ model, el }) {
  const note = noteBelow();
  let svg = null;

  const cells = () => [...svg.querySelectorAll(".softlab-cell")];
  const mark = () => {
    let tip = "";
    cells().forEach((cell) => {
      const selected = lanesOf(cell).includes(model.get("lane"));
      cell.classList.toggle("softlab-selected", selected);
      if (selected && !tip) tip = cell.getAttribute("aria-label");
    });
    note.textContent = tip || (cells().length ? HELP : "");
  };
  const select = (lane) => { model.set("lane", lane); model.save_changes(); };
  const redraw = () => {
    svg = draw(model.get("data"));
    svg.querySelector(".softlab-cell:not([data-lanes=''])")?.setAttribute("tabindex", 0);
    el.replaceChildren(svg, note);
    keepSpace(el);
    mark();
  };
  el.classList.add("softlab-diagram");
  el.addEventListener("click", (event) => {
    const cell = event.target.closest(".softlab-cell");
    if (!cell?.dataset.lanes) return;
    const [lane] = lanesOf(cell);
    select(lane === model.get("lane") ? -1 : lane);
  });
  onKeys(el, { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }, (step) => {
    const lanes = [...new Set(cells().flatMap(lanesOf))].sort((a, b) => a - b);
    select(lanes[(lanes.indexOf(model.get("lane")) + step + lanes.length) % lanes.length]);
  }, () => select(-1));
  model.on("change:data", redraw);
  model.on("change:lane", mark);
  redraw();
}

export default { render };
