// Draws one step of a warp: the source and the PTX with the line that runs, the registers of 32 lanes, shared memory,
// and where a chosen value comes from. `code` changes with the record, `state` with each step, `shared` with what is in
// shared memory, `chain` with each question. What is clicked goes to Python as a message.
const TALL = 22, WORD = 32, HEADING = 24, SHARED_TOP = HEADING + 18;
const ASK = "Click a value to see where it comes from.", WHENCE = "Where does this come from?";

function make(tag, name, text) {
  const node = document.createElement(tag);
  node.className = name;
  if (text !== undefined) node.textContent = text;
  return node;
}

// A list of code with its numbers; `at` names what is run.
function codePane(title, rows, numbers) {
  const box = make("div", "softlab-listing"), list = make("div", "softlab-lines");
  list.tabIndex = 0;  // its lines can be moved by keys
  rows.forEach((text, index) => {
    const row = make("div", "softlab-line");
    row.append(make("span", "softlab-number", numbers[index]), make("span", "softlab-text", text || " "));
    list.append(row);
  });
  box.append(make("div", "softlab-listing-title", title), list);
  return { box, list, at: -1 };
}

// Mark a line in each pane. All places are asked for before anything changes: then the page is laid out once.
function markLines(marks) {
  const found = marks.filter(([pane, index]) => pane.at !== index || !pane.placed).map(([pane, index]) => {
    const row = pane.list.children[index], { scrollTop, clientHeight } = pane.list;
    return { pane, index, row, top: row?.offsetTop, scrollTop, height: clientHeight };  // counted from the list
  });
  for (const { pane, index, row, top, scrollTop, height } of found) {
    pane.list.children[pane.at]?.classList.remove("softlab-now");
    pane.at = index;
    pane.placed = height > 0;  // without a height it is not in the page yet
    row?.classList.add("softlab-now");
    if (row && (top < scrollTop + 20 || top > scrollTop + height - 40)) pane.list.scrollTop = top - height / 2;
  }
}

const textSize = (text, room) => Math.min(11.5, Math.max(5.5, (room * 1.55) / Math.max(text.length, 1)));

// A cell with a frame, a tip and texts that can change. Only what is new is written: a step changes a row or two.
function makeCell(x, width, height, bases, data) {
  const cell = element("g", { tabindex: -1, role: "img", ...data }), title = element("title");
  const frame = element("rect", { x: x + 1, y: 1, width: width - 2, height: height - 2, rx: 3, class: "softlab-box" });
  const texts = bases.map((y) => centred(x + width / 2, y, ""));
  cell.append(frame, title, ...texts);
  return { cell, frame, title, texts, width, key: "" };
}

function fillCell(one, name, tip, texts, fill = "", ink = "") {
  const key = [name, tip, fill, ...texts].join("\n");
  if (one.key === key) return;
  one.key = key;
  const chosen = one.cell.classList.contains("softlab-chosen");
  one.cell.setAttribute("class", `softlab-cell ${name}${chosen ? " softlab-chosen" : ""}`);
  one.cell.setAttribute("aria-label", tip);
  one.title.textContent = tip;
  one.frame.style.fill = fill;
  texts.forEach((text, number) => {
    one.texts[number].textContent = text;
    one.texts[number].style.fill = ink;
  });
  one.texts[0].style.fontSize = `${textSize(texts[0], one.width)}px`;
}

const names = (marks) => marks.filter(([holds]) => holds).map(([, mark]) => `softlab-${mark}`).join(" ");

function makeRow(register) {
  const group = element("g"), label = rowLabel(TALL / 2 + 4, ""), cells = [];
  for (let lane = 0; lane < 32; lane++) {
    const data = { "data-register": register, "data-lane": lane };
    cells.push(makeCell(LABEL + lane * CELL, CELL, TALL, [TALL / 2 + 4], data));
  }
  group.append(label, ...cells.map((one) => one.cell));
  return { group, label, cells };
}

function fillRow(row, data, role, state, sets) {
  const written = role === "writes";
  row.label.textContent = data.label;
  row.label.setAttribute("class", written ? "softlab-strong" : "");
  row.cells.forEach((one, lane) => {
    const text = data.texts[lane], painted = written && sets.executed.has(lane);
    const name = names([[role, role], [!text, "empty"], [!sets.active.has(lane), "away"]]);
    const tip = `${data.label} in lane ${lane}: ${data.values[lane]}`;
    fillCell(one, name, tip, [text || "·"], painted ? state.fill : "", painted ? state.ink : "");
  });
}

// The registers: a row for each is made once and then moved.
function registerPanel() {
  const group = element("g"), lanes = [], rows = new Map(), heads = [];
  group.append(rowLabel(HEADING - 8, "lane", { class: "softlab-axis" }));
  for (let lane = 0; lane < 32; lane++) lanes.push(centred(LABEL + (lane + 0.5) * CELL, HEADING - 8, lane));
  for (let head = 0; head < 3; head++) heads.push(words(0, 0, "", { class: "softlab-title" }));
  group.append(...lanes, ...heads);

  return { group, draw: (state) => {
    const sets = { active: new Set(state.active), executed: new Set(state.executed) }, shown = new Set();
    lanes.forEach((node, lane) => {
      node.setAttribute("class", sets.executed.has(lane) ? "softlab-axis" : "softlab-axis softlab-away");
    });
    let y = HEADING;
    state.groups.forEach((part, number) => {
      heads[number].textContent = part.title;
      heads[number].setAttribute("y", y + 15);
      y += HEADING;
      part.rows.forEach((data) => {
        if (!rows.has(data.register)) rows.set(data.register, makeRow(data.register));
        const row = rows.get(data.register);
        fillRow(row, data, part.role, state, sets);
        row.group.setAttribute("transform", `translate(0 ${y})`);
        if (!row.group.isConnected) group.append(row.group);
        shown.add(data.register);
        y += TALL;
      });
    });
    rows.forEach((row, register) => {
      if (shown.has(register)) return;
      row.group.remove();
      if (rows.size > 200) rows.delete(register);
    });
    return y;
  } };
}

// Shared memory: its cells stay as long as the same words are in sight.
function sharedPanel() {
  const group = element("g");
  let layout = "", cells = [];
  const build = (shared) => {
    const last = shared.first + shared.rows - 1;
    const part = shared.of > shared.rows ? `, rows ${shared.first} to ${last} of ${shared.of}` : "";
    const title = `shared memory${part}: a column per bank; under each value the thread that wrote it`;
    const axis = { class: "softlab-axis" };
    group.replaceChildren(words(0, 21, title, { class: "softlab-title" }), rowLabel(SHARED_TOP - 5, "bank", axis));
    for (let bank = 0; bank < 32; bank++) {
      group.append(centred(LABEL + (bank + 0.5) * CELL, SHARED_TOP - 5, bank, axis));
    }
    shared.labels.forEach((label, row) => group.append(rowLabel(SHARED_TOP + row * WORD + WORD / 2 + 4, label)));
    cells = shared.cells.map((data) => {
      const place = { "data-address": data.address, "data-width": data.width };
      const one = makeCell(LABEL + data.column * CELL, data.span * CELL, WORD, [14, 26], place);
      one.cell.setAttribute("transform", `translate(0 ${SHARED_TOP + data.row * WORD})`);
      one.texts[1].setAttribute("class", "softlab-who");
      return one;
    });
    group.append(...cells.map((one) => one.cell));
  };
  return { group, draw: (shared, y) => {
    group.setAttribute("transform", `translate(0 ${y})`);
    if (!shared.rows) return y;
    const now = JSON.stringify([shared.first, shared.of, shared.cells.map((one) => [one.address, one.span])]);
    if (now !== layout) build(shared);
    layout = now;
    shared.cells.forEach((data, number) => {
      const name = names([[true, "word"], [data.fresh, "fresh"], [data.touched, "touched"], [!data.who, "empty"]]);
      fillCell(cells[number], name, data.tip, [data.text || "·", data.who]);
    });
    return y + SHARED_TOP + shared.rows * WORD;
  } };
}

function button(text, message, tip = "") {
  const node = make("button", "softlab-button", text);
  node.type = "button";
  node.title = tip;
  node.dataset.message = JSON.stringify(message);
  return node;
}

// One link of the chain: the value, the step that wrote it, and what that step read, to be asked further.
function drawLink(link, level) {
  const box = make("div", "softlab-link");
  box.style.marginLeft = `${Math.min(level, 12) * 14}px`;
  const head = make("div", "softlab-link-head");
  const lane = link.lane >= 0 ? ` in lane ${link.lane}` : "";
  head.append(make("b", "", link.name), `${lane}${link.value === "" ? "" : ` = ${link.value}`}`);
  box.append(head);
  if (link.step >= 0) {
    const where = make("div", "");
    where.append(button(`step ${link.step}`, { go: link.step }, "Go to this step"));
    where.append(`${link.line ? ` line ${link.line}: ` : " "}`, make("code", "", link.text));
    box.append(where);
  }
  if (link.note) box.append(make("div", "", link.note));
  if (link.warp >= 0) box.append(button(`go to that step of warp ${link.warp}`, { visit: level }));
  if (link.inputs.length) {
    const from = make("div", "softlab-inputs");
    from.append("It read ");
    link.inputs.forEach((source, number) => {
      const role = source.role && source.known ? `${source.role} ` : "";
      const lane = source.kind === "register" ? ` of lane ${source.lane}` : "";
      const text = `${role}${source.name}${source.value === "" ? "" : ` = ${source.value}`}`;
      if (source.known) from.append(button(`${text}${lane}`, { follow: [level, number] }, WHENCE));
      else from.append(make("span", "softlab-plain", text));
    });
    box.append(from);
  }
  return box;
}

function render({ model, el }) {
  const bar = make("div", "softlab-bar"), panes = make("div", "softlab-listings"), grid = make("div", "");
  const asked = make("div", "softlab-chain"), moves = [
    ["« line", { move: "line back" }, "To the line before"], ["‹ step", { move: "back" }, "One step back"],
    ["step ›", { move: "forward" }, "One step on"], ["line »", { move: "line forward" }, "To the next line"],
  ];
  asked.setAttribute("aria-live", "polite");
  moves.forEach((move) => bar.append(button(...move)));
  const note = make("span", "softlab-sentence");
  bar.append(note);
  const svg = element("svg", { class: "softlab-grid", role: "group", "aria-label": "Registers and shared memory" });
  const registers = registerPanel(), memory = sharedPanel();
  svg.append(registers.group, memory.group);
  grid.append(svg);
  let source = null, ptx = null;

  const drawCode = () => {
    const code = model.get("code");
    source = codePane(code.file, code.lines, code.lines.map((_, index) => index + 1));
    ptx = codePane("PTX, with the source line of each instruction", code.ptx.map((row) => row.text),
      code.ptx.map((row) => row.line || ""));
    panes.replaceChildren(source.box, ptx.box);
  };
  const mark = () => {
    const [kind, where, lane] = model.get("chosen");
    grid.querySelectorAll(".softlab-chosen").forEach((node) => node.classList.remove("softlab-chosen"));
    const cell = kind === "register" ? `[data-register="${where}"][data-lane="${lane}"]` : `[data-address="${where}"]`;
    if (kind) grid.querySelector(cell)?.classList.add("softlab-chosen");
  };
  const drawStep = () => {
    const state = model.get("state");
    if (state.step === undefined) return;
    markLines([[source, state.line - 1], [ptx, state.instruction]]);
    svg.querySelector("[tabindex='0']")?.setAttribute("tabindex", -1);
    // The first steps have few registers: what stands below keeps its place.
    const room = 4 * HEADING + model.get("code").rows * TALL;
    const y = memory.draw(model.get("shared"), Math.max(room, registers.draw(state)));
    svg.querySelector(".softlab-cell")?.setAttribute("tabindex", 0);
    resize(svg, LABEL + 32 * CELL + 2, y + 4);
    note.textContent = state.sentence;
    mark();
  };
  // A step changes `state` and `shared` in one message: draw once.
  let due = false;
  const drawSoon = () => {
    if (!due) queueMicrotask(() => { due = false; drawStep(); });
    due = true;
  };
  const drawChain = () => {
    const chain = model.get("chain");
    asked.replaceChildren(...(chain.length ? chain.map(drawLink) : [make("div", "", ASK)]));
    mark();
  };

  el.classList.add("softlab-diagram", "softlab-stepper");
  el.replaceChildren(bar, panes, grid, asked);
  el.addEventListener("click", (event) => {
    const pressed = event.target.closest(".softlab-button"), cell = event.target.closest(".softlab-cell");
    if (pressed) model.send(JSON.parse(pressed.dataset.message));
    else if (cell?.dataset.register) model.send({ ask: [cell.dataset.register, Number(cell.dataset.lane)] });
    else if (cell) model.send({ memory: [Number(cell.dataset.address), Number(cell.dataset.width)] });
  });
  onKeys(el, { ArrowRight: 1, ArrowLeft: -1, Enter: 0 }, (change) => {
    const cell = document.activeElement, all = [...grid.querySelectorAll(".softlab-cell")];
    if (change) all[(all.indexOf(cell) + change + all.length) % all.length].focus();
    else cell.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  }, () => model.send({ ask: [] }));
  model.on("change:code", () => { drawCode(); drawStep(); });
  model.on("change:state", drawSoon);
  model.on("change:shared", drawSoon);
  model.on("change:chain", drawChain);
  model.on("change:chosen", mark);
  drawCode();
  drawStep();
  drawChain();
  // The lists have a height, and so a place to scroll to, once they are in the page.
  requestAnimationFrame(drawStep);
}

export default { render };
