// Draws the explorers of the course from states that were computed when the site was built, and judges predictions and
// exercises. Nothing is interpolated: where no state was computed, the page says so. See docs/site.md.
"use strict";
(() => {
const ROOT = document.documentElement.dataset.content_root || "./";
const LIST = 0, OBJECT = 1;
const views = new Map(), stores = new Map(), chunks = new Map(), loading = new Map();
const make = (tag, name = "", text) => {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined) node.textContent = text;
  return node;
};
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
let made = 0;

// Files ---------------------------------------------------------------------------------------------------------------

const TRIES = 3, PAUSE_MS = 400;

// One try to load a script.
function tried(path) {
  return new Promise((done, failed) => {
    const node = make("script");
    node.src = ROOT + path;
    node.onload = done;
    node.onerror = () => {
      node.remove();
      failed(new Error(`${path} cannot be read`));
    };
    document.head.append(node);
  });
}

// Leaving a page stops what it loads, and Firefox calls that an error. So an error counts only if the page is still
// there after a pause, and the file cannot be read then either. A reader who comes back finds the picture.
async function persistently(path) {
  for (let count = 1; ; count++) {
    try {
      return await tried(path);
    } catch (error) {
      if (count === TRIES) {
        loading.delete(path);
        throw error;
      }
      await new Promise((done) => setTimeout(done, PAUSE_MS));
    }
  }
}

function script(path) {
  if (!loading.has(path)) loading.set(path, persistently(path));
  return loading.get(path);
}

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// The value of a node of a chunk (softlab/site/packing.py).
function value(chunk, number) {
  const node = chunk.nodes[number];
  if (!Array.isArray(node)) return node;
  if (number in chunk.known) return chunk.known[number];
  const parts = node.slice(1);
  let found;
  if (node[0] === LIST) found = parts.map((part) => value(chunk, part));
  else if (node[0] === OBJECT) {
    const names = value(chunk, parts[0]);
    found = Object.fromEntries(names.map((name, k) => [name, value(chunk, parts[k + 1])]));
  } else return parts.map((part) => value(chunk, part)).join("");  // long texts are not kept
  chunk.known[number] = found;
  return found;
}

function styled(path) {
  if (loading.has(path)) return;
  const link = make("link");
  [link.rel, link.href] = ["stylesheet", ROOT + path];
  document.head.append(link);
  loading.set(path, link);
}

async function storeOf(name) {
  await script(`_explorers/${name}/store.js`);
  const store = await stores.get(name);
  store.views.forEach((view) => styled(`_views/${view}.css`));
  await Promise.all(store.views.map((view) => script(`_views/${view}.js`)));
  return store;
}

// What the slots show for these values of the controls, null where this was not computed.
async function stateOf(name, values) {
  const store = await stores.get(name);
  const number = typeof store.chunks === "number" ? store.chunks : store.chunks[JSON.stringify(values.slice(0, 1))];
  if (number === undefined) return null;
  await script(`_explorers/${name}/${number}.js`);
  const chunk = await chunks.get(`${name}/${number}`), key = JSON.stringify(values), refs = chunk.states[key];
  if (!refs) return null;
  chunk.known ??= {};
  return {
    values: JSON.parse(chunk.at[key] ?? key),
    shown: store.slots.map(([id, slot], k) => [id, slot, value(chunk, refs[k])]),
  };
}

// Which values of one trait were computed while the others stay as they are.
async function computed(name, values, index) {
  const store = await stores.get(name), numbers = typeof store.chunks === "number" ? [store.chunks] : [];
  if (!numbers.length && index) numbers.push(store.chunks[JSON.stringify(values.slice(0, 1))] ?? -1);
  const found = [];
  for (const number of numbers.filter((one) => one >= 0)) {
    await script(`_explorers/${name}/${number}.js`);
    for (const key of Object.keys((await chunks.get(`${name}/${number}`)).states)) {
      const other = JSON.parse(key);
      if (other.every((one, k) => k === index || same(one, values[k]))) found.push(other[index]);
    }
  }
  return found.every(Number.isFinite) ? found.sort((a, b) => a - b) : found;
}

// The model that a view of anywidget works with.
class Model {
  constructor(values, moved, asked) {
    Object.assign(this, { values, moved, asked, listeners: {}, changed: [] });
  }
  get(name) { return this.values[name]; }
  set(name, given) {
    if (same(this.values[name], given)) return;
    this.values[name] = given;
    this.changed.push(name);
    (this.listeners[`change:${name}`] ?? []).forEach((listener) => listener());
  }
  on(event, listener) { (this.listeners[event] ??= []).push(listener); }
  off() {}
  save_changes() { this.changed.splice(0).forEach((name) => this.moved(name, this.values[name])); }
  send(message) { this.asked(message); }
  put(name, given) {
    this.set(name, given);
    this.changed = [];
  }
}

// Controls ------------------------------------------------------------------------------------------------------------
// Each is made once: `put(slot, value)` shows a slot; `use(handler)` says whom to tell of a new value.

const wordsOf = (node, slots) => slots.description || slots.tooltip || node.words || "value";

function slider(node, slots) {
  const box = make("div", "softlab-slider"), id = `softlab-control-${made++}`;
  const name = make("label", "", slots.description);
  const range = make("input"), typed = make("input", "softlab-typed");
  [range.type, range.id, name.htmlFor] = ["range", id, id];
  typed.type = "text";
  typed.inputMode = "decimal";
  typed.setAttribute("aria-label", `${wordsOf(node, slots)}: type a value`);
  if (!slots.description) range.setAttribute("aria-label", node.words || "position");
  const bare = slots.description === "";
  box.append(name, range, ...(bare ? [] : [typed]));
  const show = () => {
    const { stops, value: now } = slots;
    if (stops) {
      [range.min, range.max, range.step] = [0, stops.length - 1, 1];
      let near = 0;
      stops.forEach((stop, k) => { if (Math.abs(stop - now) < Math.abs(stops[near] - now)) near = k; });
      range.value = near;
    } else {
      [range.min, range.max, range.step] = [slots.min, slots.max, slots.step];
      range.value = now;
    }
    range.disabled = typed.disabled = Boolean(slots.disabled);
    range.setAttribute("aria-valuetext", String(now));
    if (document.activeElement !== typed) typed.value = String(now);
  };
  return { box, put: show, show, use: (told) => {
    range.addEventListener("input", () => told("value", slots.stops ? slots.stops[range.value] : Number(range.value)));
    typed.addEventListener("change", () => {
      const number = Number(typed.value.replace(/[\s_,]/g, ""));
      if (typed.value.trim() && Number.isFinite(number)) told("value", number);
      else show();
    });
  } };
}

function choice(node, slots) {
  const box = make("div", "softlab-slider"), id = `softlab-control-${made++}`;
  const name = make("label", "", slots.description);
  const range = make("input"), output = make("output", "", "");
  [range.type, range.id, name.htmlFor, range.min, range.step] = ["range", id, id, 0, 1];
  box.append(name, range, output);
  const show = () => {
    range.max = slots.options.length - 1;
    range.value = slots.index;
    output.textContent = slots.options[slots.index];
    range.setAttribute("aria-valuetext", slots.options[slots.index]);
  };
  return { box, show, use: (told) => range.addEventListener("input", () => told("index", Number(range.value))) };
}

function menu(node, slots) {
  const box = make("div", "softlab-menu"), id = `softlab-control-${made++}`;
  const name = make("label", "", slots.description);
  const select = make("select");
  [select.id, name.htmlFor] = [id, id];
  if (!slots.description) select.setAttribute("aria-label", wordsOf(node, slots));
  box.append(name, select);
  let drawn = "";
  const show = () => {
    const now = JSON.stringify(slots.options);
    if (now !== drawn) select.replaceChildren(...slots.options.map((text) => make("option", "", text)));
    drawn = now;
    select.selectedIndex = slots.index ?? -1;
    select.disabled = Boolean(slots.disabled);
  };
  return { box, show, use: (told) => select.addEventListener("change", () => told("index", select.selectedIndex)) };
}

function buttons(node, slots) {
  const box = make("div", "softlab-buttons");
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", wordsOf(node, slots));
  let told = () => {}, drawn = "";
  const show = () => {
    const now = JSON.stringify(slots.options);
    if (now !== drawn) {
      box.replaceChildren(...slots.options.map((text, index) => {
        const one = make("button", "", text);
        one.type = "button";
        one.addEventListener("click", () => told("index", index));
        return one;
      }));
    }
    drawn = now;
    [...box.children].forEach((one, index) => one.setAttribute("aria-pressed", String(index === slots.index)));
  };
  return { box, show, use: (handler) => { told = handler; } };
}

function toggle(node, slots) {
  const box = make("div", "softlab-buttons"), one = make("button", "", slots.description);
  one.type = "button";
  box.append(one);
  const show = () => one.setAttribute("aria-pressed", String(slots.value));
  return { box, show, use: (told) => one.addEventListener("click", () => told("value", !slots.value)) };
}

function checkbox(node, slots) {
  const box = make("label", "softlab-check"), input = make("input");
  input.type = "checkbox";
  box.append(input, slots.description);
  const show = () => { input.checked = slots.value; };
  return { box, show, use: (told) => input.addEventListener("change", () => told("value", input.checked)) };
}

// What is wider than its place can be moved sideways by keys, too.
const WIDE = ".softlab-html, .softlab-view, .softlab-still, .softlab-math, .highlight pre, .table-wrapper, "
  + "article [style*='overflow-x']";
function reachable(box) {
  requestAnimationFrame(() => {
    const wide = box.scrollWidth > box.clientWidth + 1;
    if (wide) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
    box.classList.toggle("softlab-wide", wide);
  });
}

function html(node, slots) {
  const box = make("div", "softlab-html");
  let drawn;
  const show = () => {
    if (slots.value === drawn) return;
    box.innerHTML = drawn = slots.value;
    [box, ...box.querySelectorAll(WIDE)].forEach(reachable);
  };
  return { box, show, use: () => {} };
}

function button(node, slots) {
  const box = make("div", "softlab-buttons"), one = make("button", "", slots.description);
  one.type = "button";
  one.disabled = true;
  one.title = "This needs Python: open the lesson in JupyterLab.";
  box.append(one);
  return { box, show: () => {}, use: () => {} };
}

function play(node, slots) {
  const box = make("div", "softlab-buttons"), one = make("button", "", "▶ play");
  one.type = "button";
  box.append(one);
  let timer = 0, told = () => {};
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    one.textContent = "▶ play";
  };
  one.addEventListener("click", () => {
    if (timer) return stop();
    one.textContent = "❚❚ stop";
    if (slots.value >= slots.max) told("value", slots.min ?? 0);
    timer = setInterval(() => (slots.value >= slots.max ? stop() : told("value", slots.value + 1)), slots.interval);
  });
  return { box, show: () => { one.disabled = Boolean(slots.disabled); }, use: (handler) => { told = handler; } };
}

const CONTROLS = { slider, choice, menu, buttons, toggle, checkbox, html, button, play };

// An explorer ---------------------------------------------------------------------------------------------------------

class Explorer {
  constructor(place, name, store, values) {
    Object.assign(this, { place, name, store, values, parts: new Map(), slots: new Map(), asked: 0 });
  }

  slotsOf(id) {
    if (!this.slots.has(id)) this.slots.set(id, {});
    return this.slots.get(id);
  }

  // Puts all that a state shows into the slots; the ids of what changed.
  take(shown) {
    const changed = new Set();
    for (const [id, slot, given] of shown) {
      const slots = this.slotsOf(id);
      if (!(slot in slots) || slots[slot] !== given) changed.add(id);
      slots[slot] = given;
    }
    return changed;
  }

  build(node) {
    const slots = this.slotsOf(node.id);
    let box, show = () => {};
    if (node.children) {
      box = make("div", `softlab-${node.kind}`);
      const labels = node.children.filter((child) => child.kind === "html");
      node.children.forEach((child) => {
        if (labels.length) child.words = this.slotsOf(labels[0].id).value;
        box.append(this.build(child));
      });
    } else if (node.kind === "view") {
      box = make("div", "softlab-view");
      const names = Object.keys(slots).filter((slot) => !slot.startsWith("layout."));
      const model = new Model(Object.fromEntries(names.map((slot) => [slot, slots[slot]])),
        (slot, given) => this.told(node.id, slot, given), (message) => this.message(message));
      show = () => Object.keys(slots).filter((slot) => names.includes(slot))
        .forEach((slot) => model.put(slot, slots[slot]));
      views.get(node.view).render({ model, el: box });
      reachable(box);
    } else {
      const control = CONTROLS[node.kind](node, slots);
      ({ box, show } = control);
      control.use((slot, given) => this.told(node.id, slot, given));
      show();
    }
    const layout = () => {
      box.style.display = slots["layout.display"] ?? "";
      box.style.visibility = slots["layout.visibility"] ?? "";
      box.style.minHeight = slots["layout.min_height"] ?? box.style.minHeight;
    };
    layout();
    this.parts.set(node.id, () => { show(); layout(); });
    return box;
  }

  // A control has moved, or a picture was clicked.
  told(id, slot, given) {
    const slots = this.slotsOf(id), { inputs, links, traits } = this.store;
    slots[slot] = given;
    for (const [from, out, to, into] of links.filter(([from, out]) => from === id && out === slot)) {
      this.slotsOf(to)[into] = this.slotsOf(from)[out];
      this.parts.get(to)();
      this.parts.get(from)();
    }
    const input = inputs.find(([one, other]) => one === id && other === slot);
    if (!input) return;
    const [, , trait, label] = input, index = traits.indexOf(trait);
    if (label !== null) {
      const labels = inputs.filter((one) => one[2] === trait && this.slotsOf(one[0]).value).map((one) => one[3]);
      this.ask(index, labels);
    } else if (slot === "index") this.ask(index, slots.values ? slots.values[given] : given);
    else if (given !== -1) this.ask(index, given);  // -1: a picture says that nothing is chosen
  }

  async ask(index, given) {
    const values = this.values.map((one, k) => (k === index ? given : one)), turn = ++this.asked;
    this.values = values;
    const found = await stateOf(this.name, values);
    if (turn !== this.asked) return;
    if (!found) return this.lacks(values, index);
    this.show(found);
  }

  show(found) {
    this.values = this.last = found.values;
    this.place.dataset.values = JSON.stringify(this.values);
    this.note.textContent = "";
    this.place.classList.remove("softlab-stale");
    this.take(found.shown);
    this.parts.forEach((show) => show());
  }

  async lacks(values, index) {
    const found = await computed(this.name, values, index), trait = this.store.traits[index];
    const shown = JSON.stringify(values[index]).replaceAll('"', "");
    const kept = found.map((one) => (Array.isArray(one) ? one.join(" + ") : String(one)));
    const some = kept.length > 24 ? [...kept.slice(0, 24), "…"] : kept;
    const others = some.length ? ` With the other choices as they are, there are: ${some.join(", ")}.`
      : " Nor was any other, with the other choices as they are.";
    this.note.textContent = `No picture was computed for ${trait} = ${shown}.${others}`
      + " The lesson in JupyterLab has them all. The picture below is the one before.";
    const back = make("button", "softlab-back", "Back to the picture");
    back.type = "button";
    back.addEventListener("click", async () => this.show(await stateOf(this.name, this.last)));
    this.note.append(" ", back);
    this.place.classList.add("softlab-stale");
    this.place.dataset.values = JSON.stringify(values);
  }

  // What the stepper's view asks for.
  async message(asked) {
    const index = this.store.traits.indexOf("step"), now = this.values[index];
    const moves = { back: now - 1, forward: now + 1 };
    if (asked.move in moves) this.ask(index, moves[asked.move]);
    else if ("go" in asked) this.ask(index, asked.go);
    else if (asked.move) this.ask(index, await this.otherLine(index, asked.move === "line forward" ? 1 : -1));
    else this.note.textContent = "Where a value comes from is computed by Python: open the lesson in JupyterLab.";
  }

  async lineAt(index, step) {
    const found = await stateOf(this.name, this.values.map((one, k) => (k === index ? step : one)));
    return found?.shown.find(([, slot]) => slot === "state")?.[2].line ?? null;
  }

  // The next step of another source line, or the first step of the line before.
  async otherLine(index, way) {
    let step = this.values[index];
    const line = await this.lineAt(index, step);
    while ((await this.lineAt(index, step)) === line) step += way;
    const there = await this.lineAt(index, step);
    if (way < 0) while (there !== null && (await this.lineAt(index, step - 1)) === there) step -= 1;
    return step;
  }
}

// What all states of a store share: [node, slot, value] each.
const fixedOf = (store) => Object.entries(store.fixed).map(([where, given]) => {
  const [id, slot] = where.split(" ");
  return [Number(id), slot, given];
});

async function openExplorer(place, about) {
  const store = await storeOf(about.store), values = JSON.parse(about.start);
  const explorer = new Explorer(place, about.store, store, values), found = await stateOf(about.store, values);
  explorer.take(fixedOf(store));
  explorer.take(found.shown);
  explorer.values = explorer.last = found.values;
  explorer.note = make("div", "softlab-missing");
  explorer.note.setAttribute("role", "status");
  place.replaceChildren(explorer.build(store.scene));
  place.prepend(explorer.note);
  place.dataset.ready = "yes";
}

// Predictions and exercises -------------------------------------------------------------------------------------------

const K = Uint32Array.from({ length: 64 }, ((found) => () => {
  for (let n = found.at(-1) + 1; ; n++) {
    if (found.slice(1).every((prime) => n % prime)) {
      found.push(n);
      return (Math.cbrt(n) % 1) * 2 ** 32;
    }
  }
})([1]));

// SHA-256 of bytes. (crypto.subtle is not there on pages without https.)
function sha256(bytes) {
  const state = Uint32Array.of(0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
    0x5be0cd19), size = ((bytes.length + 9 + 63) >> 6) << 6, w = new Uint32Array(64);
  const data = new DataView(new ArrayBuffer(size));
  new Uint8Array(data.buffer).set(bytes);
  data.setUint8(bytes.length, 0x80);
  data.setUint32(size - 4, bytes.length * 8);
  const turned = (x, n) => (x >>> n) | (x << (32 - n));
  for (let at = 0; at < size; at += 64) {
    for (let k = 0; k < 16; k++) w[k] = data.getUint32(at + 4 * k);
    for (let k = 16; k < 64; k++) {
      const a = w[k - 15], b = w[k - 2];
      w[k] = w[k - 16] + w[k - 7] + (turned(a, 7) ^ turned(a, 18) ^ (a >>> 3))
        + (turned(b, 17) ^ turned(b, 19) ^ (b >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let k = 0; k < 64; k++) {
      const one = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + K[k] + w[k]) | 0;
      const two = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, k) => { state[k] += word; });
  }
  const found = new DataView(new ArrayBuffer(32));
  state.forEach((word, k) => found.setUint32(4 * k, word));
  return new Uint8Array(found.buffer);
}

const bytesOf = (text) => new TextEncoder().encode(text);
const digest = (salt, answer) => [...sha256(bytesOf(`${salt}|${answer}`)).slice(0, 8)]
  .map((byte) => byte.toString(16).padStart(2, "0")).join("");

function unlocked(salt, answer, text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  for (let block = 0; block * 32 < bytes.length; block++) {
    const key = sha256(bytesOf(`${salt}|${answer}|${block}`));
    for (let k = 0; k < 32 && block * 32 + k < bytes.length; k++) bytes[block * 32 + k] ^= key[k];
  }
  return new TextDecoder().decode(bytes);
}

// The text whose digest stands for a number (softlab/site/answers.py).
function placeOf(number, scale) {
  if (!scale.length) {
    const bits = new DataView(new ArrayBuffer(8));
    bits.setFloat64(0, number + 0);
    return [...new Uint8Array(bits.buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }
  const [kind, width, offset] = scale;
  if (kind === 1) return String(Math.floor((number - offset) / width + 1e-9));
  if (!number) return "zero";
  return `${number < 0 ? "-" : ""}${Math.floor((Math.log(Math.abs(number)) - offset) / width + 1e-9)}`;
}

function judged(data, number) {
  for (const rule of data.rules) {
    const where = placeOf(number, rule.scale);
    if (digest(data.id, where) === rule.digest) return unlocked(data.id, where, rule.text);
  }
  return unlocked(data.id, "other", data.other);
}

const chosen = new Map(), waiting = new Map();

function radios(data, handler) {
  const group = make("fieldset", "softlab-answers");
  if (data.question) group.append(make("legend", "", data.question));
  else group.append(make("legend", "softlab-hidden-words", "Your answer"));
  data.answers.forEach((answer) => {
    const label = make("label"), input = make("input");
    [input.type, input.name, input.value] = ["radio", `softlab-${data.id}`, answer];
    input.addEventListener("change", () => handler(answer, group));
    label.append(input, ` ${answer}`);
    group.append(label);
  });
  return group;
}

function openQuestion(place, data) {
  const said = make("div", "softlab-verdict-text");
  said.setAttribute("role", "status");
  const verdict = (answer) => unlocked(data.id, answer, data.verdicts[digest(data.id, answer)]);
  let attempts = 0;
  const answered = (text) => {
    said.innerHTML = text;
    if (text.includes("✓") || !data.further?.length || !attempts++) return;
    const number = Math.min(attempts - 1, data.further.length) - 1;
    said.append(make("p", "", unlocked(data.id, `further ${number}`, data.further[number]).replaceAll("`", "")));
  };
  if (data.kind === "prediction") {
    said.textContent = "Choose before you go on.";
    place.replaceChildren(radios(data, (answer) => {
      said.textContent = `Noted: ${answer}. Go on and see: the verdict stands below the experiment.`;
      chosen.set(data.id, verdict(answer));
      waiting.get(data.id)?.();
    }), said);
  } else if (data.kind === "choice") {
    place.replaceChildren(radios(data, (answer) => answered(verdict(answer))), said);
  } else {
    const form = make("form", "softlab-numeric"), input = make("input"), send = make("button", "", "Check");
    const label = make("label", "", "Your answer "), typed = () => input.value.replace(/[\s_,]/g, "");
    [input.type, input.inputMode, input.autocomplete, send.type] = ["text", "decimal", "off", "submit"];
    label.append(input);
    form.append(label, send);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const number = typed() === "" ? NaN : Number(typed());
      if (Number.isNaN(number)) said.textContent = "Type a number, such as 1024 or 0.5.";
      else answered(judged(data, number).replaceAll("\ufffc", input.value.trim().replace(/[<>&]/g, "")));
    });
    place.replaceChildren(form, said);
  }
}

function openVerdict(place, data) {
  const box = make("div", "softlab-verdict-text", "Answer the prediction above, and its verdict stands here.");
  box.setAttribute("role", "status");
  waiting.set(data.id, () => { box.innerHTML = chosen.get(data.id); });
  place.replaceChildren(box);
}

// The page ------------------------------------------------------------------------------------------------------------

function failed(place, error) {
  place.append(make("p", "softlab-missing", `This picture cannot be drawn: ${error.message}.`));
  throw error;
}

const OPEN = { explorer: openExplorer, question: openQuestion, verdict: openVerdict };

function open(kind, place) {
  const data = JSON.parse(place.querySelector("script").textContent);
  return Promise.resolve().then(() => OPEN[kind](place, data)).catch((error) => failed(place, error));
}

function theme() {
  const set = document.body.dataset.theme, dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.body.dataset.jpThemeLight = String(set === "dark" ? false : set === "light" ? true : !dark);
}

// The places of one kind: elements that begin with their data.
const places = (kind) => [...document.querySelectorAll(`.softlab-${kind}`)]
  .filter((place) => place.firstElementChild?.type === "application/json");

// Links to Binder, where the site knows its repository. A link asks for nothing until it is followed.
function binders() {
  const repository = window.softlabSite?.repository;
  document.querySelectorAll(".softlab-binder").forEach((place) => {
    if (!repository) return;
    const link = make("a", "", "Open this lesson on Binder");
    link.href = `https://mybinder.org/v2/gh/${repository}/HEAD?labpath=${encodeURIComponent(place.dataset.notebook)}`;
    place.append(link);
  });
}

function start() {
  theme();
  binders();
  new MutationObserver(theme).observe(document.body, { attributes: true, attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", theme);
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    document.querySelectorAll(".sidebar-toggle").forEach((menu) => { menu.checked = false; });
  });
  const widths = () => document.querySelectorAll(WIDE).forEach(reachable);
  widths();
  addEventListener("resize", widths);
  document.querySelectorAll("details").forEach((one) => one.addEventListener("toggle", widths));
  places("question").forEach((place) => open("question", place));
  places("verdict").forEach((place) => open("verdict", place));
  // An explorer is loaded when it comes near: a page may have several.
  const near = new IntersectionObserver((entries) => entries.filter((one) => one.isIntersecting).forEach((one) => {
    near.unobserve(one.target);
    open("explorer", one.target);
  }), { rootMargin: "600px" });
  places("explorer").forEach((place) => near.observe(place));
}

window.softlab = {
  view: (name, view) => views.set(name, view),
  store: (name, text) => stores.set(name, unpacked(text)),
  chunk: (name, text) => chunks.set(name, unpacked(text)),
  // For tests: what a store shows for these values.
  state: async (name, values) => {
    await storeOf(name);
    const found = await stateOf(name, values);
    return found && { values: found.values, shown: [...fixedOf(await stores.get(name)), ...found.shown] };
  },
};
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
})();
