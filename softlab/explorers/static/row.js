// Draws a row on its way through a warp. `data` has a frame for each whole position of the slider; between two frames
// the values travel. Everything is made once; a move of the slider changes places and texts.
const STRIP = 1, MEMORY = 46, BARS = 132, TALLEST = 74, OWN = 212, GATHERED = 252, RESULT = 352, BOX = 24, BOTTOM = 388;
const STAGES = [["DRAM", 0, 0], ["sectors", 1, 1], ["lanes", 2, 2], ["largest: 5 shuffles", 3, 7], ["exp", 8, 8],
  ["sum: 5 shuffles", 9, 13], ["divide", 14, 14], ["DRAM", 15, 15]];
const left = (lane) => LABEL + lane * CELL;
const ease = (t) => t * t * (3 - 2 * t);
const mix = (a, b, t) => a + (b - a) * t;
const fitted = (text) => (text.length <= 3 ? 11.5 : text.length === 4 ? 10.5 : 9);

function chip(className, text = "") {
  const group = element("g", { class: className });
  const frame = { x: 1, y: 1, width: CELL - 2, height: BOX - 2, rx: 4 };
  group.append(element("rect", frame), centred(CELL / 2, BOX / 2 + 4, text));
  return group;
}

function put(node, x, y, opacity = 1) {
  node.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
  node.setAttribute("opacity", opacity.toFixed(2));
}

function say(node, text) {
  if (node.lastChild.textContent === text) return;
  node.lastChild.textContent = text;
  node.lastChild.style.fontSize = `${fitted(text)}px`;
}

// The stages above the picture; that of the position stands out.
function strip(svg) {
  const width = (LABEL + 32 * CELL) / 16;
  return STAGES.map(([name, first, last]) => {
    const group = element("g", { class: "softlab-stage" }), x = first * width, wide = (last - first + 1) * width;
    group.append(element("rect", { x: x + 1.5, y: STRIP, width: wide - 3, height: 20, rx: 10 }),
      centred(x + wide / 2, STRIP + 14, name));
    svg.append(group);
    return { group, first, last };
  });
}

function memoryBand(svg, texts, sectors, y, label) {
  svg.append(rowLabel(y + 16, label, { class: "softlab-strong" }));
  const numbers = [...new Set(sectors)].sort((a, b) => a - b);
  const boxes = numbers.map((number) => {
    const lanes = sectors.flatMap((sector, lane) => (sector === number ? [lane] : []));
    const group = element("g", { class: "softlab-sector" });
    const frame = { x: left(lanes[0]) - 1, y: -3, width: lanes.length * CELL + 2, height: BOX + 6, rx: 6 };
    group.append(element("rect", frame),
      centred(left(lanes[0]) + lanes.length * CELL / 2, -8, `sector ${number}: 32 bytes`));
    svg.append(group);
    return group;
  });
  const cells = texts.map((text) => {
    const cell = chip("softlab-memory", text);
    say(cell, text);
    svg.append(cell);
    return cell;
  });
  return { boxes, cells };
}

function arc(giver, taker) {
  const x1 = left(giver) + CELL / 2, x2 = left(taker) + CELL / 2, deep = 10 + Math.abs(giver - taker) * 2.6;
  const y = GATHERED + BOX, side = taker > giver ? 1 : 0.72;
  return { x1, x2, y, deep: deep * side, path: `M${x1} ${y}Q${(x1 + x2) / 2} ${y + 2 * deep * side} ${x2} ${y}` };
}

function scene(data) {
  const svg = element("svg", { class: "softlab-grid", role: "group", "aria-label": "A row on its way through a warp" });
  const stages = strip(svg);
  const source = memoryBand(svg, data.x, data.loaded, MEMORY, "the row in DRAM");
  const target = memoryBand(svg, data.y, data.stored, RESULT, "the result in DRAM");
  svg.append(rowLabel(OWN + 16, "each lane's number"));
  const gatheredLabel = rowLabel(GATHERED + 16, ""), arcs = element("g", {});
  svg.append(gatheredLabel, arcs);
  const lanes = data.x.map((_, lane) => {
    const bar = element("rect", { x: left(lane) + 5, width: CELL - 10, rx: 3, fill: data.fills.own });
    const own = chip("softlab-own"), got = chip("softlab-got"), flying = chip("softlab-flying");
    own.firstChild.style.fill = data.fills.own;
    own.lastChild.style.fill = data.inks.own;
    svg.append(bar, own, got, flying);
    return { bar, own, got, flying };
  });
  resize(svg, LABEL + 32 * CELL + 2, BOTTOM);
  return { svg, stages, source, target, lanes, arcs, gatheredLabel, drawn: -1 };
}

function drawArcs(view, data, index) {
  if (view.drawn === index) return;
  view.drawn = index;
  view.arcs.replaceChildren(...(data.frames[index]?.edges ?? []).filter(([giver, taker]) => giver !== taker)
    .map(([giver, taker]) => element("path", { d: arc(giver, taker).path, class: "softlab-arc" })));
}

function drawSectors(view, data, from, to) {
  const there = mix(MEMORY, OWN - 34, Math.min(from, 1)), fading = Math.min(1, Math.max(0, 3 - 2 * from));
  view.source.boxes.forEach((box) => put(box, 0, there, fading));
  view.source.cells.forEach((cell, lane) => put(cell, left(lane), MEMORY, 1 - 0.65 * Math.min(from, 1)));
  view.target.boxes.forEach((box) => put(box, 0, mix(OWN, RESULT, to), to > 0 ? Math.min(1, to * 4) : 0));
  view.target.cells.forEach((cell, lane) => {
    say(cell, to >= 1 ? data.y[lane] : "");
    put(cell, left(lane), RESULT, to >= 1 ? 1 : 0.2);
  });
}

function drawLane(one, lane, data, now, next, t, index) {
  // The number on its way down: with its sector, then alone.
  const carried = index < 2 ? (index === 0 ? mix(MEMORY, OWN - 34, t) : mix(OWN - 34, OWN, t)) : OWN;
  const falls = next.stage === "result" ? mix(OWN, RESULT, t) : OWN;
  const last = now.stage === "result" ? RESULT : falls;
  say(one.own, (t > 0.5 ? next : now).own?.[lane] ?? data.x[lane]);
  put(one.own, left(lane), index < 2 ? carried : last, index === 0 && t === 0 ? 0 : 1);
  const grown = mix(now.heights?.[lane] ?? 0, next.heights?.[lane] ?? 0, t) * TALLEST;
  one.bar.setAttribute("y", BARS + TALLEST - grown);
  one.bar.setAttribute("height", grown);
  one.bar.setAttribute("opacity", next.stage === "result" ? 1 - 0.7 * t : now.stage === "result" ? 0.3 : 0.85);
  // What it has gathered, and what comes to it.
  const edge = next.edges.find(([, taker]) => taker === lane), moving = edge && edge[0] !== lane && t > 0 && t < 1;
  const arrives = moving || !next.edges.length ? t > 0.5 && !moving : t >= 1;
  const shown = (arrives ? next : now).gathered?.[lane] ?? "";
  say(one.got, shown);
  const share = mix(now.gathered ? now.share : 0, next.gathered ? next.share : 0, t);
  one.got.firstChild.style.fillOpacity = 0.12 + 0.88 * share;
  one.got.lastChild.style.fill = share > 0.55 ? data.inks.shuffle : "";
  put(one.got, left(lane), GATHERED, shown ? 1 : 0.25);
  if (!moving) {
    put(one.flying, 0, 0, 0);
    return;
  }
  const { x1, x2, y, deep } = arc(edge[0], lane);
  say(one.flying, now.gathered[edge[0]]);
  put(one.flying, mix(x1, x2, t) - CELL / 2, y - BOX + 4 * deep * t * (1 - t), 1);
}

function draw(view, data, position) {
  // Steps of 0.1 do not add up to whole numbers exactly.
  position = Math.round(position * 1000) / 1000;
  const index = Math.min(Math.floor(position), data.frames.length - 1), t = ease(position - index);
  const now = data.frames[index], next = data.frames[Math.min(index + 1, data.frames.length - 1)];
  // As soon as the slider leaves a place, the sentence is that of the next one.
  const at = Math.min(Math.ceil(position - 0.05), data.frames.length - 1), told = data.frames[at];
  view.stages.forEach((stage) => stage.group.classList.toggle("softlab-now", stage.first <= at && at <= stage.last));
  drawArcs(view, data, t > 0 ? index + 1 : index);
  drawSectors(view, data, index + t, now.stage === "result" ? 1 : next.stage === "result" ? t : 0);
  view.lanes.forEach((one, lane) => drawLane(one, lane, data, now, next, t, index));
  const known = { max: "largest so far", sum: "sum so far", exp: "sum so far", divide: "sum", result: "sum" };
  view.gatheredLabel.textContent = known[told.stage] ?? "largest so far";
  return told.sentence;
}

function render({ model, el }) {
  const note = noteBelow();
  let view = null;
  const move = () => { note.textContent = draw(view, model.get("data"), model.get("position")); };
  const redraw = () => {
    view = scene(model.get("data"));
    el.replaceChildren(note, view.svg);
    move();
  };
  el.classList.add("softlab-diagram", "softlab-row-flow");
  model.on("change:data", redraw);
  model.on("change:position", move);
  redraw();
}

export default { render };
