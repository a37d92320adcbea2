// Adds pointing to planes: a text, its nearest neighbours, and lines to them. Text is only ever written as text, never as markup.
import { carried, make } from "./elements.js";

class Plane {
  constructor(root) {
    this.root = root;
    this.points = carried(root).points;
    this.plot = root.querySelector(".plot");
    this.links = root.querySelector(".links");
    this.tip = make(this.plot, "div", { class: "tip", role: "status" });
    root.querySelectorAll("[data-index]").forEach((element) => {
      const index = Number(element.dataset.index);
      element.tabIndex = element.matches(".point") ? 0 : -1;
      element.addEventListener("pointerenter", () => this.show(index));
      element.addEventListener("pointerleave", () => this.leave());
      element.addEventListener("focus", () => this.show(index));
      element.addEventListener("blur", () => this.leave());
    });
  }

  show(index) {
    this.leave();
    const point = this.points[index];
    this.root.querySelectorAll(`[data-index="${index}"]`).forEach((element) => element.classList.add("here"));
    make(this.tip, "b", { dir: "auto" }, point.text);
    if (point.group) make(this.tip, "span", { class: "group", dir: "auto" }, point.group);
    for (const [other, distance] of point.near) {
      const row = make(this.tip, "div");
      make(row, "span", {}, distance);
      make(row, "bdi", {}, this.points[other].text);
      this.link(point.at, this.points[other].at);
    }
    this.place(index);
  }

  link(from, to) {
    make(this.links, "line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1] });
  }

  place(index) {
    const frame = this.plot.getBoundingClientRect(), box = this.root.querySelector(`.point[data-index="${index}"]`).getBoundingClientRect();
    const left = box.right - frame.left + 12, room = frame.width - this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(0, left <= room ? left : box.left - frame.left - this.tip.offsetWidth - 12)}px`;
    this.tip.style.top = `${Math.max(0, Math.min(box.top - frame.top + 12, frame.height - this.tip.offsetHeight))}px`;
  }

  leave() {
    this.tip.replaceChildren();
    this.links.replaceChildren();
    this.root.querySelectorAll(".here").forEach((element) => element.classList.remove("here"));
  }
}

document.querySelectorAll(".seqloom-plane").forEach((root) => new Plane(root));
