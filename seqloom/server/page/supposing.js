// What if: another source word, another output symbol, another look at the source.
import { make } from "/assets/elements.js";
import { written } from "./asking.js";
import { AttentionEditor } from "./drawing.js";
import { button, isMark, probability, visible } from "./growing.js";
import { isFile, textsOf } from "./inputs.js";

export class SupposePanel {
  constructor(root, acts) {
    Object.assign(this, { root, acts });
    this.words = make(root, "section");
    this.symbols = make(root, "section");
    this.looks = make(root, "section");
    this.chosen = 0;
  }

  show(one, model) {
    Object.assign(this, { one, model });
    this.drawWords();
    this.drawSymbols();
    this.drawLooks();
  }

  // --- the source ---
  drawWords() {
    this.words.replaceChildren();
    const texts = Object.entries(textsOf(this.one.request.input, this.model)).filter(([name, value]) => typeof value === "string" && this.model.sources.some((one) => one.name === name && !isFile(one)));
    if (!texts.length) return;
    make(this.words, "h2", {}, "another source word");
    for (const [name, text] of texts) {
      const line = make(this.words, "div", { class: "words", dir: "auto" });
      for (const found of text.matchAll(/\S+/g)) button(line, found[0], (event) => this.askForWord(event.currentTarget, name, text, found), { class: "chip", dir: "auto" });
    }
  }

  askForWord(chip, name, text, found) {
    this.words.querySelector("form")?.remove();
    const form = make(this.words, "form", { class: "row", autocomplete: "off" });
    make(form, "span", { class: "hint" }, "instead of ");
    make(form, "bdi", {}, found[0]);
    const field = make(form, "input", { type: "text", dir: "auto", "aria-label": `instead of ${found[0]}`, spellcheck: false });
    field.value = found[0];
    const replaced = (word) => `${text.slice(0, found.index)}${word}${text.slice(found.index + found[0].length)}`.replace(word ? /$^/ : /\s{2,}/g, " ").trim();
    make(form, "button", {}, "replace");
    button(form, "leave out", () => this.acts.replace(name, replaced(""), `without \u201c${found[0]}\u201d`));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.acts.replace(name, replaced(field.value), `\u201c${field.value}\u201d for \u201c${found[0]}\u201d`);
    });
    chip.after?.();
    field.select();
    field.focus();
  }

  // --- the output ---
  drawSymbols() {
    this.symbols.replaceChildren();
    const { tokens } = this.one.prediction.candidates[0];
    if (!tokens.length) return;
    make(this.symbols, "h2", {}, "another output symbol");
    this.line = make(this.symbols, "div", { class: "words", dir: "auto" });
    tokens.forEach((token, place) => button(this.line, visible(token), () => this.choose(place), { class: "chip", dir: "auto", "aria-pressed": place === this.chosen }));
    this.choices = make(this.symbols, "div", { class: "words" });
    make(this.symbols, "p", { class: "hint" }, "Choose a symbol, then what shall stand there instead. What follows is decoded anew.");
  }

  async choose(place) {
    this.chosen = place;
    [...this.line.children].forEach((one, index) => one.setAttribute("aria-pressed", index === place));
    this.drawLooks();
    const before = written(this.one).slice(0, place), step = await this.acts.next(this.one, before);
    if (!step || this.chosen !== place) return;
    this.choices.replaceChildren();
    for (const other of step.next.filter((one) => !isMark(one.symbol))) {
      const chip = button(this.choices, "", () => this.acts.force([...before, other]), { class: "chip" });
      make(chip, "bdi", {}, visible(other.symbol));
      make(chip, "small", {}, probability(other.probability));
    }
    const form = make(this.choices, "form", { class: "row", autocomplete: "off" });
    const field = make(form, "input", { type: "text", dir: "auto", size: 12, "aria-label": "any other symbol", placeholder: "any other", spellcheck: false });
    make(form, "button", {}, "write it");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (field.value) this.acts.force([...before, { symbol: field.value }]);
    });
  }

  // --- attention ---
  drawLooks() {
    this.looks.replaceChildren();
    const candidate = this.one.prediction.candidates[0], [name, attention] = Object.entries(candidate.attention ?? {})[0] ?? [];
    if (!attention || !this.model.can.includes("oracle")) return;
    make(this.looks, "h2", {}, "another look at the source");
    const row = Math.min(this.chosen, candidate.tokens.length - 1);
    const weights = this.one.request.oracle?.[row] ?? attention.weights[row];
    new AttentionEditor(this.looks, {
      attention: { ...attention, name }, row, symbol: candidate.tokens[row], weights,
      done: (drawn) => this.acts.look(row, drawn, `looks elsewhere for symbol ${row + 1}`),
    });
    make(this.looks, "p", { class: "hint" }, "The whole distribution that you draw takes the place of the model's own at that step. In the map, drag a row sideways to move its weights.");
  }
}
