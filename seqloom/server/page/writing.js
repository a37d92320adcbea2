// Language models: how surprising each symbol of a text is, how it could go on, and texts that are drawn at random.
import { make } from "/assets/elements.js";
import { ShadedText } from "/assets/language.js";
import { codeBlock, curl, pythonCode, quoted } from "./coding.js";
import { button, field, grow, isMark, number, probability, visible } from "./growing.js";
import { events, post } from "./service.js";

const PAUSE = 140, AHEAD = 24, COLD = 0.05;

export class WritingPanel {
  constructor(root, { told, changed }) {
    Object.assign(this, { root, told, changed });
    root.replaceChildren();
    this.area = field(root, "text", { rows: 4, dir: "auto", spellcheck: false, placeholder: "type here" }, () => this.later(), "textarea");
    this.area.addEventListener("keydown", (event) => {
      if (event.key === "Tab" && !event.shiftKey && this.first) {
        event.preventDefault();
        this.accept(this.first);
      }
    });
    this.completions = make(root, "div", { class: "words completions", "aria-label": "how it could go on" });
    this.hint = make(root, "p", { class: "hint" });
    this.shaded = make(root, "div", { class: "language" });
    this.next = make(root, "div", { class: "words" });
    this.drawSampling();
    this.code = make(root, "details", { class: "settings" });
  }

  open(model, text) {
    this.model = model;
    this.area.value = text;
    this.hint.textContent = "The Tab key takes the first completion. Deeper colour: more surprising. Point at a symbol to see what was expected.";
    return this.ask();
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), PAUSE);
  }

  async ask() {
    const text = this.area.value, { model } = this;
    this.changed(text);
    this.busy?.abort();
    this.busy = new AbortController();
    const { signal } = this.busy;
    try {
      // One after the other: what is quick to compute is to be seen first.
      this.drawCode(text);
      this.drawShaded(text ? await post("/v1/score", { model: model.name, texts: this.lines(text), drawing: true }, signal) : null);
      this.drawNext((await post("/v1/step", { model: model.name, prefix: text, count: 10 }, signal)).steps.at(-1), text);
      const endings = await post("/v1/complete", { model: model.name, prompt: text, beam: 3, length: 16 }, signal);
      this.drawCompletions([await this.goingOn(text, signal), ...endings.texts], text);
      this.told(null);
    } catch (problem) {
      if (problem.name !== "AbortError") this.told(problem);
    }
  }

  // What is most probable symbol by symbol, up to the end of the line.
  async goingOn(prompt, signal) {
    let text = "";
    for await (const [name, data] of events("/v1/sample", { model: this.model.name, prompt, length: AHEAD, temperature: COLD }, signal))
      if (name === "piece") text += data.text;
    const rest = text.slice(prompt.length).split("\n")[0].trimEnd();
    return { text: prompt + rest, finished: false };
  }

  lines(text) { return text.split("\n"); }

  drawCompletions(texts, prompt) {
    this.completions.replaceChildren();
    this.first = null;
    for (const one of texts.filter(({ text }, place) => texts.findIndex((other) => other.text === text) === place)) {
      const rest = one.text.startsWith(prompt) ? one.text.slice(prompt.length) : one.text;
      if (!rest) continue;
      this.first ??= one.text;
      const chip = button(this.completions, "", () => this.accept(one.text), { class: "chip", dir: "auto" });
      make(chip, "span", {}, `\u2026${rest}${one.finished ? "" : "\u2026"}`);
      make(chip, "small", {}, one.completion_log_prob === undefined ? "most probable" : `log p ${number(one.completion_log_prob, 2)}`);
    }
  }

  accept(text) {
    this.area.value = text;
    this.area.focus();
    return this.ask();
  }

  drawShaded(scored) {
    this.shaded.replaceChildren();
    if (!scored) return;
    const { summary } = scored;
    make(this.shaded, "p", { class: "facts-line" }, `${number(summary.bits_per_symbol, 2)} bits per symbol \u00b7 perplexity ${summary.perplexity.toPrecision(4)} \u00b7 ${number(summary.bits_per_character, 2)} bits per character`);
    for (const one of scored.scores) {
      const box = make(this.shaded, "div", { class: "seqloom-text" });
      grow(make(box, "p", { class: "line" }), one.drawing.markup);
      new ShadedText(box, one.drawing.data);
    }
    const key = make(this.shaded, "p", { class: "shades" });
    make(key, "span", {}, "expected");
    make(key, "i");
    make(key, "span", {}, "as improbable as a blind guess, or more");
  }

  drawNext(step, text) {
    this.next.replaceChildren();
    if (!step) return;
    make(this.next, "small", { class: "hint" }, `next (${step.entropy_bits.toFixed(2)} bits of doubt)`);
    for (const one of step.next) {
      const act = () => { if (!isMark(one.symbol)) this.accept(text + one.symbol.replace("\u2581", " ")); };
      const chip = button(this.next, "", act, { class: "chip" });
      make(chip, "bdi", {}, visible(one.symbol));
      make(chip, "small", {}, probability(one.probability));
    }
  }

  drawSampling() {
    const form = make(this.root, "form", { class: "row sampling", autocomplete: "off" });
    const numbers = { temperature: [0.8, 0.1, 2, 0.1], length: [200, 1, 2000, 1], seed: [1, 0, 1e9, 1] };
    const fields = Object.entries(numbers).map(([name, [value, min, max, step]]) => [name, field(form, name, { type: "number", value, min, max, step })]);
    make(form, "button", {}, "write on");
    this.stop = button(form, "stop", () => this.sampling?.abort(), { disabled: "" });
    this.sample = make(this.root, "output", { class: "sample", dir: "auto" });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.write(Object.fromEntries(fields.map(([name, element]) => [name, Number(element.value)])));
    });
  }

  async write(settings) {
    this.sampling?.abort();
    this.sampling = new AbortController();
    this.sample.textContent = "";
    this.stop.disabled = false;
    try {
      for await (const [name, data] of events("/v1/sample", { model: this.model.name, prompt: this.area.value, ...settings }, this.sampling.signal))
        if (name === "piece") this.sample.append(data.text);
    } catch (problem) {
      if (problem.name !== "AbortError") this.told(problem);
    }
    this.stop.disabled = true;
  }

  drawCode(text) {
    const open = this.code.open;
    this.code.replaceChildren();
    make(this.code, "summary", {}, "use from code");
    const body = { model: this.model.name, texts: this.lines(text) };
    codeBlock(this.code, "the command that makes this figure", `seqloom explain ${quoted(this.model.folder)} ${quoted(text)} --out next.html`);
    codeBlock(this.code, "curl", curl("/v1/score", body));
    codeBlock(this.code, "Python, over HTTP", pythonCode("/v1/score", body));
    this.code.open = open;
  }
}
