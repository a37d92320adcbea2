// Why it wrote what it wrote: what else was probable at every step, and who is to blame if it is wrong.
import { make } from "/assets/elements.js";
import { written } from "./asking.js";
import { button, field, isMark, number, probability, visible } from "./growing.js";

const VERDICTS = {
  right: "It is what the model found.",
  "search-error": "Search error: the model holds it more probable than what was found. A wider beam can find it.",
  "model-error": "Model error: the model holds it less probable than what was found. No search would choose it; more or better training would.",
};

export class ReasonsPanel {
  constructor(root, { load, force, judge, reference }) {
    Object.assign(this, { root, load, judge });
    // Another symbol in the place of one that was written.
    this.force = (place, other) => force([...written(this.one).slice(0, place), other]);
    const form = make(root, "form", { class: "row", autocomplete: "off" });
    this.wanted = field(form, "the right answer, if you know it", { type: "text", dir: "auto", spellcheck: false, class: "long" });
    this.wanted.value = reference ?? "";
    make(form, "button", {}, "whose error?");
    form.addEventListener("submit", (event) => { event.preventDefault(); this.blame(); });
    this.verdict = make(root, "div", { class: "verdict", role: "status" });
    make(root, "p", { class: "hint" }, "What the model held probable at each step. Click a symbol to have it written instead; the rest is decoded anew.");
    this.table = make(root, "div", { class: "wide" });
  }

  async show(one) {
    this.one = one;
    this.verdict.replaceChildren();
    const steps = await this.load(one);
    if (steps && this.one === one) this.draw(steps);
    if (this.wanted.value.trim()) await this.blame();
  }

  draw(steps) {
    this.table.replaceChildren();
    const table = make(this.table, "table", { class: "why" }), head = make(make(table, "thead"), "tr");
    for (const name of ["", "written", "probability", "rank", "bits of doubt", "instead"]) make(head, "th", {}, name);
    const body = make(table, "tbody");
    steps.forEach((step, index) => this.drawStep(body, step, index));
  }

  drawStep(body, step, index) {
    const row = make(body, "tr"), taken = step.taken ?? step.next[0];
    make(row, "td", { class: "num" }, index + 1);
    make(make(row, "th"), "bdi", {}, visible(taken.symbol));
    const cell = make(row, "td", { class: "num" });
    make(cell, "i", { class: "chance", style: `--p:${taken.probability}` }, probability(taken.probability));
    make(row, "td", { class: "num" }, taken.rank ?? 1);
    make(row, "td", { class: "num" }, step.entropy_bits.toFixed(2));
    const others = make(row, "td", { class: "others" });
    for (const other of step.next.filter((one) => one.id !== taken.id && !isMark(one.symbol))) {
      const chip = button(others, "", () => this.force(index, other), { class: "chip", title: `write this instead: probability ${probability(other.probability)}` });
      make(chip, "bdi", {}, visible(other.symbol));
      make(chip, "small", {}, probability(other.probability));
    }
  }

  async blame() {
    const wanted = this.wanted.value;
    if (!wanted.trim() || !this.one) return;
    const found = await this.judge(this.one, wanted);
    if (!found) return;
    this.verdict.replaceChildren();
    make(this.verdict, "strong", { class: found.verdict }, VERDICTS[found.verdict]);
    const list = make(this.verdict, "ul");
    for (const [name, text, value] of [["wanted", wanted, found.log_prob], ["found", found.found.text, found.found.log_prob]]) {
      const item = make(list, "li");
      make(item, "small", {}, name);
      make(item, "bdi", {}, text || "\u2205");
      make(item, "span", { class: "num" }, `log p ${number(value)}`);
    }
    if (found.unknown.length) make(this.verdict, "p", { class: "hint" }, "The right answer has symbols that the model does not know, so it cannot write it.");
    this.drawSymbols(found);
  }

  // Where the wanted answer became improbable.
  drawSymbols(found) {
    const line = make(this.verdict, "p", { class: "line-of-symbols" });
    found.symbols.forEach((symbol, place) => {
      const value = Math.exp(found.log_probs[place]);
      make(line, "bdi", { style: `--v:${1 - value}`, title: `probability ${probability(value)}` }, visible(symbol));
    });
  }
}
