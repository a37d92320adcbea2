// The signed difference of two tries: what is looked at more, and less, than before.
import { clamp, full, isolated, make } from "/assets/elements.js";
import { HeatMap } from "/assets/map.js";
import { grow, number } from "./growing.js";

// The longest common subsequence: for each place of `after`, its place in `before`, or -1.
export function matched(before, after) {
  const rows = before.length, columns = after.length;
  const longest = Array.from({ length: rows + 1 }, () => new Uint16Array(columns + 1));
  for (let i = rows - 1; i >= 0; i -= 1)
    for (let j = columns - 1; j >= 0; j -= 1)
      longest[i][j] = before[i] === after[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  const found = new Array(columns).fill(-1);
  for (let i = 0, j = 0; i < rows && j < columns;) {
    if (before[i] === after[j]) found[j++] = i++;
    else if (longest[i + 1][j] >= longest[i][j + 1]) i += 1;
    else j += 1;
  }
  return found;
}

class DifferenceMap extends HeatMap {
  chosenWeights(heads) {
    const own = super.chosenWeights(heads);
    if (!own.length || this.map.grid) return own;
    const then = this.data.before, index = this.choice.source, map = then.candidates[0].maps[index];
    if (!map || !map.heads.length) return own;
    const old = map.heads[0].map((_, cell) => map.heads.reduce((sum, head) => sum + head[cell], 0) / map.heads.length / then.scale);
    const columns = this.map.columns.length, labels = (list) => list.map(full);
    const rowOf = matched(labels(then.candidates[0].rows), labels(this.candidate.rows)), columnOf = matched(labels(map.columns), labels(this.map.columns));
    return own.map((weight, cell) => {
      const row = rowOf[Math.floor(cell / columns)], column = columnOf[cell % columns];
      return weight - (row < 0 || column < 0 ? 0 : old[row * map.columns.length + column]);
    });
  }

  drawCells(svg) {
    const { left, top, cell, inset } = this.map.layout, columns = this.map.columns.length, rows = this.candidate.rows.length;
    make(svg, "rect", { class: "panel", x: left, y: top, width: columns * cell, height: rows * cell });
    this.weights[this.choice.source].forEach((weight, index) => {
      if (Math.abs(weight) < 0.02) return;
      const x = left + (index % columns) * cell + inset, y = top + Math.floor(index / columns) * cell + inset;
      make(svg, "rect", { class: weight > 0 ? "accent" : "doubt", x, y, width: cell - 2 * inset, height: cell - 2 * inset, opacity: clamp(Math.abs(weight), 0.06, 1).toFixed(2) });
    });
  }

  drawCoverage() {}
  shadeSource() {}
}

export function drawDifference(parent, before, after) {
  parent.replaceChildren();
  const box = make(parent, "section", { class: "difference" });
  make(box, "h2", {}, `Try ${after.number} minus try ${before.number}`);
  drawTexts(box, before, after);
  const [then, now] = [before, after].map((one) => one.prediction.drawing);
  const root = grow(box, now.markup);
  root.classList.add("signed");
  root.querySelectorAll(".candidates, .scores, .texts dt, .texts .source, .legend, .look, .note, .inside").forEach((one) => { one.hidden = true; });
  if (root.querySelector(".plot") && now.data.candidates[0].maps.some((map) => map.columns.length && map.heads.length)) {
    new DifferenceMap(root, { ...now.data, before: then.data, candidates: now.data.candidates.slice(0, 1) });
    const legend = make(box, "p", { class: "hint signs" });
    make(legend, "i", { class: "more" });
    legend.append("looked at more than before ");
    make(legend, "i", { class: "less" });
    legend.append("less");
  } else root.remove();
}

function drawTexts(parent, before, after) {
  const [then, now] = [before, after].map((one) => one.prediction.candidates[0]);
  const same = matched(then.tokens, now.tokens), kept = new Set(same.filter((one) => one >= 0));
  const line = (name, candidate, isKept, kind) => {
    const row = make(parent, "p", { class: "compared", dir: "auto" });
    make(row, "small", {}, name);
    const apart = candidate.text.includes(" ") && !candidate.tokens.some((token) => /[\s\u2581]/.test(token)) ? " " : "";
    candidate.tokens.forEach((token, place) => make(row, isKept(place) ? "span" : kind, {}, (token === "<end>" ? " \u25a0" : token) + apart));
    make(row, "small", { class: "num" }, ` log p ${number(candidate.log_prob)}`);
  };
  line(`try ${before.number}`, then, (place) => kept.has(place), "del");
  line(`try ${after.number}`, now, (place) => same[place] >= 0, "ins");
  make(parent, "p", { class: "hint" }, `${isolated(after.label)}: log p ${now.log_prob >= then.log_prob ? "+" : ""}${number(now.log_prob - then.log_prob)}`);
}
