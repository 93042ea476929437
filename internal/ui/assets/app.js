// The page: what comes over the event streams is put where it belongs. All HTML is the server's own.
const body = document.body, page = body.dataset.page;
const by = (id) => document.getElementById(id);

if (page === "door") door();
if (page === "home") home();
if (page === "run") run();
if (page !== "door") keys();

// The token is in the fragment, which no browser sends: it buys the cookie.
async function door() {
  const token = location.hash.slice(1);
  if (!token) return;
  history.replaceState(null, "", "/");
  try {
    const answer = await fetch("/session", { method: "POST", body: new URLSearchParams({ token }) });
    if (answer.ok) return location.reload();
    by("state").textContent = await answer.text();
  } catch {
    by("state").textContent = "codeloops ui does not answer.";
  }
}

// stream listens, says how the connection is, and comes back by itself.
function stream(address, on) {
  const source = new EventSource(address);
  source.onopen = () => { by("link").textContent = "live"; };
  source.onerror = () => { by("link").textContent = "disconnected: is `codeloops ui` still running?"; };
  for (const name in on) source.addEventListener(name, (e) => on[name](e.data, source));
  return source;
}

function home() {
  const list = by("list");
  stream("/events" + location.search, {
    list: (html) => {
      const at = document.activeElement?.getAttribute("href");
      list.innerHTML = html;
      if (at) list.querySelector(`a[href="${CSS.escape(at)}"]`)?.focus();
    },
  });
}

function run() {
  const log = by("log"), now = by("now");
  stream(`/run/${encodeURIComponent(body.dataset.id)}/events`, {
    part: (html) => log.insertAdjacentHTML("beforeend", html),
    now: (html) => { now.innerHTML = html; clocks(); },
    problem: (text) => {
      const p = document.createElement("p");
      p.className = "problem";
      p.textContent = text;
      log.append(p);
    },
    commands: (html) => { by("commands").innerHTML = html; },
    end: (html, source) => {
      source.close();
      now.innerHTML = "";
      by("steer")?.remove();
      log.insertAdjacentHTML("beforeend", html);
      by("link").textContent = "";
    },
  });
  setInterval(clocks, 1000);
  by("commands").onclick = (e) => { if (e.target.dataset.copy) navigator.clipboard.writeText(e.target.dataset.copy); };
  const form = by("steer");
  if (!form) return;
  for (const b of form.querySelectorAll("[data-kind]")) b.onclick = () => steer(b.dataset.kind, "");
  form.onsubmit = (e) => { e.preventDefault(); steer("say", form.text.value); };
}

async function steer(kind, text) {
  const said = by("said"), form = by("steer");
  try {
    const answer = await fetch(`/run/${encodeURIComponent(body.dataset.id)}/steer`, { method: "POST", body: new URLSearchParams({ kind, text }) });
    said.textContent = answer.ok ? "asked" : await answer.text();
    if (answer.ok && form) form.text.value = "";
  } catch {
    said.textContent = "codeloops ui does not answer.";
  }
}

// clocks shows how long what goes on has lasted.
function clocks() {
  for (const t of document.querySelectorAll("[data-since]")) {
    const s = Math.max(0, Math.round((Date.now() - Date.parse(t.dataset.since)) / 1000));
    t.textContent = s < 60 ? `${s} s` : `${Math.floor(s / 60)} min ${s % 60} s`;
  }
}

function keys() {
  let last = "";
  const stops = () => [...document.querySelectorAll("a.row, main > section[id]")];
  const step = (by) => {
    const all = stops();
    if (!all.length) return;
    const at = all.findIndex((e) => e.classList.contains("at"));
    all[at]?.classList.remove("at");
    const next = all[Math.min(all.length - 1, Math.max(0, at + by))];
    next.classList.add("at");
    next.scrollIntoView({ block: "nearest" });
    if (next.href) next.focus();
  };
  addEventListener("keydown", (e) => {
    if (e.target.matches("input, textarea") || e.ctrlKey || e.metaKey || e.altKey) {
      if (e.key === "Escape") e.target.blur();
      return;
    }
    const both = last + e.key;
    last = e.key;
    if (both === "gh") location.href = "/";
    else if (e.key === "j") step(1);
    else if (e.key === "k") step(-1);
    else if (e.key === "/" && by("search")) { e.preventDefault(); by("search").focus(); }
    else if (e.key === "?") by("help").showModal();
  });
}
