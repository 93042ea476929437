// The page: what comes over the event streams is put where it belongs. All HTML is the server's own.
const body = document.body, page = body.dataset.page;
const by = (id) => document.getElementById(id);

if (page === "door") door();
if (page === "home") home();
if (page === "run") run();
if (page === "changes") changes();
if (page === "prompt" && by("draft")) draft();
if (by("help")) keys();

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
  const says = (text, look) => { by("link").textContent = text; by("link").className = look; };
  source.onopen = () => says("live", "faint");
  source.onerror = () => says("disconnected: is `codeloops ui` still running?", "problem");
  for (const name in on) source.addEventListener(name, (e) => on[name](e.data, source));
  return source;
}

function home() {
  const list = by("list");
  const keeping = (put) => { // the row that has the focus
    const at = document.activeElement?.getAttribute("href");
    put();
    if (at && document.activeElement === body) list.querySelector(`a[href="${CSS.escape(at)}"]`)?.focus();
  };
  stream("/events" + location.search, {
    list: (html) => keeping(() => { list.innerHTML = html; }),
    group: (html) => keeping(() => {
      const one = document.createElement("template");
      one.innerHTML = html;
      list.querySelector(`section[aria-label="${one.content.firstElementChild.getAttribute("aria-label")}"]`)?.replaceWith(one.content);
    }),
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
    commands: (html) => { // what was shown at first may have been typed into
      if (body.dataset.runs) by("commands").innerHTML = html;
      carryWords();
    },
    end: (html, source) => {
      source.close();
      now.innerHTML = "";
      by("steer")?.remove();
      log.insertAdjacentHTML("beforeend", html);
      delete body.dataset.runs;
      const said = log.querySelectorAll(".badge"); // the first one still says that it runs
      if (said.length > 1) said[0].replaceWith([...said].at(-1).cloneNode(true));
      by("link").textContent = "";
    },
  });
  setInterval(clocks, 1000);
  carryWords();
  by("commands").onclick = (e) => { if (e.target.dataset.copy) navigator.clipboard.writeText(e.target.dataset.copy); };
  now.onclick = (e) => { if (e.target.dataset.say) steer("say", e.target.dataset.say); };
  const form = by("steer");
  if (!form) return;
  for (const b of form.querySelectorAll("[data-kind]")) b.onclick = () => steer(b.dataset.kind, "");
  form.onsubmit = (e) => { e.preventDefault(); steer("say", form.text.value); };
}

// What was said about lines of a session that has ended waits in this tab for the form that carries it on.
function forLater() { return `words ${body.dataset.id}`; }

function carryWords() {
  const field = document.querySelector("form.after textarea"), words = sessionStorage.getItem(forLater());
  if (field && words && !field.value) field.value = words;
}

// Forms of commands show what the command prints. Where it was only a look, the same button then does it.
addEventListener("submit", async (e) => {
  const form = e.target;
  if (!form.dataset.do) return;
  e.preventDefault();
  const told = form.querySelector(".told"), button = form.querySelector("button");
  const data = new URLSearchParams(new FormData(form));
  if (form.dataset.looked) data.set("sure", "1");
  button.disabled = true;
  told.hidden = false;
  told.textContent = "…";
  try {
    const answer = await fetch(form.dataset.do, { method: "POST", body: data });
    const looked = answer.ok && answer.headers.has("X-Codeloops-Looked");
    told.textContent = (await answer.text()) || "done";
    told.classList.toggle("problem", !answer.ok);
    if (looked) form.dataset.looked = "1";
    else delete form.dataset.looked;
    button.textContent = looked ? "Yes, do it" : button.dataset.label;
  } catch {
    told.textContent = "codeloops ui does not answer.";
  }
  button.disabled = false;
});
addEventListener("input", (e) => { // another word, another look
  const form = e.target.closest("form[data-do]");
  if (!form) return;
  delete form.dataset.looked;
  form.querySelector("button").textContent = form.querySelector("button").dataset.label;
});

// Forms that start a run go on to its page.
addEventListener("submit", async (e) => {
  const form = e.target;
  if (!form.dataset.post) return;
  e.preventDefault();
  const said = form.querySelector("output"), button = form.querySelector("button");
  button.disabled = true;
  said.textContent = "starting …";
  try {
    const answer = await fetch(form.dataset.post, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    if (answer.ok) {
      if (body.dataset.id) sessionStorage.removeItem(forLater());
      const to = answer.headers.get("Location");
      return to === location.pathname ? location.reload() : location.assign(to);
    }
    said.textContent = await answer.text();
  } catch {
    said.textContent = "codeloops ui does not answer.";
  }
  button.disabled = false;
});

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

// changes loads the lines of a file once it comes into sight, and takes comments on them.
function changes() {
  const of = `/run/${encodeURIComponent(body.dataset.id)}`;
  const form = document.querySelector(".choice");
  form.onchange = () => form.requestSubmit();
  const load = async (file) => {
    const lines = file.querySelector(".lines");
    if (lines.dataset.asked || !file.open) return;
    lines.dataset.asked = "1";
    try {
      const answer = await fetch(`${of}/changes/${file.dataset.file}?${body.dataset.query}`);
      if (answer.ok) lines.innerHTML = await answer.text();
      else lines.textContent = await answer.text();
    } catch {
      lines.textContent = "codeloops ui does not answer.";
      delete lines.dataset.asked;
    }
    lines.removeAttribute("aria-busy");
  };
  const sight = new IntersectionObserver((all) => { for (const e of all) if (e.isIntersecting) load(e.target); }, { rootMargin: "600px" });
  for (const file of document.querySelectorAll(".file")) {
    sight.observe(file);
    file.ontoggle = () => { sight.unobserve(file); sight.observe(file); }; // this also comes for each that is open at first
  }
  const blank = by("comment");
  if (!blank) return;
  document.querySelector("main").onclick = (e) => {
    const number = e.target.closest("button[data-n]");
    if (!number) return;
    const row = number.closest("tr"), next = row.nextElementSibling;
    if (next?.classList.contains("say")) return next.querySelector("textarea").focus();
    const say = document.createElement("tr"), cell = say.insertCell();
    say.className = "say";
    cell.colSpan = 4;
    cell.append(blank.content.cloneNode(true));
    row.after(say);
    const form = cell.querySelector("form");
    form.text.focus();
    form.querySelector(".cancel").onclick = () => say.remove();
    form.onsubmit = async (e) => {
      e.preventDefault();
      const words = [...row.querySelectorAll("td.w")], text = number.dataset.gone ? words[0] : words.at(-1);
      const tell = new URLSearchParams({
        path: row.closest("table").dataset.path, number: number.dataset.n, gone: number.dataset.gone ?? "", line: text.textContent, text: form.text.value,
      });
      try {
        const answer = await fetch(`${of}/comment`, { method: "POST", body: tell });
        if (!answer.ok) return void (form.querySelector("output").textContent = await answer.text());
        const words = await answer.text(), later = answer.headers.has("X-Codeloops-Later");
        if (later) sessionStorage.setItem(forLater(), `${sessionStorage.getItem(forLater()) ?? ""}${words}\n`);
        cell.textContent = later ? `kept for when you carry it on: ${words}` : `told: ${words}`;
      } catch {
        form.querySelector("output").textContent = "codeloops ui does not answer.";
      }
    };
  };
}

// draft is the form for a prompt: it shows as one types what the actor will read, keeps it, and is filled in by an interview.
function draft() {
  const form = by("draft"), said = form.querySelector("output"), replace = by("replace");
  const post = (path, data) => fetch(path, { method: "POST", body: new URLSearchParams(data) });
  const chosen = () => form.querySelector(`fieldset[data-kind="${CSS.escape(form.kind.value)}"]`);
  const preview = async () => {
    try {
      const answer = await post("/prompt/preview", new FormData(form)), text = await answer.text();
      if (answer.ok) by("preview").innerHTML = text;
      else by("preview").textContent = text;
    } catch {
      by("preview").textContent = "codeloops ui does not answer.";
    }
  };
  let due = 0;
  form.addEventListener("input", (e) => {
    if (e.target === form.kind) {
      const was = form.querySelector("fieldset:not([disabled])"), now = chosen();
      for (const field of now.querySelectorAll("textarea")) {
        field.value ||= [...was.querySelectorAll("textarea")].find((f) => f.name === field.name)?.value ?? "";
      }
      was.hidden = was.disabled = true;
      now.hidden = now.disabled = false;
    }
    replace.hidden = true;
    clearTimeout(due);
    due = setTimeout(preview, 200);
  });
  preview();

  const keep = async (data) => {
    try {
      const answer = await post("/prompt", data);
      said.textContent = await answer.text();
      replace.hidden = answer.status !== 409;
    } catch {
      said.textContent = "codeloops ui does not answer.";
    }
  };
  by("keep").onclick = () => keep(new FormData(form));
  replace.onclick = () => {
    const data = new FormData(form);
    data.set("replace", "1");
    keep(data);
  };

  const remove = by("remove");
  if (remove) remove.onclick = async () => {
    const name = remove.dataset.name;
    if (!remove.dataset.asked) {
      remove.dataset.asked = "1";
      remove.textContent = `Yes, delete ${name}`;
      said.textContent = "A copy is kept.";
      return;
    }
    try {
      const answer = await post("/prompt/remove", { dir: form.dir.value, name });
      if (answer.ok) location.assign("/prompt?" + new URLSearchParams({ dir: form.dir.value }));
      else said.textContent = await answer.text();
    } catch {
      said.textContent = "codeloops ui does not answer.";
    }
  };

  // The dialogue is in this tab alone, so that it outlives a reload.
  const talk = by("interview"), place = "interview " + form.dir.value;
  let all = JSON.parse(sessionStorage.getItem(place) ?? "[]");
  const show = () => {
    by("dialogue").replaceChildren(...all.map((one) => {
      const item = document.createElement("li");
      item.className = one.user ? "user" : "";
      item.textContent = one.shown ?? one.text;
      return item;
    }));
    talk.text.placeholder = all.length ? "Your answer" : "What is it about?";
    sessionStorage.setItem(place, JSON.stringify(all));
  };
  show();
  by("forget").onclick = () => { all = []; show(); };
  talk.onsubmit = async (e) => {
    e.preventDefault();
    const status = talk.querySelector("output"), button = talk.querySelector("button");
    if (button.disabled) return;
    const asked = [...all, { user: true, text: talk.text.value }];
    button.disabled = true;
    status.textContent = "the agent looks at the project …";
    try {
      const answer = await post("/prompt/interview", { dir: form.dir.value, kind: form.kind.value, agent: talk.agent.value, said: JSON.stringify(asked) });
      if (!answer.ok) throw new Error(await answer.text());
      const got = await answer.json();
      const shown = got.prompt ? `${got.note ?? ""}\n\nThe form is filled in. What should be changed?` : `${got.note ?? ""}\n\n${got.question}`;
      all = [...asked, { user: false, text: got.said, shown: shown.trim() }];
      talk.text.value = "";
      if (got.prompt) {
        for (const field of chosen().querySelectorAll("textarea")) {
          field.value = field.name === "lead" ? got.form.lead : got.form.parts[field.name.slice("part ".length)] ?? "";
        }
        preview();
      }
      show();
      status.textContent = "";
    } catch (err) {
      status.textContent = err instanceof TypeError ? "codeloops ui does not answer." : err.message;
    }
    button.disabled = false;
  };
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
  const stops = () => [...document.querySelectorAll("a.row, main > section[id], details.file")];
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
