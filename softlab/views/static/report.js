// A click on a line of a report, or Enter on it, draws its accesses below the source.
const cards = JSON.parse(document.getElementById("cards").textContent);
const access = document.getElementById("access");

// What `render` needs of a widget's model.
function fixed(data) {
  const state = { data, lane: -1 }, heard = {};
  return {
    get: (name) => state[name],
    set: (name, value) => { state[name] = value; (heard[`change:${name}`] || (() => {}))(); },
    save_changes: () => {},
    on: (event, call) => { heard[event] = call; },
  };
}

function show(line) {
  document.querySelectorAll("#source tr").forEach((row) => {
    row.classList.toggle("shown", row.dataset.line === line);
  });
  access.replaceChildren();
  (cards[line] || []).forEach((card) => {
    const words = document.createElement("p"), picture = document.createElement("div");
    words.textContent = card.words;
    access.append(words, picture);
    render({ model: fixed(card.data), el: picture });
  });
}

document.getElementById("source").addEventListener("click", (event) => {
  const row = event.target.closest("tr.has");
  if (row) show(row.dataset.line);
});
document.getElementById("source").addEventListener("keydown", (event) => {
  const row = event.target.closest("tr.has");
  if (!row || (event.key !== "Enter" && event.key !== " ")) return;
  event.preventDefault();
  show(row.dataset.line);
});
