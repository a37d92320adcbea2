// Drawing attention: a distribution over the source that a person draws, and that the model has to look with.
import { clamp, make } from "/assets/elements.js";
import { button, visible } from "./growing.js";

const BRUSH = 1;

const normalised = (weights) => {
  const sum = weights.reduce((one, other) => one + other, 0);
  return sum > 0 ? weights.map((one) => one / sum) : weights.map(() => 1 / weights.length);
};
// What is sent: rounded, and still one in all.
export function rounded(weights) {
  const whole = normalised(weights).map((one) => Math.round(one * 1e5) / 1e5);
  const most = whole.indexOf(Math.max(...whole)), rest = 1 - whole.reduce((one, other) => one + other, 0);
  whole[most] = Math.round((whole[most] + rest) * 1e5) / 1e5;
  return whole;
}

// A row's weights moved sideways; what would leave the source stays at its edge.
export function shifted(weights, by) {
  const moved = weights.map(() => 0);
  weights.forEach((weight, place) => { moved[clamp(place + by, 0, weights.length - 1)] += weight; });
  return moved;
}

export class AttentionEditor {
  // attention: of the service, for one source. picture: its address, for a grid.
  constructor(parent, { attention, row, symbol, weights, done }) {
    this.weights = normalised([...weights]);
    this.done = done;
    this.grid = attention.layout?.kind === "grid" ? attention.layout : null;
    this.root = make(parent, "div", { class: this.grid ? "editor painted" : "editor" });
    const line = make(this.root, "p", { class: "hint" }, `Where should the model look while it writes symbol ${row + 1}, `);
    make(line, "bdi", { class: "symbol" }, visible(symbol));
    line.append(this.grid ? "? Paint over the picture." : "? Drag the bars, or draw across them; the arrow keys work, too.");
    this.area = make(this.root, "div", { class: "bars" });
    this.area.style.setProperty("--count", this.grid ? this.grid.columns : weights.length);
    if (this.grid && attention.picture) this.area.style.backgroundImage = `url(${attention.picture})`;
    if (this.grid) this.area.style.aspectRatio = `${this.grid.columns} / ${this.grid.rows}`;
    this.bars = this.weights.map((_, place) => this.drawBar(attention, place));
    this.listen();
    const tools = make(this.root, "div", { class: "row" });
    if (!this.grid) {
      button(tools, "\u2190 move", () => this.change(shifted(this.weights, -1)));
      button(tools, "move \u2192", () => this.change(shifted(this.weights, 1)));
    } else button(tools, "clear", () => { this.weights = this.weights.map(() => 0); this.show(); });
    button(tools, "look everywhere", () => this.change(this.weights.map(() => 1)));
    this.show();
  }

  drawBar(attention, place) {
    const name = visible(attention.symbols[place] ?? "") || `place ${place + 1}`;
    const bar = make(this.area, "div", { class: "slot", role: "slider", tabindex: 0, "aria-valuemin": 0, "aria-valuemax": 1, "aria-label": `weight of ${name}`, "data-place": place });
    make(bar, "i");
    if (!this.grid) make(bar, "bdi", {}, name);
    bar.addEventListener("keydown", (event) => {
      const step = { ArrowUp: 0.1, ArrowDown: -0.1, ArrowRight: "next", ArrowLeft: "before" }[event.key];
      if (!step) return;
      event.preventDefault();
      if (typeof step === "string") return void this.bars[clamp(place + (step === "next" ? 1 : -1), 0, this.bars.length - 1)].focus();
      this.set(place, clamp(this.weights[place] + step, 0, 1));
      this.finish();
    });
    return bar;
  }

  // While one bar is set, the others share what is left as they did before.
  set(place, value) {
    const rest = 1 - this.weights[place];
    this.weights = this.weights.map((one, other) => (other === place ? value : rest > 1e-9 ? (one / rest) * (1 - value) : (1 - value) / Math.max(this.weights.length - 1, 1)));
    this.show();
  }

  listen() {
    let drawing = false;
    const slotAt = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest?.(".slot");
    const paint = (event) => {
      const slot = slotAt(event);
      if (!slot || !this.area.contains(slot)) return;
      const place = Number(slot.dataset.place);
      if (this.grid) this.weights[place] = event.altKey ? 0 : BRUSH;
      else {
        const box = slot.querySelector("i").getBoundingClientRect();
        this.drawnAt(place, clamp((box.bottom - event.clientY) / box.height, 0, 1));
      }
      this.show();
    };
    this.area.addEventListener("pointerdown", (event) => {
      if (this.grid && !event.altKey) this.weights = this.weights.map(() => 0);
      drawing = true;
      event.preventDefault();
      paint(event);
    });
    this.area.addEventListener("pointermove", (event) => { if (drawing) paint(event); });
    const end = () => { if (drawing) { drawing = false; this.finish(); } };
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  }

  drawnAt(place, value) { this.set(place, value); }

  change(weights) {
    this.weights = normalised(weights);
    this.show();
    this.finish();
  }

  show() {
    const most = this.grid ? Math.max(...this.weights, 1e-9) : 1;
    this.bars.forEach((bar, place) => {
      bar.style.setProperty("--v", this.weights[place] / most);
      bar.setAttribute("aria-valuenow", this.weights[place].toFixed(2));
    });
  }

  finish() { this.done(rounded(this.weights)); }
}
