"use strict";
(() => {
  const at = (name) => document.getElementById(name);
  const root = document.documentElement;

  // Colours: the system's, until the reader chooses; kept where the browser lets a file keep things.
  const themes = ["system", "light", "dark"];
  const kept = {
    get() { try { return localStorage.getItem("trajgrade-theme"); } catch { return null; } },
    set(value) { try { localStorage.setItem("trajgrade-theme", value); } catch { /* kept nowhere */ } },
  };
  let theme = 0;
  const paint = (index) => {
    theme = Math.max(0, index);
    if (theme) root.dataset.theme = themes[theme]; else delete root.dataset.theme;
    at("theme").textContent = "Colours: " + themes[theme];
  };
  at("theme").addEventListener("click", () => {
    paint((theme + 1) % themes.length);
    kept.set(themes[theme]);
  });
  at("theme").hidden = false;
  paint(themes.indexOf(kept.get()));

  // Rows: found, chosen and sorted together, and leafed through by the hundred.
  const PAGE = 100;
  const list = at("rows");
  const rows = Array.from(list.children);
  const texts = new Map();
  const text = (row) => {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  };
  let fitting = rows;
  let page = 0;
  const sorted = () => {
    const [key, way] = at("metric").value.split(" ");
    if (!key) return rows;
    const score = (row) => row.dataset["m" + key];
    const sign = way === "down" ? -1 : 1;
    return rows.slice().sort((a, b) => {
      const [one, other] = [score(a), score(b)];
      if (one === undefined || other === undefined) return (one === undefined) - (other === undefined);
      return sign * (Number(one) - Number(other));
    });
  };
  const turn = (to) => {
    const pages = Math.max(1, Math.ceil(fitting.length / PAGE));
    page = Math.min(Math.max(0, to), pages - 1);
    fitting.forEach((row, n) => row.classList.toggle("off", Math.floor(n / PAGE) !== page));
    at("pages").hidden = pages === 1;
    at("page").textContent = "page " + (page + 1) + " of " + pages;
    at("before").disabled = page === 0;
    at("after").disabled = page === pages - 1;
  };
  const order = () => { list.append(...sorted()); choose(); };
  const choose = () => {
    const wanted = at("find").value.toLowerCase();
    const kind = at("only").value;
    const fits = (row) => (kind === "all" || row.dataset.kind === kind)
      && (!wanted || text(row).includes(wanted));
    for (const row of rows) row.hidden = !fits(row);
    fitting = Array.from(list.children).filter((row) => !row.hidden);
    at("shown").textContent = fitting.length + " of " + rows.length + " rows";
    turn(0);
  };
  let waiting = 0;
  at("find").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(choose, 120); });
  at("only").addEventListener("input", choose);
  at("metric").addEventListener("input", order);
  at("before").addEventListener("click", () => turn(page - 1));
  at("after").addEventListener("click", () => turn(page + 1));
  document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  choose();
})();
