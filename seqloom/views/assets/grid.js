// The grid that all heat maps are: labels of rows and columns, and shaded cells. The same picture as svg.py makes.
import { clamp, make } from "./elements.js";

export const GAP = 8, CAPTION = 16, COVERAGE = 34;

export function writeText(parent, x, y, text, kind, size, anchor, rtl = false) {
  const attributes = { x, y, class: kind, "font-size": size, "text-anchor": anchor };
  if (rtl) {
    attributes.direction = "rtl";
    attributes["unicode-bidi"] = "isolate";
    if (anchor !== "middle") attributes["text-anchor"] = anchor === "end" ? "start" : "end";
  }
  return make(parent, "text", attributes, text);
}

export function writeLabel(parent, label, x, y, font, anchor) {
  return writeText(parent, x, y, label[0], label[2] === "doubt" ? "doubt underlined" : label[2], font, anchor, Boolean(label[1]));
}

export function writeRowLabel(svg, label, index, { left, top, cell, font }) {
  return writeLabel(svg, label, left - GAP, top + (index + 0.5) * cell + font * 0.35, font, "end");
}

export function writeColumnLabel(svg, label, index, { left, top, cell, font, angle, turned }) {
  const x = left + (index + 0.5) * cell, y = top - GAP;
  if (!turned[index]) return writeLabel(svg, label, x, y, font, "middle");
  const group = make(svg, "g", { transform: `translate(${x + font * 0.35} ${y}) rotate(-${angle})` });
  return writeLabel(group, label, 0, 0, font, "start");
}

export function fillCells(svg, weights, rows, columns, { left, top, cell, inset }, levels) {
  make(svg, "rect", { class: "panel", x: left, y: top, width: columns * cell, height: rows * cell });
  weights.forEach((weight, index) => {
    const level = Math.floor(clamp(weight, 0, 1) * levels + 0.5);
    if (!level) return;
    const x = left + (index % columns) * cell + inset, y = top + Math.floor(index / columns) * cell + inset;
    make(svg, "rect", { class: `w${level}`, x, y, width: cell - 2 * inset, height: cell - 2 * inset });
  });
}

// The row and the column that the pointer is at; -1 beside the grid.
export function cellAt(event, svg, rows, columns, { left, top, cell }) {
  const frame = svg.getBoundingClientRect();
  const row = Math.floor((event.clientY - frame.top - top) / cell), column = Math.floor((event.clientX - frame.left - left) / cell);
  return [row >= 0 && row < rows ? row : -1, column >= 0 && column < columns ? column : -1];
}

// The chosen head's weights; the mean where there is no such head.
export function weightsOf(heads, head, scale) {
  if (heads[head]) return heads[head].map((one) => one / scale);
  if (!heads.length) return [];
  return heads[0].map((_, cell) => heads.reduce((sum, one) => sum + one[cell], 0) / heads.length / scale);
}
