// Where an encoder looked while it read one source beside another: a heat map for each round, linked with the map above them.
import { full, make } from "./elements.js";
import { GAP, cellAt, fillCells, weightsOf, writeColumnLabel, writeRowLabel, writeText } from "./grid.js";

export class InnerLook {
  constructor(root, map, data) {
    Object.assign(this, { root, map, data, head: -1, row: -1, column: -1, round: 0, leading: false, pointing: false });
    this.controls = make(root, "div", { class: "controls" });
    root.querySelector(".rounds").before(this.controls);
    this.draw();
    map.root.addEventListener("seqloom-point", () => this.follow());
    map.root.addEventListener("seqloom-choose", () => this.follow());
    map.root.addEventListener("seqloom-shade", () => { if (this.pointing) this.shade(); });
  }

  draw() {
    this.drawControls();
    const rounds = this.root.querySelector(".rounds");
    rounds.replaceChildren();
    this.weights = this.data.rounds.map((heads) => weightsOf(heads, this.head, this.map.data.scale));
    this.panels = this.weights.map((_, round) => this.drawRound(rounds, round));
  }

  drawControls() {
    const heads = this.data.rounds[0].length, options = [["mean", -1], ...Array.from({ length: heads }, (_, head) => [String(head + 1), head])];
    this.controls.replaceChildren();
    if (heads < 2) return;
    const group = make(this.controls, "div", { class: "choice", role: "group", "aria-label": "head" });
    make(group, "span", {}, "head");
    for (const [name, head] of options) {
      const button = make(group, "button", { type: "button", "aria-pressed": head === this.head }, name);
      button.addEventListener("click", () => {
        this.head = head;
        this.draw();
        this.controls.querySelectorAll("button")[head + 1].focus();
      });
    }
  }

  drawRound(parent, round) {
    const { layout, rows, columns, captions, down } = this.data, room = make(parent, "div", { class: "round" });
    const scroll = make(room, "div", { class: "scroll" });
    const svg = make(scroll, "svg", {
      class: "sl", width: layout.width, height: layout.height, viewBox: `0 0 ${layout.width} ${layout.height}`,
      tabindex: 0, role: "application", "aria-label": "What was looked at while reading. The arrow keys move from cell to cell.",
    });
    const rowTexts = rows.map((label, index) => writeRowLabel(svg, label, index, layout));
    const columnTexts = columns.map((label, index) => writeColumnLabel(svg, label, index, layout));
    fillCells(svg, this.weights[round], rows.length, columns.length, layout, this.map.data.levels);
    writeText(svg, layout.left, 11, captions[round], "quiet", 11, "start");
    writeText(svg, layout.left - GAP, layout.top - GAP, down, "quiet", 11, "end");
    const panel = { svg, scroll, rowTexts, columnTexts, marks: make(svg, "g"), tip: make(room, "div", { class: "tip", role: "status" }) };
    svg.addEventListener("pointermove", (event) => this.point(round, ...cellAt(event, svg, rows.length, columns.length, layout)));
    for (const kind of ["pointerleave", "blur"]) svg.addEventListener(kind, () => this.point(round, -1, -1));
    svg.addEventListener("keydown", (event) => this.moveByKey(event, round));
    return panel;
  }

  moveByKey(event, round) {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const { rows, columns } = this.data, within = (value, count) => Math.min(Math.max(value, 0), count - 1);
    this.point(round, within(this.row + step[0], rows.length), within(this.column + step[1], columns.length));
  }

  // Pointing here points at the same word in the map above, and shades the running texts.
  point(round, row, column) {
    Object.assign(this, { round, row, column, pointing: row >= 0 || column >= 0 });
    const place = row - this.data.first, { map } = this;
    this.leading = true;
    if (!this.pointing) map.rest();
    else map.point(-1, this.isShown && place >= 0 && place < map.map.columns.length ? place : -1);
    this.leading = false;
    this.mark();
  }

  // Whether the map above shows attention over the source that was read.
  get isShown() { return this.map.data.sources[this.map.choice.source] === this.data.source; }

  // A word that is pointed at in the map above is marked here.
  follow() {
    if (this.leading) return;
    const { column } = this.map;
    Object.assign(this, { row: this.isShown && column >= 0 ? column + this.data.first : -1, column: -1, pointing: false });
    this.mark();
  }

  mark() {
    const { left, top, cell } = this.data.layout, { rows, columns } = this.data;
    this.panels.forEach(({ marks, rowTexts, columnTexts, tip, scroll }, round) => {
      marks.replaceChildren();
      tip.replaceChildren();
      const frame = (kind, x, y, width, height) => make(marks, "rect", { class: kind, x, y, width, height });
      if (this.row >= 0) {
        frame("ink band", 0, top + this.row * cell, left - 2, cell);
        frame("guide", left, top + this.row * cell, columns.length * cell, cell);
      }
      if (this.column >= 0) frame("guide", left + this.column * cell, top, cell, rows.length * cell);
      rowTexts.forEach((one, index) => one.classList.toggle("bold", index === this.row));
      columnTexts.forEach((one, index) => one.classList.toggle("bold", index === this.column));
      if (this.row < 0 || this.column < 0) return;
      frame("cursor", left + this.column * cell, top + this.row * cell, cell, cell);
      if (round === this.round) this.drawTip(tip, scroll);
    });
  }

  drawTip(tip, scroll) {
    const { left, top, cell } = this.data.layout, { rows, columns } = this.data;
    make(tip, "bdi", {}, full(rows[this.row]));
    tip.append(" \u2190 ");
    make(tip, "bdi", {}, full(columns[this.column]));
    make(tip, "b", {}, this.weights[this.round][this.row * columns.length + this.column].toFixed(3));
    const x = left + (this.column + 1) * cell + 8 - scroll.scrollLeft;
    const room = this.root.getBoundingClientRect().right - scroll.getBoundingClientRect().left - tip.offsetWidth;
    tip.style.left = `${Math.max(Math.min(x, room), 0)}px`;
    tip.style.top = `${top + (this.row + 1) * cell + 6}px`;
  }

  // Behind the running texts: what the word that is pointed at found, or which words found it.
  shade() {
    const { row_segments: from, column_segments: to, columns } = this.data, weights = this.weights[this.round];
    const alongRow = this.row >= 0, segments = alongRow ? to : from, here = alongRow ? from : to, place = alongRow ? this.row : this.column;
    const weight = (one) => (alongRow ? weights[this.row * columns.length + one] : weights[one * columns.length + this.column]);
    this.map.root.querySelectorAll(".shadeable.source").forEach((shadeable) => {
      const found = segments[shadeable.dataset.name] || [], own = here[shadeable.dataset.name] || [];
      const strength = (symbols) => 0.75 * Math.min(symbols.reduce((sum, one) => sum + weight(one), 0), 1);
      this.map.paint(shadeable, found, strength, () => false);
      this.map.underlineUnknown(shadeable);
      this.map.frame(shadeable, own.filter(([, , symbols]) => symbols.includes(place)));
    });
  }
}
