"use strict";
(() => {
  const said = document.getElementById("said");
  const dialog = document.getElementById("keys");
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));

  // ------------------------------------------------------------------ keys
  const items = () => all("[data-item]").filter((item) => item.offsetParent !== null);
  const target = (item) => item.querySelector("th a, a, summary, button") || item;
  const move = (step) => {
    const found = items();
    if (!found.length) return false;
    const at = found.findIndex((item) => item.contains(document.activeElement));
    const next = at < 0 ? (step > 0 ? 0 : found.length - 1) : at + step;
    if (next < 0 || next >= found.length) return true;
    target(found[next]).focus();
    found[next].scrollIntoView({ block: "nearest" });
    return true;
  };
  const press = (key) => {
    const found = all("[data-key]").find((one) => one.dataset.key === key);
    if (!found) return false;
    if (found.matches("input[type=search], textarea")) found.focus();
    else found.click();
    return true;
  };
  let first = "";
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const typing = event.target.matches("input:not([type=radio]):not([type=checkbox]), textarea, select");
    if (typing) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (dialog.open) return;
    const key = first ? first + " " + event.key : event.key;
    first = "";
    let done = press(key);
    if (!done && (key === "j" || key === "k")) done = move(key === "j" ? 1 : -1);
    if (!done && key === "g") { first = "g"; done = true; setTimeout(() => { first = ""; }, 1500); }
    if (done) event.preventDefault();
  });
  document.getElementById("open-keys").addEventListener("click", (event) => {
    event.preventDefault();
    dialog.showModal();
  });

  // ------------------------------------------------------------------ fields that others fill
  for (const button of all("[data-fill]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const field = document.getElementById(button.dataset.fill);
      field.value = document.getElementById(button.dataset.from).textContent;
      field.focus();
    });
  }

  // ------------------------------------------------------------------ what grows
  const main = document.querySelector("main[data-live]");
  const busy = () => {
    const at = document.activeElement;
    return document.hidden || (at && at !== document.body && main.contains(at));
  };
  const refresh = async () => {
    if (busy()) return true;
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok || answer.redirected) throw new Error(answer.status);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("main");
    const open = all("details", main).map((one) => one.open);
    main.replaceChildren(...Array.from(fresh.childNodes, (node) => document.importNode(node, true)));
    all("details", main).forEach((one, at) => { one.open = open[at] || false; });
    said.textContent = "";
    if (fresh.dataset.live === undefined) delete main.dataset.live;
    return fresh.dataset.live !== undefined;
  };
  const later = (seconds) => setTimeout(async () => {
    let goes = true;
    try {
      goes = await refresh();
    } catch {
      said.textContent = "The server does not answer; it is asked again.";
    }
    if (goes) later(Math.min(seconds * 1.2, 10));
  }, seconds * 1000);
  if (main) later(Number(main.dataset.live));
})();
