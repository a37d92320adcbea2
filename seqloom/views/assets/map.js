// A map that one can point at: heat maps here, looks at pictures in look.js.
import { clamp, full, isolated, make } from "./elements.js";
import { CAPTION, COVERAGE, GAP, cellAt, fillCells, weightsOf, writeColumnLabel, writeLabel, writeRowLabel, writeText } from "./grid.js";
import { Look } from "./look.js";

const MOST_OF_PAGE = 0.38, LETTER = 0.58;

const NO_MAP = { columns: [], heads: [], segments: [] };

export class HeatMap {
  constructor(root, data) {
    this.root = root;
    this.data = data;
    const pictures = [...root.querySelectorAll(".look")].map((one) => this.data.sources.indexOf(one.dataset.name));
    this.texts = this.data.candidates[0].maps.map((_, index) => index).filter((index) => !pictures.includes(index));
    this.choice = { candidate: 0, source: this.texts.length ? this.texts[0] : -1, head: -1 };
    this.row = this.column = this.pinned = -1;
    this.place = null;
    this.plot = root.querySelector(".plot");
    this.scroll = root.querySelector(".scroll");
    this.output = root.querySelector(".shadeable.output");
    if (this.plot) {
      this.pane = make(this.plot, "div", { class: "pane", "aria-hidden": true });
      this.tip = make(this.plot, "div", { class: "tip", role: "status", "aria-live": "polite" });
      this.hint = make(this.plot, "p", { class: "hint" }, "The map is wider than the page: scroll it sideways. The bars behind the labels are probabilities.");
    }
    this.buttons = [...root.querySelectorAll(".candidate")];
    this.buttons.forEach((button, index) => button.addEventListener("click", () => this.choose({ candidate: index })));
    this.listenToOutput();
    this.looks = [...root.querySelectorAll(".look")].map((one, index) => new Look(one, this, pictures[index]));
    this.choose({});
    new ResizeObserver(() => {
      if (this.plot) this.drawPane();
      this.shade();
    }).observe(root);
    if (document.fonts) document.fonts.ready.then(() => this.shade());
  }

  get candidate() { return this.data.candidates[this.choice.candidate]; }
  get map() { return this.candidate.maps[this.choice.source] || NO_MAP; }
  get numHeads() { return Math.max(...this.candidate.maps.map((map) => map.heads.length)); }

  choose(change) {
    Object.assign(this.choice, change);
    if (this.choice.head >= this.numHeads) this.choice.head = -1;
    this.pinned = -1;
    this.place = null;
    this.weights = this.candidate.maps.map((map) => this.chosenWeights(map.heads));
    this.buttons.forEach((button, index) => button.setAttribute("aria-pressed", index === this.choice.candidate));
    this.output.querySelector(".run").textContent = this.candidate.text;
    this.drawControls();
    if (this.plot) this.draw();
    this.looks.forEach((look) => look.draw());
    this.rest();
    this.root.dispatchEvent(new CustomEvent("seqloom-choose"));
  }

  // The mean for a source that has no such head.
  chosenWeights(heads) { return weightsOf(heads, this.choice.head, this.data.scale); }

  weight(row, column) { return this.weights[this.choice.source][row * this.map.columns.length + column]; }

  // Controls -------------------------------------------------------------------------------------------------------
  drawControls() {
    const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.key : null;
    const controls = this.root.querySelector(".controls");
    controls.replaceChildren();
    const { sources } = this.data, heads = this.numHeads;
    if (this.texts.length > 1) this.drawChoice(controls, "attention over", "source", this.texts.map((index) => [sources[index], index]));
    if (heads > 1) {
      const numbers = Array.from({ length: heads }, (_, index) => [String(index + 1), index]);
      this.drawChoice(controls, this.data.looks === heads ? "look" : "head", "head", [["mean", -1], ...numbers]);
    }
    if (focused) [...controls.querySelectorAll("button")].find((one) => one.dataset.key === focused)?.focus();
  }

  drawChoice(parent, caption, kind, options) {
    const group = make(parent, "div", { class: "choice", role: "group", "aria-label": caption });
    make(group, "span", {}, caption);
    for (const [name, value] of options) {
      const pressed = this.choice[kind] === value;
      const button = make(group, "button", { type: "button", "aria-pressed": pressed, "data-key": kind + value, dir: "auto" }, name);
      button.addEventListener("click", () => this.choose({ [kind]: value }));
    }
  }

  // Drawing: the same picture as svg.py makes ----------------------------------------------------------------------
  draw() {
    const { layout, columns } = this.map, { rows } = this.candidate;
    this.scroll.replaceChildren();
    const svg = make(this.scroll, "svg", {
      class: "sl", width: layout.width, height: layout.height, viewBox: `0 0 ${layout.width} ${layout.height}`,
      tabindex: 0, role: "application", "aria-label": "Attention map. The arrow keys move from cell to cell.",
    });
    this.svg = svg;
    this.rowTexts = rows.map((label, index) => writeRowLabel(svg, label, index, layout));
    this.columnTexts = columns.map((label, index) => writeColumnLabel(svg, label, index, layout));
    if (columns.length) {
      this.drawCells(svg);
      this.drawCoverage(svg);
      writeText(svg, layout.left, 11, `${isolated(this.data.sources[this.choice.source])} \u2192`, "quiet", 11, "start");
      writeText(svg, layout.left - GAP, layout.top - GAP, "output \u2193", "quiet", 11, "end");
    }
    this.drawProbabilities(svg);
    this.marks = make(svg, "g");
    this.listenToPlot(svg);
    this.drawPane();
    this.scroll.scrollLeft = 0;
    this.reveal(0);
  }

  // A map that is wider than the page keeps its row labels in view, with the probabilities as bars behind them.
  drawPane() {
    const { left, top, width, height, cell, font } = this.map.layout, { rows, probabilities } = this.candidate;
    this.pane.replaceChildren();
    this.paneTexts = [];
    this.wide = width > this.scroll.clientWidth + 1;
    this.plot.classList.toggle("overflows", this.wide);
    if (!this.wide) return;
    const room = Math.min(left, Math.max(Math.round(this.scroll.clientWidth * MOST_OF_PAGE), 56)) - 2;
    const letters = room < left - 2 ? Math.max(Math.floor((room - GAP) / (font * LETTER)), 3) : Infinity;
    const svg = make(this.pane, "svg", { class: "sl", width: room, height, viewBox: `0 0 ${room} ${height}` });
    rows.forEach((label, row) => {
      const y = top + row * cell, inset = Math.max(cell * 0.1, 1);
      make(svg, "rect", { class: "accent behind", x: 0, y: y + inset, width: Math.max(probabilities[row] * room, 1), height: cell - 2 * inset });
      const shown = [...label[0]].length > letters ? [...label[0]].slice(0, letters - 1).join("") + "\u2026" : label[0];
      this.paneTexts.push(writeLabel(svg, [shown, ...label.slice(1)], room - GAP + 2, y + cell / 2 + font * 0.35, font, "end"));
    });
    if (this.map.columns.length) writeText(svg, room - GAP + 2, top + rows.length * cell + GAP + 10, "coverage", "quiet", 11, "end");
  }

  // Scroll to where the model looked while it wrote a symbol, unless that is in view.
  reveal(row) {
    const { left, cell } = this.map.layout, columns = this.map.columns.length, view = this.scroll;
    if (!this.wide || row < 0 || !columns) return;
    const weights = this.weights[this.choice.source].slice(row * columns, (row + 1) * columns);
    const middle = left + (weights.indexOf(Math.max(...weights)) + 0.5) * cell, pane = this.pane.clientWidth;
    const hidden = middle - cell < view.scrollLeft + pane || middle + cell > view.scrollLeft + view.clientWidth;
    if (hidden) view.scrollLeft = middle - pane - (view.clientWidth - pane) / 3;
  }

  drawCells(svg) {
    fillCells(svg, this.weights[this.choice.source], this.candidate.rows.length, this.map.columns.length, this.map.layout, this.data.levels);
  }

  drawCoverage(svg) {
    const { left, top, cell, inset } = this.map.layout, rows = this.candidate.rows.length;
    const sums = this.map.columns.map((_, column) => this.candidate.rows.reduce((sum, __, row) => sum + this.weight(row, column), 0));
    const scale = (COVERAGE - 2) / Math.max(1, ...sums), y = top + rows * cell + GAP, gap = Math.max(inset, 0.5);
    writeText(svg, left - GAP, y + 10, "coverage", "quiet", 11, "end");
    sums.forEach((sum, column) => {
      const bar = make(svg, "rect", {
        class: "accent bar", x: left + column * cell + gap, y, width: cell - 2 * gap, height: Math.max(sum * scale, 0.5),
      });
      make(bar, "title", {}, `${isolated(full(this.map.columns[column]))}  coverage ${sum.toFixed(2)}`);
    });
  }

  drawProbabilities(svg) {
    const { left, top, cell, bars } = this.map.layout, x = left + this.map.columns.length * cell + GAP;
    const inset = Math.max(cell * 0.2, 1.5);
    this.candidate.probabilities.forEach((value, row) => {
      const y = top + row * cell;
      const bar = make(svg, "rect", {
        class: "accent bar", x, y: y + inset, width: Math.max(value * bars, 1), height: cell - 2 * inset,
      });
      make(bar, "title", {}, `probability ${value.toFixed(4)}`);
      if (cell >= 13) writeText(svg, x + bars + 6, y + cell / 2 + 3.5, value.toFixed(2), "quiet num", 10, "start");
    });
    writeText(svg, x, top + this.candidate.probabilities.length * cell + 18, "probability", "quiet", 11, "start");
  }

  // Pointing: a row, a column, both or neither ---------------------------------------------------------------------
  listenToPlot(svg) {
    svg.addEventListener("pointermove", (event) => {
      const behind = event.clientX < this.scroll.getBoundingClientRect().left + this.pane.clientWidth;
      const [row, column] = cellAt(event, svg, this.candidate.rows.length, this.map.columns.length, this.map.layout);
      this.point(row, behind ? -1 : column);
    });
    svg.addEventListener("pointerleave", () => this.rest());
    svg.addEventListener("blur", () => this.rest());
    svg.addEventListener("keydown", (event) => this.moveByKey(event));
  }

  moveByKey(event) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key === "Escape") return this.pin(-1);
    if (!steps[event.key]) return undefined;
    event.preventDefault();
    const [down, right] = steps[event.key], fresh = this.row < 0;
    const row = fresh ? 0 : clamp(this.row + down, 0, this.candidate.rows.length - 1);
    const columns = this.map.columns.length;
    return this.point(row, columns ? clamp(this.column < 0 ? 0 : this.column + (fresh ? 0 : right), 0, columns - 1) : -1);
  }

  listenToOutput() {
    this.output.tabIndex = 0;
    this.output.setAttribute("role", "application");
    this.output.setAttribute("aria-label", "Output. The left and right arrow keys move from symbol to symbol.");
    this.output.addEventListener("pointermove", (event) => this.point(this.rowAt(event.clientX, event.clientY), -1));
    this.output.addEventListener("pointerleave", () => this.rest());
    this.output.addEventListener("blur", () => this.rest());
    this.output.addEventListener("click", (event) => {
      const row = this.rowAt(event.clientX, event.clientY);
      if (this.looks.length) this.pin(row === this.pinned ? -1 : row);
    });
    this.output.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      this.point(clamp(this.row + step, 0, this.candidate.rows.length - 1), -1);
    });
  }

  rowAt(x, y) {
    const run = this.output.querySelector(".run");
    for (const [start, end, symbols] of this.candidate.output)
      for (const box of this.boxes(run, start, end))
        if (x >= box.left && x < box.right && y >= box.top && y < box.bottom) {
          // Several symbols in one shape: the pointer's place within it chooses among them.
          const part = clamp(Math.floor(((x - box.left) / box.width) * symbols.length), 0, symbols.length - 1);
          return symbols[part];
        }
    return -1;
  }

  point(row, column) {
    this.row = row;
    this.column = column;
    if (this.plot) {
      if (column < 0) this.reveal(row);
      this.drawMarks();
      this.drawTip();
    }
    this.drawCertainty();
    this.looks.forEach((look) => look.show());
    this.shade();
    this.root.dispatchEvent(new CustomEvent("seqloom-point"));
  }

  // What shows while nothing is pointed at: the word that was clicked, if any.
  rest() { this.point(this.place ? -1 : this.pinned, -1); }

  pin(row) {
    this.pinned = row;
    this.place = null;
    this.rest();
  }

  // Maps that stand beside each other to be compared walk in step.
  pinAll(row) {
    const beside = this.root.closest(".beside");
    const maps = beside ? [...beside.querySelectorAll(".seqloom-map")].map((root) => root.heatMap) : [this];
    maps.forEach((map) => map.pin(Math.min(row, map.candidate.rows.length - 1)));
  }

  choosePlace(place) {
    this.place = place;
    this.pinned = -1;
    this.rest();
  }

  drawCertainty() {
    const certainty = this.row < 0 ? "" : `p ${this.candidate.probabilities[this.row].toFixed(3)}`;
    this.root.querySelector(".certainty").textContent = certainty;
  }

  drawMarks() {
    const { left, top, cell } = this.map.layout, rows = this.candidate.rows.length, columns = this.map.columns.length;
    this.marks.replaceChildren();
    // Only labels are tinted: a tint over cells would falsify the colours one came to read.
    const frame = (kind, x, y, width, height) => make(this.marks, "rect", { class: kind, x, y, width, height });
    const upright = this.column >= 0 && !(this.map.layout.turned[this.column] && this.map.layout.angle < 90);
    if (this.row >= 0) {
      frame("ink band", 0, top + this.row * cell, left - 2, cell);
      if (columns) frame("guide", left, top + this.row * cell, columns * cell, cell);
    }
    if (this.column >= 0) {
      if (upright) frame("ink band", left + this.column * cell, CAPTION, cell, top - CAPTION - 2);
      frame("guide", left + this.column * cell, top, cell, rows * cell);
    }
    if (this.row >= 0 && this.column >= 0) frame("cursor", left + this.column * cell, top + this.row * cell, cell, cell);
    for (const texts of [this.rowTexts, this.paneTexts]) texts.forEach((one, index) => one.classList.toggle("bold", index === this.row));
    this.columnTexts.forEach((one, index) => one.classList.toggle("bold", index === this.column));
  }

  drawTip() {
    this.tip.replaceChildren();
    if (this.row < 0 || this.column < 0) return;
    make(this.tip, "bdi", {}, full(this.candidate.rows[this.row]));
    this.tip.append(" \u2190 ");
    make(this.tip, "bdi", {}, full(this.map.columns[this.column]));
    make(this.tip, "b", {}, this.weight(this.row, this.column).toFixed(3));
    const { left, top, cell } = this.map.layout, width = this.tip.offsetWidth;
    const x = left + (this.column + 1) * cell + 8 - this.scroll.scrollLeft, y = top + (this.row + 1) * cell + 6;
    this.tip.style.left = `${x + width > this.plot.clientWidth ? Math.max(x - cell - width - 16, 0) : x}px`;
    this.tip.style.top = `${y}px`;
  }

  // Shading: boxes behind the running text, which stays whole so that the browser can shape it ---------------------
  boxes(run, start, end) {
    const node = run.firstChild;
    if (!node) return [];
    const range = document.createRange();
    range.setStart(node, Math.min(start, node.length));
    range.setEnd(node, Math.min(end, node.length));
    return [...range.getClientRects()].filter((box) => box.width > 0);
  }

  paint(shadeable, segments, strength, here) {
    shadeable.querySelectorAll(".box").forEach((box) => box.remove());
    const run = shadeable.querySelector(".run"), frame = shadeable.getBoundingClientRect();
    for (const [start, end, symbols] of segments) {
      const opacity = strength(symbols), current = here(symbols);
      if (opacity < 0.02 && !current) continue;
      for (const box of this.boxes(run, start, end)) {
        const place = `left:${box.left - frame.left}px;top:${box.top - frame.top}px;width:${box.width}px;height:${box.height}px;`;
        if (opacity >= 0.02) make(shadeable, "span", { class: "box", style: `${place}opacity:${opacity}` });
        if (current) make(shadeable, "span", { class: "box here", style: place });
      }
    }
  }

  // Around ranges of the running text.
  frame(shadeable, segments) {
    const frame = shadeable.getBoundingClientRect(), run = shadeable.querySelector(".run");
    for (const [start, end] of segments)
      for (const box of this.boxes(run, start, end)) {
        const place = `left:${box.left - frame.left}px;top:${box.top - frame.top}px;width:${box.width}px;height:${box.height}px`;
        make(shadeable, "span", { class: "box here", style: place });
      }
  }

  // Below what the model does not know, in the running text.
  underline(shadeable, start, end) {
    const frame = shadeable.getBoundingClientRect();
    for (const box of this.boxes(shadeable.querySelector(".run"), start, end))
      make(shadeable, "span", { class: "box unknown", style: `left:${box.left - frame.left}px;top:${box.bottom - frame.top - 3}px;width:${box.width}px` });
  }

  // Behind the output: doubt about each symbol, or how much each looked at the chosen place.
  shade() {
    const { probabilities } = this.candidate;
    const { found, most } = this.place ? this.place.look.readers() : { found: [], most: 1 };
    const doubt = (symbols) => 1 - Math.min(...symbols.map((one) => probabilities[one]));
    const share = (symbols) => Math.max(...symbols.map((one) => found[one])) / most;
    this.output.classList.toggle("placed", Boolean(this.place));
    const strength = (symbols) => 0.75 * (this.place ? share(symbols) : doubt(symbols));
    this.paint(this.output, this.candidate.output, strength, (symbols) => symbols.includes(this.row));
    this.root.querySelectorAll(".shadeable.source").forEach((shadeable) => this.shadeSource(shadeable));
    this.root.dispatchEvent(new CustomEvent("seqloom-shade"));
  }

  shadeSource(shadeable) {
    const index = this.data.sources.indexOf(shadeable.dataset.name);
    const segments = index < 0 || (this.row < 0 && this.column < 0) ? [] : this.candidate.maps[index].segments;
    const weight = this.rowWeights(index);
    const total = (symbols) => symbols.reduce((sum, one) => sum + weight(one), 0);
    const here = (symbols) => index === this.choice.source && symbols.includes(this.column);
    this.paint(shadeable, segments, (symbols) => 0.75 * Math.min(total(symbols), 1), here);
    this.underlineUnknown(shadeable);
  }

  underlineUnknown(shadeable) {
    const found = this.candidate.maps[this.data.sources.indexOf(shadeable.dataset.name)];
    for (const [start, end] of found?.unknown || []) this.underline(shadeable, start, end);
  }

  rowWeights(index) {
    if (index < 0 || this.row < 0) return () => 0;
    const start = this.row * this.candidate.maps[index].columns.length;
    return (column) => this.weights[index][start + column];
  }
}
