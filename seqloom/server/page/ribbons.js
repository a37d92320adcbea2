// Ribbons between the source and the output of a map: both are running text, so that every script is shaped as it should be.
import { clamp, full, make } from "/assets/elements.js";

const LEAST = 0.04, MOST_DRAWN = 1500, WIDEST = 11;

export class Ribbons {
  constructor(map) {
    this.map = map;
    this.texts = map.root.querySelector(".texts");
    this.texts.classList.add("ribboned");
    this.marks = new Map();
    this.svg = make(this.texts, "svg", { class: "ribbons sl", "aria-hidden": true });
    map.root.addEventListener("seqloom-point", () => this.emphasise());
    map.root.addEventListener("seqloom-choose", () => this.draw());
    this.listenToSource();
    new ResizeObserver(() => this.draw()).observe(this.texts);
    if (document.fonts) document.fonts.ready.then(() => this.draw());
    this.draw();
  }

  get index() { return this.map.choice.source; }
  get source() {
    const name = this.map.data.sources[this.index];
    return [...this.texts.querySelectorAll(".shadeable.source")].find((one) => one.dataset.name === name);
  }

  // Where each symbol stands: a box in the running text; marks have chips of their own.
  places(shadeable, segments, labels) {
    const found = new Array(labels.length).fill(null);
    for (const [start, end, symbols] of segments) {
      const boxes = this.map.boxes(shadeable.querySelector(".run"), start, end);
      symbols.forEach((symbol, part) => { if (boxes.length) found[symbol] = { box: boxes[part % boxes.length], part, of: symbols.length }; });
    }
    const chips = [...shadeable.parentElement.querySelectorAll(".feature, .mark")];
    labels.forEach((label, symbol) => {
      if (found[symbol]) return;
      const chip = chips.find((one) => [full(label), full(label).replace(/^<(.*)>$/, "$1")].includes(one.textContent)) ?? this.chip(shadeable, label);
      found[symbol] = { box: chip.getBoundingClientRect(), part: 0, of: 1 };
    });
    return found;
  }

  chip(shadeable, label) {
    const chip = make(shadeable.parentElement, "small", { class: "mark" }, full(label));
    shadeable.after(chip);
    return chip;
  }

  draw() {
    this.svg.replaceChildren();
    this.drawn = [];
    const { source } = this, map = this.map.map;
    // Without places in a text, as those of a sound, there is nothing to join.
    if (!source || !map.segments.length) return;
    const { rows, output } = this.map.candidate, weights = this.map.weights[this.index], width = map.columns.length;
    const above = this.places(source, map.segments, map.columns), below = this.places(this.map.output, output, rows);
    const frame = this.texts.getBoundingClientRect();
    this.svg.setAttribute("width", frame.width);
    this.svg.setAttribute("height", frame.height);
    const strongest = weights.map((weight, cell) => [weight, cell]).filter(([weight]) => weight >= LEAST).sort((one, other) => other[0] - one[0]).slice(0, MOST_DRAWN);
    for (const [weight, cell] of strongest.reverse()) {
      const row = Math.floor(cell / width), column = cell % width;
      if (above[column] && below[row]) this.drawn.push({ row, column, weight, path: this.ribbon(above[column], below[row], weight, frame) });
    }
    this.emphasise();
  }

  ribbon(from, to, weight, frame) {
    const middle = ({ box, part, of }) => box.left - frame.left + (box.width * (part + 0.5)) / of;
    const [x1, x2] = [middle(from), middle(to)], [y1, y2] = [from.box.bottom - frame.top, to.box.top - frame.top], bend = (y2 - y1) * 0.5;
    const d = `M${x1.toFixed(1)} ${y1.toFixed(1)}C${x1.toFixed(1)} ${(y1 + bend).toFixed(1)} ${x2.toFixed(1)} ${(y2 - bend).toFixed(1)} ${x2.toFixed(1)} ${y2.toFixed(1)}`;
    return make(this.svg, "path", { class: "line-a", d, "stroke-width": clamp(weight * WIDEST, 1, WIDEST) });
  }

  // A row, a column, or all of them.
  emphasise() {
    const { row, column } = this.map;
    for (const one of this.drawn ?? []) {
      const wanted = (row < 0 || one.row === row) && (column < 0 || one.column === column || row >= 0);
      one.path.style.opacity = wanted ? 0.14 + 0.6 * one.weight : 0.03;
    }
  }

  // Pointing at the source shows which symbols looked there.
  listenToSource() {
    this.texts.querySelectorAll(".shadeable.source").forEach((shadeable) => {
      shadeable.addEventListener("pointermove", (event) => {
        if (shadeable !== this.source) return;
        this.map.point(-1, this.columnAt(shadeable, event));
      });
      shadeable.addEventListener("pointerleave", () => this.map.rest());
    });
  }

  columnAt(shadeable, { clientX: x, clientY: y }) {
    for (const [start, end, symbols] of this.map.map.segments)
      for (const box of this.map.boxes(shadeable.querySelector(".run"), start, end))
        if (x >= box.left && x < box.right && y >= box.top && y < box.bottom)
          return symbols[clamp(Math.floor(((x - box.left) / box.width) * symbols.length), 0, symbols.length - 1)];
    return -1;
  }
}
