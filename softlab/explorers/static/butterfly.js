// Draws the data of softlab.views.reduction as SVG: a row of lanes before each shuffle and after the last, joined by lines.
// `step` says how far it is: later rows are empty. A step forward lets the values travel. A cell that is chosen (click, arrow
// keys) shows where its value came from.
const SVG = "http://www.w3.org/2000/svg";
const LABEL = 136, CELL = 29, BOX = 21, GAP = 38, TOP = 72, TRAVEL_MS = 650;

function element(name, attributes = {}, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}
const HELP = "Move the step, or press play. Click a cell to see where its value came from.";
const middle = (lane) => LABEL + (lane + 0.5) * CELL;
const levelTop = (level) => TOP + level * (BOX + GAP);
const fontSize = (text) => (text.length <= 3 ? 11 : text.length === 4 ? 10 : text.length === 5 ? 8.5 : 7.5);

function box(x, y, text, fill, ink) {
  const found = [element("rect", { x: x - CELL / 2 + 1, y, width: CELL - 2, height: BOX, rx: 3, fill, class: "softlab-box" })];
  const label = element("text", { x, y: y + BOX / 2 + 4, "text-anchor": "middle" }, text);
  label.style.fill = ink;
  label.style.fontSize = `${fontSize(text)}px`;
  return [...found, label];
}

function drawHead(svg, data) {
  svg.append(element("text", { x: 0, y: 16, class: "softlab-head" }, data.title));
  svg.append(element("text", { x: LABEL - 8, y: TOP - 10, class: "softlab-axis", "text-anchor": "end" }, "lane"));
  for (let lane = 0; lane < 32; lane++) svg.append(element("text", { x: middle(lane), y: TOP - 10, class: "softlab-axis", "text-anchor": "middle" }, lane));
  const bottom = levelTop(data.levels.length - 1) + BOX;
  if (data.bands[0]?.lanes === 1) svg.append(element("text", { x: LABEL - 8, y: TOP - 28, class: "softlab-axis", "text-anchor": "end" }, "row"));
  data.bands.forEach((band) => {
    const x = LABEL + band.first * CELL, width = band.lanes * CELL;
    const name = element("text", { x: x + width / 2, y: TOP - 28, "text-anchor": "middle", "data-band": band.first }, band.text);
    if (band.lanes === 1) name.style.fontSize = "10px";
    svg.append(name);
    for (const side of [x, x + width]) svg.append(element("line", { x1: side, y1: TOP - 38, x2: side, y2: bottom, class: "softlab-band" }));
  });
}

function drawEdges(svg, data) {
  data.steps.forEach((step, number) => {
    const from = levelTop(number) + BOX, to = levelTop(number + 1);
    const words = element("text", { x: LABEL - 8, y: (from + to) / 2 + 4, "text-anchor": "end", "data-step-title": number + 1 }, step.title);
    words.append(element("title", {}, step.note));
    svg.append(words);
    step.edges.forEach(([giver, taker]) => {
      const stay = giver === taker, lower = taker < giver;
      const line = element("line", {
        x1: middle(giver), y1: from, x2: middle(taker), y2: to, "data-step": number + 1, "data-from": giver, "data-to": taker,
        class: `softlab-edge${stay ? " softlab-stay" : ""}`, ...(stay ? {} : { stroke: lower ? data.fills.lower : data.fills.higher }),
        ...(lower || stay ? {} : { "stroke-dasharray": "5 2" }),
      });
      svg.append(line);
    });
  });
}

function drawCells(svg, data) {
  data.levels.forEach((level, number) => {
    const y = levelTop(number), final = number === data.levels.length - 1 && number > 0;
    svg.append(element("text", { x: LABEL - 8, y: y + BOX / 2 + 4, "text-anchor": "end", "data-level-label": number }, level.label));
    level.cells.forEach((cell, lane) => {
      const role = final ? "done" : "own";
      const group = element("g", { class: "softlab-cell", tabindex: -1, role: "img", "aria-label": cell.tip, "data-level": number, "data-lane": lane, "data-text": cell.text });
      if (cell.idle) group.classList.add("softlab-future");
      group.append(...box(middle(lane), y, cell.text, data.fills[role], data.inks[role]), element("title", {}, cell.tip));
      svg.append(group);
    });
  });
}

function drawLegend(svg, data, top) {
  let x = LABEL;
  [[data.fills.lower, "", "to a lower lane"], [data.fills.higher, "5 2", "to a higher lane"]].forEach(([stroke, dashes, words]) => {
    svg.append(element("line", { x1: x, y1: top, x2: x + 26, y2: top, stroke, "stroke-width": 2, "stroke-dasharray": dashes }));
    svg.append(element("text", { x: x + 32, y: top + 4 }, words));
    x += 60 + 6.6 * words.length;
  });
  svg.append(element("text", { x, y: top + 4 }, "straight down (not drawn): each lane keeps its own, too"));
}

function draw(data) {
  const width = LABEL + 32 * CELL + 2, last = levelTop(data.levels.length - 1) + BOX;
  const svg = element("svg", { role: "group", "aria-label": data.title, viewBox: `0 0 ${width} ${last + (data.steps.length ? 30 : 8)}` });
  svg.style.maxWidth = `${width}px`;
  drawHead(svg, data);
  drawEdges(svg, data);
  drawCells(svg, data);
  if (data.steps.length) drawLegend(svg, data, last + 18);
  return svg;
}

// The values of a step on their way, then gone.
function fly(svg, data, step, arrived) {
  const fromY = levelTop(step - 1), toY = levelTop(step), layer = element("g", { class: "softlab-flying" });
  const pills = data.steps[step - 1].edges.filter(([giver, taker]) => giver !== taker).map(([giver, taker]) => {
    const pill = element("g");
    pill.append(...box(0, 0, data.levels[step - 1].cells[giver].text, data.fills.own, data.inks.own));
    layer.append(pill);
    return { pill, giver, taker };
  });
  svg.append(layer);
  const start = performance.now();
  let stopped = false;
  const frame = (now) => {
    if (stopped) return;
    const t = Math.min((now - start) / TRAVEL_MS, 1), s = t * t * (3 - 2 * t);
    pills.forEach(({ pill, giver, taker }) => pill.setAttribute("transform", `translate(${middle(giver) + s * (middle(taker) - middle(giver))} ${fromY + s * (toY - fromY)})`));
    if (t < 1) requestAnimationFrame(frame); else stop();
  };
  const stop = () => { if (!stopped) { stopped = true; layer.remove(); arrived(); } };
  requestAnimationFrame(frame);
  return stop;
}

function render({ model, el }) {
  const note = document.createElement("div");
  note.className = "softlab-note";
  note.setAttribute("aria-live", "polite");
  let svg = null, shown = 0, stop = () => {};

  const reveal = (upTo) => {
    svg.querySelectorAll(".softlab-cell").forEach((cell) => {
      const level = Number(cell.dataset.level);
      cell.classList.toggle("softlab-future", level > upTo || model.get("data").levels[level].cells[cell.dataset.lane].idle);
    });
  };
  const mark = () => {
    const step = model.get("step"), [level, lane] = model.get("cell"), data = model.get("data");
    svg.querySelectorAll(".softlab-edge").forEach((edge) => {
      edge.classList.toggle("softlab-past", Number(edge.dataset.step) < step);
      edge.classList.toggle("softlab-now", Number(edge.dataset.step) === step);
      edge.classList.remove("softlab-origin");
    });
    svg.querySelectorAll("[data-step-title]").forEach((words) => words.classList.toggle("softlab-now", Number(words.dataset.stepTitle) === step));
    svg.querySelectorAll(".softlab-cell.softlab-origin").forEach((cell) => cell.classList.remove("softlab-origin"));
    const chosen = lane >= 0 && level >= 0 && level < data.levels.length;
    let wanted = new Set(chosen ? [lane] : []);
    for (let at = chosen ? level : -1; at >= 0; at--) {
      const before = new Set(wanted);
      wanted.forEach((one) => svg.querySelector(`[data-level="${at}"][data-lane="${one}"]`).classList.add("softlab-origin"));
      if (at) data.steps[at - 1].edges.forEach(([giver, taker]) => {
        if (!wanted.has(taker)) return;
        before.add(giver);
        svg.querySelector(`[data-step="${at}"][data-from="${giver}"][data-to="${taker}"]`).classList.add("softlab-origin");
      });
      wanted = before;
    }
    note.textContent = chosen ? data.levels[level].cells[lane].tip : step ? data.steps[step - 1].note : data.steps.length ? HELP : "";
  };
  const advance = () => {
    const step = model.get("step"), forward = step === shown + 1;
    stop();
    shown = step;
    mark();
    if (forward && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
      reveal(step - 1);
      stop = fly(svg, model.get("data"), step, () => reveal(model.get("step")));
    } else reveal(step);
  };
  const redraw = () => {
    stop();
    svg = draw(model.get("data"));
    svg.querySelector(".softlab-cell")?.setAttribute("tabindex", 0);
    el.replaceChildren(svg, note);
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
  el.addEventListener("keydown", (event) => {
    if (event.key === "Escape") choose(-1, -1);
    const move = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (!move || !event.target.closest(".softlab-cell")) return;
    event.preventDefault();
    event.stopPropagation();
    const [level, lane] = model.get("cell"), levels = model.get("data").levels.length;
    choose(Math.min(Math.max(level + (level < 0 ? 1 : move[0]), 0), levels - 1), lane < 0 ? 0 : (lane + move[1] + 32) % 32);
  });
  model.on("change:data", redraw);
  model.on("change:step", advance);
  model.on("change:cell", mark);
  redraw();
}

export default { render };
