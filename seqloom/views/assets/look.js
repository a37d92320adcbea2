// Attention over a picture: light on the large one and on a small one for each symbol, as overlays.py computes it.
import { clamp, full, isolated, make } from "./elements.js";

const LARGE = 240, SMALL = 96, SHADES = 255, PACE = 1100, MOST_WORDS = 5;

const shares = (pixels, cells, spread) => Array.from({ length: pixels }, (_, pixel) => {
  const place = ((pixel + 0.5) * cells) / pixels - 0.5;
  const reach = Array.from({ length: cells }, (__, cell) => Math.exp(-0.5 * ((place - cell) / spread) ** 2));
  const sum = reach.reduce((one, other) => one + other, 0);
  return reach.map((one) => one / sum);
});
const product = (first, second) => first.map((row) => second[0].map((_, column) => row.reduce((sum, one, k) => sum + one * second[k][column], 0)));
const turned = (table) => table[0].map((_, column) => table.map((row) => row[column]));

export class Look {
  constructor(root, owner, index) {
    this.root = root;
    this.owner = owner;
    this.index = index;
    this.veil = this.lighting.veil[3];
    this.blocks = Boolean(this.map.hard);
    this.timer = 0;
    this.strip = root.querySelector(".strip");
    this.plain = root.querySelector(".plain");
    this.view = root.querySelector(".view .picture");
    this.status = root.querySelector(".status");
    if (this.view) this.prepareView();
    this.drawTools();
    this.strip.setAttribute("aria-label", "Symbols of the output, in order. The left and right arrow keys move between them.");
    this.strip.addEventListener("pointerleave", () => owner.rest());
  }

  get lighting() { return this.owner.data.lighting; }
  get map() { return this.owner.candidate.maps[this.index]; }
  get cells() { return this.map.grid[0] * this.map.grid[1]; }

  weights(row) { return this.owner.weights[this.index].slice(row * this.cells, (row + 1) * this.cells); }

  // Light ----------------------------------------------------------------------------------------------------------
  light(canvas, row, side) {
    const [rows, columns] = this.map.grid, weights = this.weights(row);
    const finer = this.blocks ? 1 : Math.max(2, Math.ceil(side / Math.max(rows, columns)));
    let values = Array.from({ length: rows }, (_, line) => weights.slice(line * columns, (line + 1) * columns));
    if (!this.blocks) {
      const { spread } = this.lighting;
      values = product(product(shares(rows * finer, rows, spread), values), turned(shares(columns * finer, columns, spread)));
    }
    const most = Math.max(...values.map((line) => Math.max(...line)), 1e-12);
    canvas.width = columns * finer;
    canvas.height = rows * finer;
    canvas.classList.toggle("blocks", this.blocks);
    const context = canvas.getContext("2d"), image = context.createImageData(canvas.width, canvas.height);
    values.flat().forEach((value, pixel) => image.data.set(this.shades[Math.round((value / most) * SHADES)], pixel * 4));
    context.putImageData(image, 0, 0);
  }

  mixShades() {
    const { veil, glow } = this.lighting;
    this.shades = Array.from({ length: SHADES + 1 }, (_, shade) => {
      const light = shade / SHADES, dark = (1 - light) * this.veil, warm = light * glow[3], opacity = Math.max(dark + warm, 1e-6);
      return [...[0, 1, 2].map((channel) => (dark * veil[channel] + warm * glow[channel]) / opacity), opacity * 255];
    });
  }

  frames(parent, row) {
    if (row < 0) return;
    const weights = this.weights(row), half = Math.max(...weights) / 2;
    const frame = (kind, [left, top, width, height]) =>
      make(parent, "i", { class: kind, style: `left:${left * 100}%;top:${top * 100}%;width:${width * 100}%;height:${height * 100}%` });
    if (this.map.hard)
      weights.forEach((weight, cell) => { if (weight > half) frame("outline", this.box(cell)); });
    this.map.boxes[row].forEach((box) => frame("outline named", box));
  }

  box(cell) {
    const [rows, columns] = this.map.grid;
    return [(cell % columns) / columns, Math.floor(cell / columns) / rows, 1 / columns, 1 / rows];
  }

  // Tools: walking through the words, how cells are shown, how dark the rest is ------------------------------------
  drawTools() {
    const tools = this.root.querySelector(".tools");
    if (!this.view) return;
    this.player = make(tools, "button", { type: "button", class: "play" }, "\u25b6 play");
    this.player.addEventListener("click", () => this.play(!this.timer));
    const group = make(tools, "div", { class: "choice", role: "group", "aria-label": "cells" });
    for (const [name, blocks] of [["smooth", false], ["cells", true]]) {
      const button = make(group, "button", { type: "button", "aria-pressed": this.blocks === blocks }, name);
      button.addEventListener("click", () => {
        this.blocks = blocks;
        [...group.children].forEach((one) => one.setAttribute("aria-pressed", one === button));
        this.draw();
        this.show();
      });
    }
    const veil = make(tools, "label", { class: "veil" }, "veil ");
    const slider = make(veil, "input", { type: "range", min: 0, max: 100, value: this.veil * 100 });
    slider.addEventListener("input", () => {
      this.veil = slider.value / 100;
      this.draw();
      this.show();
    });
  }

  play(on) {
    clearInterval(this.timer);
    this.timer = 0;
    if (on) {
      const step = () => {
        const next = this.owner.pinned + 1;
        if (next >= this.owner.candidate.rows.length) return this.play(false) || this.owner.pinAll(-1);
        return this.owner.pinAll(next);
      };
      this.timer = setInterval(step, PACE);
      step();
    }
    this.player.textContent = this.timer ? "\u275a\u275a pause" : "\u25b6 play";
  }

  // The strip: a small picture for each symbol ---------------------------------------------------------------------
  draw() {
    this.mixShades();
    const { rows, probabilities } = this.owner.candidate;
    const focused = this.steps ? this.steps.indexOf(document.activeElement) : -1;
    this.strip.replaceChildren(...(this.plain ? [this.plain] : []));
    this.steps = rows.map((label, row) => this.drawStep(label, row, probabilities[row]));
    if (focused >= 0) this.steps[focused]?.focus();
  }

  drawStep(label, row, probability) {
    const most = Math.max(...this.weights(row)).toFixed(3);
    const button = make(make(this.strip, "li"), "button", {
      type: "button", class: "step", "aria-pressed": false,
      "aria-label": `${isolated(full(label))}: probability ${probability.toFixed(3)}, looks ${this.map.places[row]}, greatest weight ${most}`,
    });
    const picture = make(button, "span", { class: "picture" });
    this.light(make(picture, "canvas", { class: "mask" }), row, SMALL);
    this.frames(picture, row);
    make(button, "bdi", { class: label[2] === "quiet" ? "word mark" : "word" }, label[0]);
    make(button, "span", { class: "num" }, probability.toFixed(2));
    make(button, "span", { class: "share" });
    const point = () => this.timer || this.owner.point(row, -1);
    button.addEventListener("pointerenter", (event) => { if (event.pointerType !== "touch") point(); });
    button.addEventListener("focus", () => { if (button.matches(":focus-visible")) point(); });
    button.addEventListener("blur", () => this.owner.rest());
    button.addEventListener("click", () => {
      if (this.timer) this.play(false);
      this.owner.pin(this.owner.pinned === row ? -1 : row);
    });
    button.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === "Escape") this.owner.pin(-1);
      if (!step) return;
      event.preventDefault();
      this.steps[clamp(row + step, 0, this.steps.length - 1)].focus();
    });
    return button;
  }

  // The large picture: light of the chosen symbol, or a place whose readers are shown ------------------------------
  prepareView() {
    this.canvas = make(this.view, "canvas", { class: "mask" });
    this.marks = make(this.view, "span", { class: "marks" });
    this.status.setAttribute("aria-live", "polite");
    this.view.tabIndex = 0;
    this.view.setAttribute("role", "application");
    this.view.setAttribute("aria-label", `${isolated(this.root.dataset.name)}. The arrow keys choose a place; the words that looked there are named.`);
    this.view.addEventListener("click", (event) => {
      const [rows, columns] = this.map.grid, frame = this.view.getBoundingClientRect();
      const column = clamp(Math.floor(((event.clientX - frame.left) / frame.width) * columns), 0, columns - 1);
      const row = clamp(Math.floor(((event.clientY - frame.top) / frame.height) * rows), 0, rows - 1);
      const cell = row * columns + column;
      this.owner.choosePlace(this.cell === cell ? null : { look: this, cell });
    });
    this.view.addEventListener("keydown", (event) => this.moveByKey(event));
  }

  get cell() { return this.owner.place && this.owner.place.look === this ? this.owner.place.cell : -1; }

  moveByKey(event) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key === "Escape") return this.owner.choosePlace(null);
    if (!steps[event.key]) return undefined;
    event.preventDefault();
    const [rows, columns] = this.map.grid, [down, right] = steps[event.key];
    const from = this.cell < 0 ? [Math.floor(rows / 2), Math.floor(columns / 2)] : [Math.floor(this.cell / columns) + down, (this.cell % columns) + right];
    const cell = clamp(from[0], 0, rows - 1) * columns + clamp(from[1], 0, columns - 1);
    return this.owner.choosePlace({ look: this, cell });
  }

  // How much each symbol looked at the chosen place, as a share of the one that looked most.
  readers() {
    const found = this.owner.candidate.rows.map((_, row) => this.weights(row)[this.cell]);
    return { found, most: Math.max(...found, 1e-12) };
  }

  show() {
    const { row } = this.owner, placed = this.cell >= 0;
    const { found, most } = placed ? this.readers() : { found: [], most: 1 };
    this.steps.forEach((step, index) => {
      step.classList.toggle("here", index === row);
      step.setAttribute("aria-pressed", index === this.owner.pinned);
      step.style.setProperty("--share", placed ? found[index] / most : 0);
    });
    this.root.classList.toggle("placed", placed);
    if (!this.view) return;
    this.canvas.hidden = row < 0;
    if (row >= 0) this.light(this.canvas, row, LARGE);
    this.marks.replaceChildren();
    this.frames(this.marks, row);
    if (placed) {
      const [left, top, width, height] = this.box(this.cell).map((side) => `${side * 100}%`);
      make(this.marks, "i", { class: "outline place", style: `left:${left};top:${top};width:${width};height:${height}` });
    }
    this.say(row, found);
  }

  say(row, found) {
    const { rows, probabilities } = this.owner.candidate, { status } = this;
    const named = (index, value) => {
      make(status, "bdi", { class: "word" }, full(rows[index]));
      status.append(" ");
      make(status, "span", { class: "num" }, value);
      status.append(" ");
    };
    status.replaceChildren();
    if (row >= 0) {
      named(row, `probability ${probabilities[row].toFixed(3)}`);
      make(status, "span", { class: "num" }, `greatest weight ${Math.max(...this.weights(row)).toFixed(3)}`);
    } else if (found.length) {
      status.append("looked here: ");
      const order = found.map((_, index) => index).sort((one, other) => found[other] - found[one]);
      order.slice(0, MOST_WORDS).filter((index) => found[index] >= 0.0005).forEach((index) => named(index, found[index].toFixed(3)));
      if (!status.children.length) status.append("no word");
    } else status.append("Point at a word, or click a place in the picture.");
  }
}
