// The studio: what is asked, who answers, and what of the answer is shown.
import { make } from "/assets/elements.js";
import { AnswerPanel, drawFacts, drawFlags, drawForced } from "./answering.js";
import { begun, sent, written } from "./asking.js";
import { CodePanel } from "./coding.js";
import { drawDifference } from "./differing.js";
import { rounded } from "./drawing.js";
import { button, clipped, copy, field } from "./growing.js";
import { Inputs, fitting, spoken, textsOf } from "./inputs.js";
import { Lesson, LESSON_MODELS } from "./lessons.js";
import { NeighboursPanel } from "./neighbours.js";
import { ReasonsPanel } from "./reasons.js";
import { SearchPanel } from "./searching.js";
import { events, get, post } from "./service.js";
import { fromLink, toLink } from "./state.js";
import { SupposePanel } from "./supposing.js";
import { Tries } from "./tries.js";
import { WritingPanel } from "./writing.js";

const PAUSE = 60;
const TABS = [["answer", "attention", null], ["search", "search tree", "tree"], ["suppose", "what if", null], ["reasons", "why", "step"], ["neighbours", "neighbours", "neighbours"], ["difference", "difference", null], ["code", "use from code", null]];

const at = (id) => document.getElementById(id);

// Of a long example, as much as one would type: some words of its longest line among the first ones.
const opening = (text) => {
  const lines = text.split("\n").slice(0, 4), line = lines.reduce((one, other) => (other.length > one.length ? other : one), "");
  return line.split(/(?<=\s)/).reduce((taken, word) => (taken.length + word.length <= 48 ? taken + word : taken), "").trimEnd() || clipped(line, 48);
};

class Studio {
  constructor(models) {
    this.models = models;
    this.state = { tab: "answer" };
    this.inputs = new Inputs(at("fields"), at("examples"), (input, how) => this.changed(input, how));
    this.tries = new Tries(at("tries"), { show: (one) => this.back(one), compare: (before, after) => this.compare(before, after) });
    this.panels = this.makePanels();
    this.lesson = new Lesson(at("lesson"), { go: (change) => this.go(change), moved: (step) => this.keep({ lesson: step + 1 }) });
    this.writing = new WritingPanel(make(at("panels"), "section", { class: "panel writing", hidden: "" }), { told: (problem) => this.tell(problem), changed: (text) => this.keep({ text }) });
    this.listen();
  }

  get model() { return this.find(this.state.model) ?? this.models[0]; }
  find(name) { return this.models.find((one) => one.name === name); }

  // --- making -------------------------------------------------------------------------------------------------------
  makePanels() {
    const place = (name) => make(at("panels"), "section", { class: `panel ${name}`, role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, hidden: "" });
    const guarded = (act) => async (...given) => {
      try {
        const found = await act(...given);
        this.tell(null);
        return found;
      } catch (problem) {
        if (problem.name !== "AbortError") this.tell(problem);
        return null;
      }
    };
    const force = (symbols, does = "writes") => this.ask({ prefix: this.unended(symbols), oracle: undefined }, `${does} \u201c${symbols.at(-1).symbol}\u201d at ${symbols.length}`);
    const look = (row, weights, label) => this.look(row, weights, label);
    return {
      answer: new AnswerPanel(place("answer"), { look }),
      search: new SearchPanel(place("search"), { load: guarded((one, width) => this.loadTree(one, width)), go: (branches) => force(branches, "goes on from") }),
      suppose: new SupposePanel(place("suppose"), {
        replace: (name, text, label) => this.replace(name, text, label), force, look,
        next: guarded(async (one, symbols) => (await post("/v1/step", { ...this.about(one), prefix: begun(symbols), count: 8 })).steps.at(-1)),
      }),
      reasons: new ReasonsPanel(place("reasons"), { load: guarded((one) => this.loadSteps(one)), force, judge: guarded((one, wanted) => this.judge(one, wanted)), reference: this.state.reference }),
      neighbours: new NeighboursPanel(place("neighbours"), { load: guarded((one) => post("/v1/neighbours", { model: one.request.model, input: sent(one.request.input), count: 8 })), use: (input) => this.use(input, "neighbour") }),
      difference: { root: place("difference"), show: () => {} },
      code: new CodePanel(place("code"), { requestOf: (one) => this.body(one.request), told: (problem) => this.tell(problem) }),
    };
  }

  listen() {
    at("model").addEventListener("change", (event) => this.open(event.target.value));
    at("beside").addEventListener("change", (event) => this.setBeside(event.target.value));
    at("link-button").addEventListener("click", (event) => copy(location.href, event.currentTarget));
    at("lesson-button").addEventListener("click", () => {
      if (at("lesson").hidden) return this.lesson.enter(0);
      this.lesson.close();
      return this.keep({ lesson: undefined });
    });
    addEventListener("hashchange", () => { if (location.hash !== this.link) this.restore(); });
    addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || event.target.matches("input, textarea")) return;
      event.preventDefault();
      if (event.shiftKey) this.tries.redo();
      else this.tries.undo();
    });
  }

  drawModels() {
    for (const [id, none] of [["model", false], ["beside", true]]) {
      const select = at(id);
      select.replaceChildren();
      if (none) make(select, "option", { value: "" }, "nothing");
      for (const one of this.models) {
        const alike = one.kind === "pairs" && one.name !== this.model.name && JSON.stringify(one.sources) === JSON.stringify(this.model.sources);
        if (!none || alike) make(select, "option", { value: one.name }, one.name);
      }
      select.value = none ? this.state.beside ?? "" : this.model.name;
      if (none && select.selectedIndex < 0) select.value = "";
    }
    at("beside-label").hidden = at("beside").options.length < 2;
    at("lesson-button").hidden = !LESSON_MODELS.every((name) => this.find(name));
    at("summary").textContent = this.model.summary;
  }

  drawTabs() {
    at("tabs").replaceChildren();
    const shown = TABS.filter(([name, , needs]) => (!needs || this.model.can.includes(needs)) && (name !== "difference" || this.compared));
    if (!shown.some(([name]) => name === this.state.tab)) this.state.tab = "answer";
    const tabs = shown.map(([name, title]) => button(at("tabs"), title, () => this.choose(name), {
      role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, "aria-selected": name === this.state.tab, tabindex: name === this.state.tab ? 0 : -1,
    }));
    tabs.forEach((tab, index) => tab.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      this.choose(shown[(index + step + shown.length) % shown.length][0]);
      at("tabs").querySelector("[aria-selected=true]").focus();
    }));
  }

  drawSettings() {
    const place = at("settings"), { search } = this.model;
    place.replaceChildren();
    const numbers = [["beam", "beam width", search.width ?? 1, 1, 50, 1], ["nbest", "outputs", Math.min(search.width ?? 1, 5), 1, 50, 1], ["length_power", "length power", search.length_power ?? 0, 0, 5, 0.1]];
    for (const [name, title, usual, min, max, step] of numbers) {
      const one = field(place, title, { type: "number", value: this.state[name] ?? usual, min, max, step });
      one.addEventListener("change", () => this.ask({ [name]: one.value === "" ? undefined : Number(one.value) }, `${title} ${one.value}`));
    }
    const begin = field(place, "begin the output with", { type: "text", dir: "auto", spellcheck: false, value: typeof this.state.prefix === "string" ? this.state.prefix : "" });
    begin.addEventListener("change", () => this.ask({ prefix: begin.value || undefined }, begin.value ? `begins with \u201c${begin.value}\u201d` : "begins as it likes"));
  }

  // --- opening and restoring ----------------------------------------------------------------------------------------
  restore() {
    const found = fromLink(location.hash);
    this.state = { tab: "answer", ...found };
    this.panels.reasons.wanted.value = found.reference ?? "";
    const step = this.state.lesson;
    this.show();
    if (step && LESSON_MODELS.every((name) => this.find(name))) this.lesson.open(step - 1);
    return this.begin();
  }

  open(name) {
    const before = this.model, input = this.state.input;
    this.state = { ...this.state, model: name, prefix: undefined, oracle: undefined };
    if (JSON.stringify(before.sources) !== JSON.stringify(this.model.sources)) Object.assign(this.state, { input: undefined, beside: undefined, reference: undefined });
    else this.state.input = fitting(input, this.model);
    if (this.state.beside === name) this.state.beside = undefined;
    for (const key of ["beam", "nbest", "length_power"]) this.state[key] = undefined;
    this.show();
    return this.begin(`model ${name}`);
  }

  // What depends on the model alone.
  show() {
    const language = this.model.kind === "language";
    document.body.classList.toggle("writes", language);
    this.drawModels();
    this.writing.root.hidden = !language;
    at("tabs").hidden = language;
    Object.values(this.panels).forEach(({ root }) => { root.hidden = true; });
    if (language) return;
    const example = this.model.examples[0];
    if (this.state.input === undefined && example) {
      this.state.input = example.input;
      this.panels.reasons.wanted.value = example.target ?? "";
    }
    this.inputs.build(this.model, this.state.input ?? "");
    this.drawSettings();
    this.drawTabs();
  }

  begin(label = "opened") {
    if (this.model.kind === "language") {
      const given = this.state.text ?? opening(this.model.examples[0]?.text ?? "");
      this.drawLanguageExamples();
      return this.writing.open(this.model, given);
    }
    return this.ask({ input: this.inputs.input }, label);
  }

  drawLanguageExamples() {
    at("examples").replaceChildren();
    at("fields").replaceChildren();
    for (const text of this.model.examples.map((one) => opening(one.text))) button(at("examples"), text, () => this.writing.accept(text), { class: "chip", dir: "auto" });
  }

  keep(change) {
    Object.assign(this.state, change);
    this.link = toLink(this.state);
    history.replaceState(null, "", this.link);
  }

  // --- asking -------------------------------------------------------------------------------------------------------
  changed(input, how) {
    if (input === null) return this.tries.settle();
    if (how.reference !== undefined) {
      this.panels.reasons.wanted.value = how.reference ?? "";
      this.state.reference = how.reference;
    }
    // What was drawn or forced belongs to the source that stood there before.
    const change = { input, oracle: undefined, ...(typeof this.state.prefix === "string" ? {} : { prefix: undefined }) };
    clearTimeout(this.timer);
    if (!how.typed) return this.ask(change, how.label);
    this.timer = setTimeout(() => this.ask(change, "typed", { typed: true }), PAUSE);
    return undefined;
  }

  use(input, label) {
    const names = Object.keys(input);
    this.inputs.build(this.model, names.length === 1 && this.model.sources.length === 1 ? input[names[0]] : input);
    return this.ask({ input: this.inputs.input, oracle: undefined, prefix: undefined }, label);
  }

  replace(name, text, label) {
    const input = { ...textsOf(this.state.input, this.model), [name]: text };
    this.inputs.build(this.model, this.model.sources.length === 1 && !input.features ? text : input);
    return this.ask({ input: this.inputs.input, oracle: undefined, prefix: undefined }, label);
  }

  look(row, weights, label) {
    const oracle = Array.from({ length: Math.max(row + 1, this.state.oracle?.length ?? 0) }, (_, index) => this.state.oracle?.[index] ?? null);
    oracle[row] = rounded(weights);
    return this.ask({ oracle }, label);
  }

  unlook(row) {
    const oracle = this.state.oracle.map((one, index) => (index === row ? null : one));
    return this.ask({ oracle: oracle.some(Boolean) ? oracle : undefined }, "looks for itself");
  }

  // Nothing can follow the end, so an output that ends there is forced up to it.
  unended(symbols) {
    return symbols.filter(({ symbol }) => symbol !== "<end>").map(({ symbol, id }) => (id === undefined ? { symbol } : { symbol, id }));
  }

  // What a lesson's task wants: a model, a tab, an input.
  go({ tab, ...change }) {
    this.state = { ...this.state, oracle: undefined, prefix: undefined, beam: undefined, nbest: undefined, ...change, tab };
    if (change.beam && tab === "search") this.panels.search.setWidth(change.beam);
    else if (tab === "search") this.panels.search.setWidth(3);
    this.show();
    return this.ask({ input: this.inputs.input }, "lesson");
  }

  setBeside(name) {
    this.keep({ beside: name || undefined });
    return this.ask({}, name ? `beside ${name}` : "alone");
  }

  body({ model, input, beam, nbest, length_power, prefix, oracle }) {
    const usual = this.find(model).search.width ?? 1, width = beam ?? usual;
    const body = { model, input: sent(input), beam, nbest: nbest ?? Math.min(width, 5), length_power, prefix: prefix?.length ? (typeof prefix === "string" ? prefix : begun(prefix)) : undefined, oracle };
    if (body.nbest > width) body.nbest = width;
    return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
  }

  async ask(change, label, how = {}) {
    if (!how.typed) this.tries.settle();
    Object.assign(this.state, change);
    this.busy?.abort();
    this.busy = new AbortController();
    const { signal } = this.busy;
    if (!this.inputs.complete) return this.clear();
    const { model: _, input, beam, nbest, length_power, prefix, oracle } = this.state;
    const request = { model: this.model.name, input, beam, nbest, length_power, prefix, oracle };
    at("answer").setAttribute("aria-busy", true);
    try {
      const [found, beside] = await Promise.all([this.stream(request, signal), this.askBeside(request, signal)]);
      this.tell(null);
      this.beside = beside;
      const one = this.tries.add(request, found, label ?? spoken(input), how);
      this.keep({ model: request.model });
      this.present(one);
    } catch (problem) {
      if (problem.name === "AbortError") return;
      this.tell(problem);
    }
    at("answer").removeAttribute("aria-busy");
  }

  async stream(request, signal) {
    const { input, ...rest } = this.body(request), body = { ...rest, inputs: [input], attention: true, drawing: true };
    if (!this.model.can.includes("stream")) return (await post("/v1/predict", body, signal)).predictions[0];
    let found = null;
    for await (const [name, data] of events("/v1/predict/stream", body, signal)) {
      if (name === "step") at("live").textContent = data.text;
      else if (name === "prediction") found = data;
      else if (name === "done") found.milliseconds = data.milliseconds;
    }
    return found;
  }

  async askBeside({ input, beam, nbest, length_power }, signal) {
    const model = this.find(this.state.beside);
    if (!model || model.name === this.model.name) return null;
    const { input: given, ...rest } = this.body({ model: model.name, input: fitting(input, model), beam, nbest, length_power });
    const [prediction] = (await post("/v1/predict", { ...rest, inputs: [given], attention: true, drawing: true }, signal)).predictions;
    return { model, prediction };
  }

  about({ request }) { return { model: request.model, input: sent(request.input), ...(request.oracle ? { oracle: request.oracle } : {}) }; }

  async loadTree(one, width) {
    one.trees ??= {};
    const { input, oracle, nbest, ...rest } = this.body(one.request);
    one.trees[width] ??= (await post("/v1/predict", { ...rest, inputs: [input], beam: width, nbest: 1, attention: false, tree: true, drawing: true })).predictions[0];
    return { tree: one.trees[width].tree, drawing: one.trees[width].tree_drawing };
  }

  async loadSteps(one) {
    one.steps ??= (await post("/v1/step", { ...this.about(one), prefix: begun(written(one)), count: 7, every: true })).steps;
    return one.steps;
  }

  async judge(one, wanted) {
    this.keep({ reference: wanted });
    const { model, input, beam } = this.body(one.request);
    return (await post("/v1/score", { model, inputs: [input], targets: [wanted], search: true, ...(beam ? { beam } : {}) })).scores[0];
  }

  // --- showing ------------------------------------------------------------------------------------------------------
  present(one) {
    const { prediction } = one;
    at("live").textContent = prediction.candidates[0].text || "\u2205";
    drawFacts(at("facts"), prediction, prediction.milliseconds);
    drawForced(at("forced"), one.request, { free: () => this.ask({ prefix: undefined }, "begins as it likes"), unlook: (row) => this.unlook(row) });
    drawFlags(at("flags"), prediction);
    this.choose(this.state.tab);
  }

  choose(tab) {
    this.keep({ tab: tab === "difference" ? "answer" : tab });
    this.state.tab = tab;
    this.drawTabs();
    for (const [name, { root }] of Object.entries(this.panels)) root.hidden = name !== this.state.tab;
    const one = this.tries.current;
    if (one) this.panels[this.state.tab].show(one, this.model, this.beside);
  }

  // An earlier try, as it was.
  back(one) {
    Object.assign(this.state, one.request);
    if (this.find(one.request.model)) {
      this.drawModels();
      this.drawSettings();
      this.inputs.build(this.model, one.request.input);
    }
    this.beside = null;
    this.busy?.abort();
    this.present(one);
  }

  compare(before, after) {
    this.compared = true;
    drawDifference(this.panels.difference.root, before, after);
    this.choose("difference");
  }

  clear() {
    at("live").textContent = "";
    for (const id of ["facts", "forced", "flags"]) at(id).replaceChildren();
    at("answer").removeAttribute("aria-busy");
  }

  tell(problem) {
    const place = at("problem");
    place.hidden = !problem;
    place.textContent = problem ? problem.message : "";
  }
}

async function start() {
  try {
    const { models } = await get("/v1/models");
    const studio = new Studio(models);
    await studio.restore();
    document.documentElement.dataset.ready = "";
  } catch (problem) {
    at("problem").hidden = false;
    at("problem").textContent = `The server does not answer: ${problem.message}`;
  }
}

start();
