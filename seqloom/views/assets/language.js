// Adds pointing and ordering to shaded texts. Text from models is only ever written as text, never as markup.
import { make } from "./elements.js";

const spoken = (value) => (value >= 0.001 || value === 0 ? value.toFixed(3) : value.toExponential(1).replace("-", "\u2212"));

export class ShadedText {
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.runs = [...root.querySelectorAll(".shaded")];
    this.tip = make(root, "div", { class: "tip", role: "status", "aria-live": "polite" });
    this.runs.forEach((run, line) => this.listen(run, this.data.lines[line]));
    root.querySelectorAll("button[data-order]").forEach((button) => button.addEventListener("click", () => this.order(button)));
    document.addEventListener("pointerdown", (event) => { if (!event.target.closest(".shaded")) this.leave(); });
  }

  listen(run, line) {
    run.tabIndex = 0;
    run.setAttribute("role", "application");
    run.setAttribute("aria-label", "Text. The left and right arrow keys move from symbol to symbol.");
    run.addEventListener("pointerover", (event) => {
      const element = event.target.closest("i[data-s]");
      if (element) this.point(element, line);
    });
    run.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") this.leave(); });
    run.addEventListener("blur", () => this.leave());
    run.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === "Escape") this.leave();
      if (!step) return;
      event.preventDefault();
      const places = [...run.querySelectorAll("i[data-s]")], now = places.indexOf(this.here);
      this.point(places[Math.min(Math.max(now + step, 0), places.length - 1)], line);
    });
  }

  point(element, line) {
    if (this.here) this.here.classList.remove("here");
    this.here = element;
    element.classList.add("here");
    this.tip.replaceChildren();
    for (const index of element.dataset.s.split(",").map(Number)) this.describe(line, index);
    this.place(element);
  }

  leave() {
    if (this.here) this.here.classList.remove("here");
    this.here = undefined;
    this.tip.replaceChildren();
  }

  describe(line, index) {
    const { symbols } = this.data;
    const what = make(this.tip, "div", { class: "what" });
    make(what, "bdi", {}, symbols[line.s[index]]);
    what.append(`p ${spoken(line.p[index])} \u00b7 rank ${line.r[index]} \u00b7 entropy ${line.e[index].toFixed(2)} bits`);
    for (const [symbol, probability] of line.a[index]) {
      const other = make(this.tip, "div", { class: symbol === line.s[index] ? "other own" : "other" });
      make(other, "bdi", {}, symbols[symbol]);
      make(other, "i", { style: `--p:${probability}` });
      make(other, "span", {}, spoken(probability));
    }
  }

  place(element) {
    const frame = this.root.getBoundingClientRect(), box = element.getClientRects()[0] || element.getBoundingClientRect();
    const left = Math.min(box.left - frame.left, frame.width - this.tip.offsetWidth);
    this.tip.style.left = `${Math.max(left, 0)}px`;
    this.tip.style.top = `${box.bottom - frame.top + 8}px`;
  }

  order(button) {
    const key = button.dataset.order, list = this.root.querySelector(".lines"), sign = key === "surprise" ? -1 : 1;
    const rows = [...list.children].sort((a, b) => sign * (Number(a.dataset[key]) - Number(b.dataset[key])));
    list.append(...rows);
    this.root.querySelectorAll("button[data-order]").forEach((one) => one.setAttribute("aria-pressed", String(one === button)));
  }
}
