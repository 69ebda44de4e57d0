"use strict";
(() => {
  const list = document.getElementById("rows");
  const rows = Array.from(list.children);
  const find = document.getElementById("find");
  const metric = document.getElementById("metric");
  const only = document.getElementById("only");
  const shown = document.getElementById("shown");
  const score = (row, key) => {
    const text = row.dataset["m" + key];
    return text === undefined || text === "" ? -1e9 : Number(text);
  };
  const update = () => {
    const wanted = find.value.toLowerCase();
    let count = 0;
    for (const row of rows) {
      const fits = (!wanted || row.textContent.toLowerCase().includes(wanted))
        && (only.value === "all" || row.dataset.kind === only.value);
      row.hidden = !fits;
      count += fits ? 1 : 0;
    }
    const key = metric.value;
    const order = key === "" ? rows : rows.slice().sort((a, b) => score(a, key) - score(b, key));
    list.append(...order);
    shown.textContent = count + " of " + rows.length + " rows";
  };
  for (const field of [find, metric, only]) field.addEventListener("input", update);
  document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  update();
})();
