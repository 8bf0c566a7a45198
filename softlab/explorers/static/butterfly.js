// Draws the data of softlab.views.reduction: a row of lanes before each shuffle and after the last, joined by lines.
// `step` is the number of shuffles made: later rows are empty. One step forward lets the values travel. A chosen cell
// (click, arrow keys) shows where its value came from.
const BOX = 21, GAP = 38, TOP = 72, TRAVEL_MS = 650;
const HELP = "Move the step, or press play. Click a cell to see where its value came from.";
const TO_HIGHER_LANE = { "stroke-dasharray": "5 2" };
const middle = (lane) => LABEL + (lane + 0.5) * CELL;
const levelTop = (level) => TOP + level * (BOX + GAP);
const fontSize = (text) => (text.length <= 3 ? 11 : text.length === 4 ? 10 : text.length === 5 ? 8.5 : 7.5);

function box(x, y, text, fill, ink) {
  const label = centred(x, y + BOX / 2 + 4, text);
  label.style.fill = ink;
  label.style.fontSize = `${fontSize(text)}px`;
  const frame = { x: x - CELL / 2 + 1, y, width: CELL - 2, height: BOX, rx: 3, fill, class: "softlab-box" };
  return [element("rect", frame), label];
}

function drawHead(svg, data) {
  const axis = { class: "softlab-axis" }, bottom = levelTop(data.levels.length - 1) + BOX;
  svg.append(words(0, 16, data.title, { class: "softlab-head" }), rowLabel(TOP - 10, "lane", axis));
  for (let lane = 0; lane < 32; lane++) svg.append(centred(middle(lane), TOP - 10, lane, axis));
  if (data.bands[0]?.lanes === 1) svg.append(rowLabel(TOP - 28, "row", axis));
  data.bands.forEach((band) => {
    const x = LABEL + band.first * CELL, width = band.lanes * CELL;
    const name = centred(x + width / 2, TOP - 28, band.text, { "data-band": band.first });
    if (band.lanes === 1) name.style.fontSize = "10px";
    svg.append(name, bandEdge(x, TOP - 38, bottom), bandEdge(x + width, TOP - 38, bottom));
  });
}

function drawEdge(edge, number, from, to, fills) {
  const [giver, taker] = edge, stays = giver === taker, lower = taker < giver;
  const colour = stays ? {} : { stroke: lower ? fills.lower : fills.higher };
  return element("line", {
    x1: middle(giver), y1: from, x2: middle(taker), y2: to,
    "data-step": number, "data-from": giver, "data-to": taker,
    class: `softlab-edge${stays ? " softlab-stay" : ""}`, ...colour, ...(lower || stays ? {} : TO_HIGHER_LANE),
  });
}

function drawEdges(svg, data) {
  data.steps.forEach((step, number) => {
    const from = levelTop(number) + BOX, to = levelTop(number + 1);
    const title = rowLabel((from + to) / 2 + 4, step.title, { "data-step-title": number + 1 });
    title.append(element("title", {}, step.note));
    svg.append(title, ...step.edges.map((edge) => drawEdge(edge, number + 1, from, to, data.fills)));
  });
}

function drawCells(svg, data) {
  data.levels.forEach((level, number) => {
    const y = levelTop(number), role = number && number === data.levels.length - 1 ? "done" : "own";
    svg.append(rowLabel(y + BOX / 2 + 4, level.label, { "data-level-label": number }));
    level.cells.forEach((cell, lane) => {
      const group = element("g", {
        class: "softlab-cell", tabindex: -1, role: "img", "aria-label": cell.tip,
        "data-level": number, "data-lane": lane, "data-text": cell.text,
      });
      if (cell.idle) group.classList.add("softlab-future");
      group.append(...box(middle(lane), y, cell.text, data.fills[role], data.inks[role]));
      group.append(element("title", {}, cell.tip));
      svg.append(group);
    });
  });
}

function drawLegend(svg, fills, y) {
  let x = LABEL;
  [["lower", {}], ["higher", TO_HIGHER_LANE]].forEach(([side, dashes]) => {
    const text = `to a ${side} lane`;
    svg.append(element("line", { x1: x, y1: y, x2: x + 26, y2: y, stroke: fills[side], "stroke-width": 2, ...dashes }));
    svg.append(words(x + 32, y + 4, text));
    x += 60 + 6.6 * text.length;
  });
  svg.append(words(x, y + 4, "straight down (not drawn): each lane keeps its own, too"));
}

function draw(data) {
  const bottom = levelTop(data.levels.length - 1) + BOX;
  const svg = element("svg", { role: "group", "aria-label": data.title });
  drawHead(svg, data);
  drawEdges(svg, data);
  drawCells(svg, data);
  if (data.steps.length) drawLegend(svg, data.fills, bottom + 18);
  resize(svg, LABEL + 32 * CELL + 2, bottom + (data.steps.length ? 30 : 8));
  return svg;
}

// Lets the values of a step travel, then calls `arrived`. Returns a function that ends it at once.
function travel(svg, data, step, arrived) {
  const fromY = levelTop(step - 1), toY = levelTop(step), layer = element("g", { class: "softlab-flying" });
  const values = data.steps[step - 1].edges.filter(([giver, taker]) => giver !== taker).map(([giver, taker]) => {
    const node = element("g");
    node.append(...box(0, 0, data.levels[step - 1].cells[giver].text, data.fills.own, data.inks.own));
    layer.append(node);
    return { node, from: middle(giver), to: middle(taker) };
  });
  svg.append(layer);
  const start = performance.now();
  let stopped = false;
  const stop = () => {
    if (stopped) return;
    stopped = true;
    layer.remove();
    arrived();
  };
  const frame = (now) => {
    if (stopped) return;
    const t = Math.min((now - start) / TRAVEL_MS, 1), s = t * t * (3 - 2 * t);
    values.forEach(({ node, from, to }) => {
      node.setAttribute("transform", `translate(${from + s * (to - from)} ${fromY + s * (toY - fromY)})`);
    });
    if (t < 1) requestAnimationFrame(frame); else stop();
  };
  requestAnimationFrame(frame);
  return stop;
}

// Marks a cell, the cells before it whose values are in it, and the lines between them.
function markOrigins(svg, data, level, lane) {
  let wanted = new Set([lane]);
  for (let at = level; at >= 0; at--) {
    const before = new Set(wanted);
    const found = [...wanted].map((one) => `[data-level="${at}"][data-lane="${one}"]`);
    if (at) data.steps[at - 1].edges.filter(([, taker]) => wanted.has(taker)).forEach(([giver, taker]) => {
      before.add(giver);
      found.push(`[data-step="${at}"][data-from="${giver}"][data-to="${taker}"]`);
    });
    found.forEach((selector) => svg.querySelector(selector).classList.add("softlab-origin"));
    wanted = before;
  }
}

function sentence(data, step, level, lane) {
  if (lane >= 0) return data.levels[level].cells[lane].tip;
  if (step) return data.steps[step - 1].note;
  return data.steps.length ? HELP : "";
}

function render({ model, el }) {
  const note = noteBelow();
  // `drawn` is the data of `svg`. The model may have newer data already: its event comes last, and draws again.
  let svg = null, drawn = null, shown = 0, stop = () => {};

  const reveal = (upTo) => {
    svg.querySelectorAll(".softlab-cell").forEach((cell) => {
      const level = Number(cell.dataset.level), { idle } = drawn.levels[level].cells[cell.dataset.lane];
      cell.classList.toggle("softlab-future", level > upTo || idle);
    });
  };
  const chosen = () => {
    const [level, lane] = model.get("cell");
    return lane >= 0 && level >= 0 && level < drawn.levels.length ? [level, lane] : [-1, -1];
  };
  const mark = () => {
    const step = Math.min(model.get("step"), drawn.steps.length), [level, lane] = chosen();
    svg.querySelectorAll(".softlab-edge").forEach((edge) => {
      edge.classList.toggle("softlab-past", Number(edge.dataset.step) < step);
      edge.classList.toggle("softlab-now", Number(edge.dataset.step) === step);
    });
    svg.querySelectorAll("[data-step-title]").forEach((title) => {
      title.classList.toggle("softlab-now", Number(title.dataset.stepTitle) === step);
    });
    svg.querySelectorAll(".softlab-origin").forEach((node) => node.classList.remove("softlab-origin"));
    if (lane >= 0) markOrigins(svg, drawn, level, lane);
    note.textContent = sentence(drawn, step, level, lane);
  };
  const advance = () => {
    if (model.get("data") !== drawn) return;
    const step = model.get("step"), forward = step === shown + 1;
    stop();
    shown = step;
    mark();
    if (forward && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
      reveal(step - 1);
      stop = travel(svg, drawn, step, () => reveal(shown));
    } else reveal(step);
  };
  const redraw = () => {
    stop();
    stop = () => {};
    drawn = model.get("data");
    svg = draw(drawn);
    svg.querySelector(".softlab-cell")?.setAttribute("tabindex", 0);
    el.replaceChildren(svg, note);
    keepSpace(el);
    shown = model.get("step");
    reveal(shown);
    mark();
  };
  const choose = (level, lane) => { model.set("cell", [level, lane]); model.save_changes(); };
  el.classList.add("softlab-diagram", "softlab-butterfly");
  el.addEventListener("click", (event) => {
    const cell = event.target.closest(".softlab-cell");
    if (!cell) return;
    const level = Number(cell.dataset.level), lane = Number(cell.dataset.lane), [l, k] = model.get("cell");
    if (l === level && k === lane) choose(-1, -1); else choose(level, lane);
  });
  onKeys(el, { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }, ([down, right]) => {
    const [level, lane] = model.get("cell"), last = drawn.levels.length - 1;
    const next = level < 0 ? 0 : Math.min(Math.max(level + down, 0), last);
    choose(next, lane < 0 ? 0 : (lane + right + 32) % 32);
  }, () => choose(-1, -1));
  model.on("change:data", redraw);
  model.on("change:step", advance);
  model.on("change:cell", mark);
  redraw();
}

export default { render };
