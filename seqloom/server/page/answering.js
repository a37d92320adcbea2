// An answer: the maps that `explain` draws, with ribbons, of one model or of two beside each other.
import { make } from "/assets/elements.js";
import { listen } from "/assets/listen.js";
import { enliven } from "/assets/living.js";
import { shifted } from "./drawing.js";
import { button, grow, number, visible } from "./growing.js";
import { Ribbons } from "./ribbons.js";

export class AnswerPanel {
  constructor(root, { look }) {
    Object.assign(this, { root, look });
  }

  show(one, model, beside) {
    this.root.replaceChildren();
    const both = Boolean(beside?.prediction);
    const room = both ? make(this.root, "div", { class: "beside" }) : this.root;
    this.maps = [this.drawMap(room, one, model, both), ...(both ? [this.drawMap(room, beside, beside.model, both)] : [])];
    if (one && model.can.includes("oracle") && !both) this.listenForDrags(this.maps[0], one);
    if (both) this.link();
  }

  drawMap(room, one, model, named) {
    const { drawing, candidates } = one.prediction, root = grow(room, drawing.markup);
    if (named) root.prepend(make(root, "h2", { class: "whose", dir: "auto" }, `${model.name}: ${candidates[0].text || "\u2205"}`));
    root.querySelectorAll(".candidate .num").forEach((place, index) => {
      const { confidence, probability } = candidates[index];
      make(place, "span", { class: "confidence", title: "geometric mean of the symbols' probabilities" }, probability === undefined ? `confidence ${confidence.toFixed(3)}` : `probability ${probability.toFixed(3)}`);
    });
    const map = enliven(root, drawing.data);
    if (map.texts.some((index) => map.candidate.maps[index].segments.length)) map.ribbons = new Ribbons(map);
    if (one.prediction.listening_drawing) {
      const heard = grow(root, one.prediction.listening_drawing);
      root.querySelector(".controls").before(heard);
      listen(heard);
    }
    return map;
  }

  // Two models walk in step: pointing at a symbol of one points at the same place of the other.
  link() {
    let leading = false;
    this.maps.forEach((map, index) => map.root.addEventListener("seqloom-point", () => {
      const other = this.maps[1 - index];
      if (leading || map.row >= other.candidate.rows.length || map.column >= other.map.columns.length) return;
      leading = true;
      other.point(map.row, map.column);
      leading = false;
    }));
  }

  // A row that is dragged sideways is looked at elsewhere: its whole distribution moves.
  listenForDrags(map, one) {
    if (!map.plot) return;
    let from = null;
    map.plot.classList.add("movable");
    map.scroll.addEventListener("pointerdown", (event) => {
      if (event.button || map.row < 0 || map.column < 0 || map.choice.candidate) return;
      from = { row: map.row, column: map.column };
    });
    map.scroll.addEventListener("pointermove", () => {
      if (from && map.column >= 0) map.plot.classList.toggle("moving", map.column !== from.column);
    });
    addEventListener("pointerup", () => {
      if (!from) return;
      const { row, column } = from, by = map.column - column;
      from = null;
      map.plot.classList.remove("moving");
      if (map.column < 0 || !by || !map.root.isConnected) return;
      const attention = one.prediction.candidates[0].attention[map.data.sources[map.choice.source]];
      this.look(row, shifted(attention.weights[row], by), `moves the look of symbol ${row + 1} by ${by}`);
    });
  }
}

// What stands above everything: the output, how sure, and what was forced.
export function drawFacts(place, prediction, milliseconds) {
  const [best] = prediction.candidates;
  place.replaceChildren();
  const facts = [
    best.probability === undefined ? ["confidence", best.confidence.toFixed(3)] : ["probability", best.probability.toFixed(3)],
    ["score", number(best.score)], ["log p", number(best.log_prob)], ...(best.finished ? [] : [["", "cut off"]]),
    ...(milliseconds === undefined ? [] : [["", `${Math.round(milliseconds)} ms`]]),
  ];
  for (const [name, value] of facts) make(place, "span", {}, `${name} ${value}`.trim());
}

export function drawForced(place, request, { free, unlook }) {
  place.replaceChildren();
  const { prefix, oracle } = request;
  if (prefix?.length) {
    const chip = make(place, "span", { class: "chip" }, "begins with ");
    make(chip, "bdi", {}, typeof prefix === "string" ? prefix : prefix.map(({ symbol }) => visible(symbol)).join(" "));
    button(chip, "\u00d7", free, { "aria-label": "let the model begin as it likes" });
  }
  (oracle ?? []).forEach((row, index) => {
    if (!row) return;
    const chip = make(place, "span", { class: "chip" }, `symbol ${index + 1}: looks where you said`);
    button(chip, "\u00d7", () => unlook(index), { "aria-label": `let the model look for itself at symbol ${index + 1}` });
  });
}

export function drawFlags(place, prediction) {
  place.replaceChildren();
  const [best] = prediction.candidates, { never_read: unread = [], repeated = [] } = prediction.flags ?? {};
  const attention = Object.values(best.attention ?? {}).find((one) => one.layout.kind === "tokens");
  const say = (words, symbols) => {
    const line = make(place, "span", { class: "flag" }, words);
    for (const symbol of symbols) make(line, "bdi", {}, visible(symbol));
  };
  if (attention && unread.length) say("never read: ", unread.map((index) => attention.symbols[index]).filter((one) => one !== undefined));
  for (const [from, to] of repeated) say("repeats itself: ", best.tokens.slice(from, to));
  if (prediction.unknown?.length) say("not known to the model: ", prediction.unknown);
}
