// A page that runs an exported model: reads what is typed, writes with the model, and draws where it looked.
import { mapData } from "./arranging.js";
import { Model, search } from "./decoding.js";
import { carried, make } from "./elements.js";
import { HeatMap } from "./map.js";
import { END, Vocabulary } from "./tokenisation.js";

// A file that the page carries: base64 of gzip.
async function unpacked(name) {
  const packed = atob(document.querySelector(`script[data-file="${name}"]`).textContent);
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function openModel(about) {
  const code = URL.createObjectURL(new Blob([await unpacked("runtime.mjs")], { type: "text/javascript" }));
  const runtime = await import(code);
  URL.revokeObjectURL(code);
  // One thread: several need a server that isolates the page. The binary is here, so that nothing is asked for elsewhere.
  runtime.env.wasm.numThreads = 1;
  runtime.env.wasm.wasmBinary = (await unpacked("runtime.wasm")).buffer;
  runtime.env.logLevel = "fatal";
  return Model.open(runtime, about, { encoder: await unpacked("encoder.onnx"), step: await unpacked("step.onnx") });
}

const number = (value) => (Math.round(value * 1000) / 1000 + 0).toFixed(3).replace("-", "\u2212");

class Page {
  constructor(root) {
    this.data = carried(root);
    this.vocabularies = Object.fromEntries(Object.entries(this.data.vocabularies).map(([side, body]) => [side, new Vocabulary(body)]));
    Object.assign(this, { root, form: root.querySelector("form"), text: root.querySelector("textarea"), state: root.querySelector(".state") });
    this.result = root.querySelector(".result");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.answer();
    });
    this.text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.answer();
    });
    this.answer();
  }

  // One at a time: what is typed while the model writes is answered after it.
  async answer() {
    this.waiting = true;
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.waiting) {
        this.waiting = false;
        await this.answerOnce();
      }
    } catch (problem) {
      this.state.textContent = `The model cannot run in this browser: ${problem.message || problem}`;
      this.root.dataset.ready = "failed";
    }
    this.busy = false;
  }

  async answerOnce() {
    if (!this.model) {
      this.state.textContent = "The model is being opened\u2026";
      this.model = await openModel(this.data.graphs);
    }
    if (!this.text.value.trim()) {
      this.state.textContent = "Type a text, and press Enter.";
      return;
    }
    const text = this.text.value, { source: side, target } = this.vocabularies, feature = this.form.elements.feature;
    const symbols = side.source(text, feature && feature.value ? [feature.value] : []).slice(0, this.data.first ?? undefined);
    if (symbols.length > this.data.longest) {
      this.state.textContent = `This is ${symbols.length} symbols long; the page reads ${this.data.longest} at most.`;
      return;
    }
    const { factor, extra, ...rules } = this.data.rules, limit = rules.closed ? 2 : Math.max(Math.floor(factor * symbols.length) + extra, 1);
    this.state.textContent = "Writing\u2026";
    await new Promise((resolve) => { setTimeout(resolve, 0); }); // let the browser show it
    const began = performance.now(), width = Number(this.form.elements.width.value);
    const found = await search(this.model, this.data.source, symbols.map((one) => one.id), width, { ...rules, limit, forbid: new Set(rules.forbid) });
    const seconds = (performance.now() - began) / 1000;
    const outputs = found.map((one) => {
      const ids = one.symbols.filter((id) => id !== END);
      return { ...one, ended: one.finished, text: target.decode(ids), tokens: ids.map((id) => target.symbol(id)) };
    });
    this.draw(text, symbols, outputs);
    this.state.textContent = `${seconds.toFixed(2)} s, here in the browser`;
    this.root.dataset.ready = String(Number(this.root.dataset.ready || 0) + 1);
  }

  // The same markup as views/maps/heatmap.py writes, which the map's script brings to life.
  draw(text, symbols, outputs) {
    const [first] = outputs, map = make(this.result, "section", { class: "seqloom-map" });
    const lines = make(map, "dl", { class: "texts" });
    const line = (caption, kind, shown) => {
      make(lines, "dt", { dir: "auto" }, caption);
      const place = make(lines, "dd", shown.length > 200 ? { class: "long" } : {});
      make(make(place, "span", { class: `shadeable ${kind}`, "data-name": kind === "source" ? caption : "" }), "span", { class: "run", dir: "auto" }, shown);
      return place;
    };
    line(this.data.source, "source", text);
    const doubt = make(line("output", "output", first.text), "span", { class: "doubt-key" }, "less sure");
    make(doubt, "i");
    make(doubt, "span", { class: "certainty" });
    this.drawCandidates(map, outputs);
    if (!first.heads) make(map, "p", { class: "note" }, this.data.note);
    make(map, "div", { class: "controls" });
    make(make(map, "div", { class: "plot" }), "div", { class: "scroll" });
    if (first.heads) this.drawLegend(map, symbols.some((one) => one.unknown));
    this.result.replaceChildren(map);
    map.heatMap = new HeatMap(map, mapData(this.data.source, text, symbols, outputs, this.data.drawing));
  }

  drawCandidates(map, outputs) {
    const scores = (parent, one) => {
      make(parent, "span", {}, `score ${number(one.score)}`);
      make(parent, "span", {}, `log p ${number(one.logProbs.reduce((sum, value) => sum + value, 0))}`);
      if (!one.finished) make(parent, "span", {}, "unfinished");
    };
    if (outputs.length === 1) return scores(make(map, "p", { class: "scores" }), outputs[0]);
    const list = make(map, "ol", { class: "candidates", "aria-label": "Outputs, best first" });
    return outputs.forEach((one, index) => {
      const button = make(make(list, "li"), "button", { type: "button", class: "candidate", "aria-pressed": index === 0 });
      make(button, "b", {}, String(index + 1));
      make(button, "span", { class: "text", dir: "auto" }, one.text || "\u2205");
      scores(make(button, "span", { class: "num" }), one);
    });
  }

  drawLegend(map, unknown) {
    const legend = make(map, "div", { class: "legend" });
    make(legend, "span", {}, "weight");
    make(legend, "span", {}, "0");
    make(legend, "i");
    make(legend, "span", {}, "1");
    if (unknown) make(legend, "span", { class: "unknown-key" }, this.data.unknown);
  }
}

document.querySelectorAll(".seqloom-web").forEach((root) => new Page(root));
