
// The studio: one socket, one viewer, a panel for each tab. Text of the file enters as text only.
const find = (id) => document.getElementById(id);
const tabs = [...document.querySelectorAll("[role=tab]")];
const studio = { socket: null, version: 0, tab: "picture", viewer: null, runner: null, wanted: {}, shown: {}, since: {}, retry: 250, asked: 0, request: 0, latest: {} };

function send(message) { if (studio.socket?.readyState === 1) studio.socket.send(JSON.stringify(message)); }

function setStatus(text, lost = false) { const line = find("status"); line.textContent = text; line.classList.toggle("lost", lost); }

function connect() {
  const socket = new WebSocket(`ws://${location.host}${location.pathname}socket`);
  studio.socket = socket;
  socket.onopen = () => { studio.retry = 250; setStatus("connected"); };
  socket.onmessage = (event) => receive(JSON.parse(event.data));
  socket.onclose = () => {
    setStatus("the studio has ended; what is shown stays, and a new start is looked for", true);
    setTimeout(connect, studio.retry);
    studio.retry = Math.min(5000, 2 * studio.retry);
  };
}

function receive(message) {
  if (message.type === "file") { showFile(message); showProblem(message.problem); }
  else if (message.type === "problem") { showProblem(message.problem); setStatus("the file has an error; the last good state is shown"); }
  else if (message.type === "reading") setStatus(message.state === "running" ? "reading the file …" : "saved; waiting …");
  else if (message.type === "job") showJob(message);
  else if (message.type === "accepted") { if (studio.latest[message.kind]?.request === message.request) studio.wanted[message.kind] = message.key; }
  else if (message.type === "refused") setStatus(message.error);
}

async function showFile(message) {
  studio.version = message.version;
  document.title = `${message.name} – Linkwright studio`;
  find("name").textContent = message.name;
  find("summary").textContent = message.summary;
  find("remarks").replaceChildren(...[...message.remarks, ...message.notes].map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  const efforts = find("efforts");
  efforts.placeholder = `${message.efforts[0] ?? "q1"} = 2*sin(t)`;
  try {
    if (studio.viewer) await studio.viewer.update(message.scene);
    else { studio.viewer = find("viewer").viewer = mountViewer(find("viewer"), message.scene, {}); await studio.viewer.ready; }
    setStatus(`version ${message.version}, drawn`);
  } catch (error) { setStatus(`the picture failed: ${error.message}`, true); }
  for (const box of document.querySelectorAll(".result")) box.classList.add("stale");
  studio.shown = {};
  ask(studio.tab);
}

function showProblem(problem) {
  const box = find("problem");
  box.hidden = !problem;
  if (!problem) { box.replaceChildren(); return; }
  const line = (text, name = "") => Object.assign(document.createElement("p"), { textContent: text, className: name });
  const rows = document.createElement("pre");
  for (const [number, text] of problem.excerpt) {
    const row = document.createElement(number === problem.line ? "mark" : "span");
    row.textContent = `${String(number).padStart(4)}  ${text}\n`;
    rows.append(row);
  }
  const place = problem.line ? `Line ${problem.line}, ${problem.where}` : problem.where;
  box.replaceChildren(line(`${place}: ${problem.what}`), ...(problem.remedy ? [line(problem.remedy, "remedy")] : []), ...(problem.excerpt.length ? [rows] : []));
}

/** What a tab asks for, as it is set now; null if it asks for nothing. */
function options(kind) {
  if (kind === "equations") return { by: find("by").value, steps: find("steps").checked };
  if (kind === "checks" || kind === "formulations") return {};
  if (kind === "own") return find("text").value.trim() ? { text: find("text").value } : null;
  return null;
}

function ask(kind, chosen = options(kind)) {
  if (!chosen || !studio.version) return;
  const said = JSON.stringify([chosen, studio.version]);
  if (studio.shown[kind] === said) return;
  studio.latest[kind] = { request: ++studio.request, said };
  studio.wanted[kind] = null;
  send({ ask: kind, options: chosen, request: studio.request });
}

function showJob(message) {
  const { kind, key, state } = message;
  const line = document.querySelector(`.job[data-kind=${kind}]`);
  if (studio.wanted[kind] !== key) return;
  if (state === "running" && message.since) studio.since[kind] = Date.now();
  line.classList.toggle("failed", state === "failed");
  line.dataset.state = state;
  line.replaceChildren();
  if (state === "waiting" || state === "running") {
    line.append(Object.assign(document.createElement("span"), { textContent: `${state}${message.stage ? `: ${message.stage}` : ""} ` }), Object.assign(document.createElement("output"), {}), Object.assign(document.createElement("button"), { type: "button", textContent: "Cancel", onclick: () => send({ cancel: key }) }));
  } else if (state === "failed") line.textContent = message.error;
  else if (state === "cancelled") {
    line.append(Object.assign(document.createElement("span"), { textContent: "cancelled " }), ...(kind === "simulation" ? [] : [Object.assign(document.createElement("button"), { type: "button", textContent: "Again", onclick: () => ask(kind) })]));
  } else showResult(message);
}

async function showResult(message) {
  const { kind, key } = message;
  if (kind !== "simulation") studio.shown[kind] = studio.latest[kind].said;
  if (kind !== "simulation") {
    const box = document.querySelector(`.result[data-kind=${kind}]`);
    box.innerHTML = message.html; // made by the studio's templates, which escape all text of the file
    box.classList.remove("stale");
    return;
  }
  find("sentences").replaceChildren(...message.sentences.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  const scene = JSON.parse(message.scene);
  if (studio.runner) await studio.runner.update(scene, { keep: false });
  else { studio.runner = mountViewer(find("runner"), scene, {}); await studio.runner.ready; }
}

setInterval(() => {
  for (const [kind, begin] of Object.entries(studio.since)) {
    const clock = document.querySelector(`.job[data-kind=${kind}][data-state=running] output`);
    if (clock) clock.textContent = `${((Date.now() - begin) / 1000).toFixed(0)} s `;
  }
}, 500);

// -- what people do ------------------------------------------------------------------------------

function choose(name, focus = false) {
  studio.tab = name;
  for (const tab of tabs) {
    const chosen = tab.dataset.tab === name;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    find(`panel-${tab.dataset.tab}`).hidden = !chosen;
    if (chosen && focus) tab.focus();
  }
  ask(name);
  dispatchEvent(new Event("resize"));
}

for (const tab of tabs) tab.addEventListener("click", () => choose(tab.dataset.tab));
document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const now = tabs.findIndex((tab) => tab.dataset.tab === studio.tab);
  choose(tabs[(now + step + tabs.length) % tabs.length].dataset.tab, true);
});
for (const id of ["by", "steps"]) find(id).addEventListener("change", () => ask("equations"));
for (const form of document.querySelectorAll("form")) form.addEventListener("submit", (event) => event.preventDefault());
find("text").addEventListener("input", () => { clearTimeout(studio.asked); studio.asked = setTimeout(() => ask("own"), 300); });
document.querySelector("#panel-simulation form").addEventListener("submit", () => {
  const state = studio.viewer?.state;
  const efforts = {};
  for (const row of find("efforts").value.split(/[\n;]/)) { const at = row.indexOf("="); if (at > 0) efforts[row.slice(0, at).trim()] = row.slice(at + 1).trim(); }
  const chosen = { seconds: Number(find("seconds").value), efforts };
  if (state) Object.assign(chosen, { q: state.q, qd: state.qd, parameters: state.parameters });
  ask("simulation", chosen);
});
connect();
