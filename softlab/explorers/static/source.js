// Three linked panes of code: CUDA, PTX, SASS. A row's bar is its share of the pane's largest count.
// A click in any pane or the arrow keys choose a source line: its rows are highlighted in all panes.
function make(tag, name, text) {
  const node = document.createElement(tag);
  node.className = name;
  if (text !== undefined) node.textContent = text;
  return node;
}

function pane(title, rows, numbered) {
  const box = make("div", "softlab-pane");
  const list = make("div", "softlab-code");
  list.tabIndex = 0;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", title);
  rows.forEach((row) => {
    const line = make("div", "softlab-code-row");
    line.dataset.line = row.line;
    line.setAttribute("role", "option");
    line.append(make("span", "softlab-number", numbered || row.line ? row.line : ""));
    line.append(make("span", "softlab-text", row.text || " "));
    if (row.control !== undefined) line.append(make("span", "softlab-control", row.control));
    line.append(make("span", "softlab-figure"));
    list.append(line);
  });
  box.append(make("div", "softlab-pane-title", title), list);
  return { box, list, rows };
}

function heat(part, counter, figures) {
  const most = Math.max(1, ...part.rows.map((row) => row.counts[counter.name] || 0));
  part.rows.forEach((row, index) => {
    const node = part.list.children[index], count = row.counts[counter.name] || 0;
    const share = count ? Math.max(2, Math.round(100 * count / most)) : 0;
    const bar = `linear-gradient(to left, ${counter.colour}66 ${share}%, transparent ${share}%)`;
    node.style.background = share ? bar : "";
    node.lastChild.textContent = figures && count ? count.toLocaleString("en").replaceAll(",", " ") : "";
    node.lastChild.title = count ? `${counter.title}: ${counter.meaning}` : "";
  });
}

function reveal(part, line) {
  let first = null;
  [...part.list.children].forEach((node) => {
    const mine = line > 0 && Number(node.dataset.line) === line;
    node.classList.toggle("softlab-chosen", mine);
    node.setAttribute("aria-selected", mine);
    if (mine && !first) first = node;
  });
  if (!first) return;
  const top = first.offsetTop - part.list.offsetTop;
  if (top < part.list.scrollTop || top > part.list.scrollTop + part.list.clientHeight * 0.6) {
    part.list.scrollTop = top - part.list.clientHeight / 3;
  }
}

function render({ model, el }) {
  el.classList.add("softlab-source");
  let parts = [];

  const choose = (line) => { model.set("line", line); model.save_changes(); };
  const colour = () => {
    const counter = model.get("data").counters.find((entry) => entry.name === model.get("counter"));
    if (counter) parts.forEach((part, index) => heat(part, counter, index < 2));
  };
  const mark = () => parts.forEach((part) => reveal(part, model.get("line")));
  const redraw = () => {
    const data = model.get("data");
    parts = [pane(data.file, data.lines, true), pane("PTX", data.ptx, false)];
    const codes = data.controls ? "and its control codes " : "";
    if (data.sass.length) parts.push(pane(`SASS ${codes}(bars of the PTX it was made from)`, data.sass, false));
    el.classList.toggle("softlab-with-control", data.controls);
    el.replaceChildren(...parts.map((part) => part.box));
    if (data.sass.length && !data.controls) {
      el.append(make("div", "softlab-missing", `The control codes of ${data.arch} are not known.`));
    }
    if (data.missing) el.append(make("div", "softlab-missing", `No machine code: ${data.missing}`));
    colour();
    mark();
  };
  el.addEventListener("click", (event) => {
    const row = event.target.closest(".softlab-code-row");
    if (!row) return;
    const line = Number(row.dataset.line);
    choose(line === model.get("line") ? 0 : line);
  });
  el.addEventListener("keydown", (event) => {
    if (event.key === "Escape") choose(0);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const data = model.get("data");
    const lines = [...new Set(data.ptx.concat(data.sass).map((row) => row.line))].filter(Boolean).sort((a, b) => a - b);
    const after = lines.filter((line) => (step > 0 ? line > model.get("line") : line < model.get("line")));
    if (after.length) choose(step > 0 ? after[0] : after[after.length - 1]);
  });
  model.on("change:data", redraw);
  model.on("change:counter", colour);
  model.on("change:line", mark);
  redraw();
}

export default { render };
