// Training examples whose encodings are closest to that of the input.
import { make } from "/assets/elements.js";
import { button } from "./growing.js";
import { spoken } from "./inputs.js";

export class NeighboursPanel {
  constructor(root, { load, use }) {
    Object.assign(this, { root, load, use });
  }

  async show(one) {
    this.root.replaceChildren();
    make(this.root, "p", { class: "hint" }, "looking \u2026");
    const found = await this.load(one);
    this.root.replaceChildren();
    if (!found) return;
    make(this.root, "p", { class: "hint" }, `Of ${found.indexed.toLocaleString("en")} training examples, these are encoded most alike. Click one to read it.`);
    const list = make(this.root, "ol", { class: "neighbours" });
    for (const { distance, input, target } of found.neighbours) {
      const line = button(make(list, "li"), "", () => this.use(input), { class: "neighbour" });
      make(line, "bdi", {}, spoken(input));
      make(line, "span", {}, "\u2192");
      make(line, "bdi", {}, target ?? "");
      make(line, "small", { class: "num" }, distance.toFixed(3));
    }
  }
}
