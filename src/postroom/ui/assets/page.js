// Pages work without this. It shows how long ago things were, copies, and loads what takes its time on its own.

const STEPS = [[60, "second"], [60, "minute"], [24, "hour"], [30.4, "day"], [12, "month"], [Infinity, "year"]];
const words = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "auto" });

function ago(then) {
  let amount = (then - Date.now()) / 1000;
  for (const [size, unit] of STEPS) {
    if (Math.abs(amount) < size) return words.format(Math.round(amount), unit);
    amount /= size;
  }
}

customElements.define("relative-time", class extends HTMLElement {
  connectedCallback() {
    const time = this.querySelector("time");
    const then = time && Date.parse(time.dateTime);
    if (!then) return;
    time.title = new Date(then).toLocaleString();
    time.textContent = ago(then);
  }
});

customElements.define("copy-button", class extends HTMLElement {
  connectedCallback() {
    const button = this.querySelector("button");
    if (!button || !navigator.clipboard) return;
    const name = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.text ?? this.parentElement.querySelector("pre").textContent);
      button.textContent = this.dataset.copied;
      setTimeout(() => { button.textContent = name; }, 1500);
    });
  }
});

// A part of a page that is made by itself: the link in it leads to the same for those without scripts.
customElements.define("load-part", class extends HTMLElement {
  connectedCallback() {
    if (this.dataset.src) this.load(this.dataset.src);
    this.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-part]");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.load(link.href);
    });
    this.addEventListener("submit", (event) => {
      const form = event.target;
      if (form.method !== "get") return;
      event.preventDefault();
      this.load(`${form.action}?${new URLSearchParams(new FormData(form))}`);
    });
    this.addEventListener("change", (event) => {
      if (event.target.matches("select")) event.target.form?.requestSubmit();
    });
  }

  async load(address) {
    const url = new URL(address, location.href);
    url.searchParams.set("part", "1");
    this.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(url, { headers: { accept: "text/html" } });
      show(this, await answer.text());
    } catch (error) {
      this.textContent = String(error);
    }
    this.removeAttribute("aria-busy");
  }
});

// The content of a page, or of a part of one, in place of what an element has.
export function show(element, html) {
  const made = new DOMParser().parseFromString(html, "text/html");
  const main = made.querySelector("main") ?? made.body;
  element.replaceChildren(...[...main.childNodes].map((node) => document.adoptNode(node)));
}

document.addEventListener("keydown", (event) => {
  const field = document.querySelector("[data-search]");
  const writes = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || writes || !field || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  field.focus();
  field.select();
});

// Where the bar on top does not fit, the page that one is on shows in it.
const bar = document.querySelector(".top nav");
const current = bar?.querySelector("[aria-current]");
if (current) bar.scrollLeft = current.offsetLeft - bar.offsetLeft - 24;

// Search as one types, on the page of results; elsewhere Enter leads there.
const results = document.getElementById("results");
const field = document.querySelector("[data-search]");
if (results && field) {
  let waiting, asked = field.value;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      if (field.value === asked) return;
      asked = field.value;
      const url = new URL(location.href);
      url.search = new URLSearchParams({ q: asked });
      const answer = await fetch(url, { headers: { accept: "text/html" } });
      const text = await answer.text();
      if (field.value !== asked) return;
      const found = new DOMParser().parseFromString(text, "text/html").getElementById("results");
      if (found) results.replaceChildren(...document.adoptNode(found).childNodes);
      history.replaceState(null, "", url);
    }, 120);
  });
}

// Forms that try something: sent without leaving the page, with what a session of a browser needs for it.
async function sessionToken() {
  const answer = await fetch(`${document.body.dataset.api}/-/session`, { headers: { accept: "application/json" } });
  return answer.ok ? (await answer.json()).csrf : undefined;
}

customElements.define("send-form", class extends HTMLElement {
  connectedCallback() {
    this.addEventListener("submit", async (event) => {
      event.preventDefault();
      const form = event.target;
      const main = document.querySelector("main");
      main.setAttribute("aria-busy", "true");
      const headers = { accept: "text/html", "content-type": "application/x-www-form-urlencoded" };
      const token = await sessionToken();
      if (token) headers["X-CSRF-Token"] = token;
      const body = new URLSearchParams(new FormData(form));
      const answer = await fetch(form.action, { method: "POST", headers, body });
      show(main, await answer.text());
      main.removeAttribute("aria-busy");
      (document.getElementById("outcome") ?? main).scrollIntoView({ block: "nearest" });
    });
    for (const area of this.querySelectorAll("[data-drop]")) {
      area.addEventListener("dragover", (event) => event.preventDefault());
      area.addEventListener("drop", async (event) => {
        const [file] = event.dataTransfer.files;
        if (!file) return;
        event.preventDefault();
        area.value = await file.text();
      });
    }
  }
});

// The log as it grows: the stream says that there is something new, and the page is read again.
customElements.define("live-changes", class extends HTMLElement {
  connectedCallback() {
    if (!this.dataset.src) return;
    const source = new EventSource(this.dataset.src);
    this.source = source;
    let waiting;
    source.onopen = () => { this.querySelector(".live").textContent = this.dataset.on; };
    source.onmessage = () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.renew(), 150);
    };
    addEventListener("pagehide", () => source.close(), { once: true });
  }

  disconnectedCallback() { this.source?.close(); }

  async renew() {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    const made = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".log");
    const log = this.querySelector(".log");
    if (!made || log.contains(document.activeElement)) return;
    const known = new Set([...log.querySelectorAll("li[id]")].map((one) => one.id));
    for (const one of made.querySelectorAll("li[id]")) one.classList.toggle("fresh", !known.has(one.id));
    log.replaceWith(document.adoptNode(made));
  }
});

customElements.define("sign-out", class extends HTMLElement {
  connectedCallback() {
    const button = this.querySelector("button");
    button.hidden = false;
    button.addEventListener("click", async () => {
      const token = await sessionToken();
      await fetch(`${document.body.dataset.api}/-/logout`, { method: "POST", headers: { "X-CSRF-Token": token ?? "" } });
      location.reload();
    });
  }
});

// Requests of the API that read, asked from its page.
customElements.define("try-request", class extends HTMLElement {
  connectedCallback() {
    this.addEventListener("submit", async (event) => {
      event.preventDefault();
      let path = this.dataset.path;
      const query = new URLSearchParams();
      for (const input of this.querySelectorAll("input")) {
        if (input.dataset.in === "path") path = path.replace(`{${input.name}}`, encodeURIComponent(input.value || "-"));
        else if (input.value) query.append(input.name, input.value);
      }
      const url = document.body.dataset.api + path + (query.size ? `?${query}` : "");
      const answer = await fetch(url, { headers: { accept: "application/json" } });
      let text = await answer.text();
      try { text = JSON.stringify(JSON.parse(text), null, 2); } catch { /* no JSON: shown as it is */ }
      const head = document.createElement("p");
      head.textContent = `${answer.status} ${answer.statusText} — ${url}`;
      const pre = document.createElement("pre");
      pre.tabIndex = 0;
      pre.textContent = text.slice(0, 100_000);
      const box = document.createElement("div");
      box.className = "snippet";
      box.append(pre);
      this.querySelector("[aria-live]").replaceChildren(head, box);
    });
  }
});

// A page about work that goes on: looked at again until it is done.
customElements.define("renew-page", class extends HTMLElement {
  connectedCallback() {
    if (this.dataset.every) this.waiting = setTimeout(() => this.renew(), Number(this.dataset.every));
  }

  disconnectedCallback() { clearTimeout(this.waiting); }

  async renew() {
    const answer = await fetch(this.dataset.src, { headers: { accept: "text/html" } });
    const made = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("renew-page");
    if (made && this.isConnected) this.replaceWith(document.adoptNode(made));
  }
});

// The graph: what leads to the node that one points at, and what it leads to, stands out.
customElements.define("catalog-graph", class extends HTMLElement {
  connectedCallback() {
    const svg = this.querySelector("svg");
    this.querySelector(".focus")?.scrollIntoView({ block: "nearest", inline: "center" });
    const edges = [...svg.querySelectorAll(".edge")];
    const light = (event) => {
      const node = event.target.closest?.("[data-node]")?.dataset.node;
      svg.classList.toggle("lit", Boolean(node));
      if (!node) return;
      const reached = (from, to) => {
        const found = new Set([node]);
        for (const one of found) for (const edge of edges) if (edge.dataset[from] === one) found.add(edge.dataset[to]);
        return found;
      };
      const ways = [reached("from", "to"), reached("to", "from")];
      for (const edge of edges) {
        edge.classList.toggle("on", ways.some((way) => way.has(edge.dataset.from) && way.has(edge.dataset.to)));
      }
      for (const one of svg.querySelectorAll("[data-node]")) one.classList.toggle("on", ways.some((way) => way.has(one.dataset.node)));
    };
    for (const name of ["pointerover", "focusin"]) svg.addEventListener(name, light);
    for (const name of ["pointerleave", "focusout"]) svg.addEventListener(name, () => svg.classList.remove("lit"));
  }
});
