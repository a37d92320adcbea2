// The tree of the search: drawn as `explain --tree` draws it; a click on a node goes on from there.
import { make } from "/assets/elements.js";
import { field, grow, number } from "./growing.js";

export class SearchPanel {
  constructor(root, { load, go }) {
    Object.assign(this, { root, load, go, width: 3 });
    const tools = make(root, "div", { class: "row" });
    this.wide = field(tools, "beam width", { type: "number", min: 1, max: 10, value: this.width });
    this.wide.addEventListener("change", () => { this.setWidth(Math.max(1, Number(this.wide.value) || 1)); this.refresh(); });
    make(tools, "span", { class: "hint" }, "Click a symbol to go on from it; pruned ones, too.");
    this.told = make(root, "p", { class: "told", role: "status" });
    this.plot = make(root, "div", { class: "wide" });
    this.table = make(root, "div");
  }

  setWidth(width) {
    this.width = width;
    this.wide.value = width;
  }

  async show(one) { this.one = one; return this.refresh(); }

  async refresh() {
    if (!this.one) return;
    const found = await this.load(this.one, this.width);
    if (!found) return;
    const { tree, drawing } = found;
    this.plot.replaceChildren();
    this.told.textContent = `${tree.steps.length} steps, ${tree.steps.flat().length} continuations looked at, ${tree.steps.flat().filter((one) => !["pruned", "forbidden"].includes(one.fate)).length} kept. Point at one to see why.`;
    grow(this.plot, drawing);
    const numbers = tree.steps.flatMap((step, index) => step.map((_, place) => [index, place]));
    this.plot.querySelectorAll(".node").forEach((node) => this.bring(node, tree, ...numbers[Number(node.dataset.index)]));
    this.drawOutputs(tree);
  }

  bring(node, tree, step, place) {
    const told = node.querySelector("title").textContent;
    node.setAttribute("tabindex", 0);
    node.setAttribute("role", "button");
    node.setAttribute("aria-label", told);
    const go = () => this.go(path(tree, step, place));
    node.addEventListener("click", go);
    node.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); go(); } });
    for (const name of ["pointerenter", "focus"]) node.addEventListener(name, () => { this.told.textContent = told; });
  }

  drawOutputs(tree) {
    this.table.replaceChildren();
    const power = tree.length_power;
    make(this.table, "p", { class: "hint" }, power ? `Outputs are ranked by log p / symbols^${power}; raw sums prune within a step.` : "Outputs are ranked by log p.");
    const list = make(this.table, "ol", { class: "outputs" });
    for (const one of tree.outputs) {
      const item = make(list, "li");
      make(item, "bdi", {}, one.text || "\u2205");
      make(item, "span", { class: "num" }, `score ${number(one.score)} \u00b7 log p ${number(one.log_prob)} \u00b7 ${one.length} symbols${one.finished ? "" : " \u00b7 cut off"}`);
    }
    const greedy = make(list, "li", { class: "greedy" });
    make(greedy, "bdi", {}, tree.greedy.text || "\u2205");
    make(greedy, "span", { class: "num" }, `greedy search \u00b7 log p ${number(tree.greedy.log_prob)}`);
  }
}

// The branches on the way to a node, itself included.
export function path(tree, step, place) {
  const branches = [];
  for (let at = place, index = step; at >= 0 && index >= 0; index -= 1) {
    branches.unshift(tree.steps[index][at]);
    at = tree.steps[index][at].parent;
  }
  return branches;
}
