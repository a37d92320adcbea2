// Tries as a tree: each knows what it was made from, so undoing and then trying something else loses nothing.
import { make } from "/assets/elements.js";
import { button } from "./growing.js";

export class Tries {
  constructor(root, { show, compare }) {
    this.root = root;
    this.show = show;
    this.compare = compare;
    this.all = [];
    this.current = null;
    this.marked = null;
    this.draw();
  }

  // Typing goes on in the same try until something else happens.
  add(request, prediction, label, { typed = false } = {}) {
    const now = this.current;
    if (typed && now && now.typed && !now.children.length && now.request.model === request.model) {
      Object.assign(now, { request, prediction, label });
      this.draw();
      return now;
    }
    const made = { number: this.all.length + 1, parent: now, children: [], request, prediction, label, typed };
    if (now) {
      now.children.push(made);
      now.next = made;
    }
    this.all.push(made);
    this.current = made;
    this.draw();
    return made;
  }

  settle() { if (this.current) this.current.typed = false; }
  get canUndo() { return Boolean(this.current?.parent); }
  get canRedo() { return Boolean(this.current?.next); }
  undo() { if (this.canUndo) this.go(this.current.parent); }
  redo() { if (this.canRedo) this.go(this.current.next); }

  go(one) {
    this.settle();
    if (one.parent) one.parent.next = one;
    this.current = one;
    this.draw();
    this.show(one);
  }

  draw() {
    this.root.replaceChildren();
    this.root.hidden = this.all.length < 2;
    const head = make(this.root, "div", { class: "row" });
    make(head, "h2", {}, "tries");
    button(head, "\u21b6 undo", () => this.undo(), { title: "Ctrl+Z outside of text fields" }).disabled = !this.canUndo;
    button(head, "\u21b7 redo", () => this.redo(), { title: "Ctrl+Shift+Z outside of text fields" }).disabled = !this.canRedo;
    const list = make(this.root, "ul", { class: "tree" });
    this.all.filter((one) => !one.parent).forEach((one) => this.drawTry(list, one, 0));
    if (this.all.length > 1) make(this.root, "p", { class: "hint" }, "\u00b1 shows the signed difference to the current try.");
  }

  drawTry(list, one, depth) {
    const item = make(list, "li", { style: `--depth:${depth}` });
    const chosen = button(item, "", () => this.go(one), { class: "try", "aria-current": one === this.current });
    make(chosen, "small", {}, `${one.number} ${one.label}`);
    make(chosen, "bdi", {}, one.prediction.candidates[0].text || "\u2205");
    if (one !== this.current)
      button(item, "\u00b1", () => this.compare(one, this.current), { class: "against", "aria-label": `difference of try ${one.number} and the current one` });
    // Only where the ways part does a line move in.
    one.children.forEach((child) => this.drawTry(list, child, depth + (one.children.length > 1 ? 1 : 0)));
  }
}
