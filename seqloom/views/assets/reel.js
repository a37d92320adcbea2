// A film and where a model looked in it: the film runs on a screen, lit as the chosen word lights it, word after word.
import { full, make } from "./elements.js";

const FRAME_PACE = 160, WORD_PAUSE = 500;

export class Reel {
  constructor(root, owner, data) {
    Object.assign(this, { root, owner, data, frame: 0, timer: 0, word: -1 });
    this.count = Number(root.dataset.frames);
    this.picture = root.querySelector(".screen .picture");
    this.status = root.querySelector(".status");
    this.mask = make(this.picture, "span", { class: "mask" });
    const tools = root.querySelector(".tools");
    this.player = make(tools, "button", { type: "button", class: "play" }, "\u25b6 play");
    this.player.addEventListener("click", () => this.play(!this.timer));
    this.slider = make(tools, "input", { type: "range", min: 0, max: this.count - 1, value: 0, "aria-label": "frame" });
    this.slider.addEventListener("input", () => { this.play(false); this.show(Number(this.slider.value)); });
    this.rows = [...root.querySelectorAll(".rows li")].slice(1);
    this.rows.forEach((row, index) => {
      Object.assign(row, { tabIndex: 0 });
      row.setAttribute("role", "button");
      const choose = () => { this.play(false); owner.pin(owner.pinned === index ? -1 : index); };
      row.addEventListener("click", choose);
      row.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); } });
      row.addEventListener("pointerenter", (event) => { if (event.pointerType !== "touch" && !this.timer) owner.point(index, -1); });
      row.addEventListener("pointerleave", () => { if (!this.timer) owner.rest(); });
    });
    this.show(0);
  }

  // The strip is that of the best output, so other outputs have no light.
  get lit() { return this.owner.choice.candidate === 0 && this.word >= 0 && this.word < this.data.masks.length; }

  follow(word) {
    if (word === this.word) return;
    this.word = word;
    this.rows.forEach((row, index) => row.classList.toggle("here", index === word));
    if (this.lit && !this.timer) this.frame = this.data.shares[word].indexOf(Math.max(...this.data.shares[word]));
    this.show(this.frame);
  }

  show(frame) {
    this.frame = frame;
    this.slider.value = frame;
    const place = this.count > 1 ? `0 ${(frame / (this.count - 1)) * 100}%` : "0 0";
    this.picture.style.backgroundPosition = place;
    this.mask.hidden = !this.lit;
    if (this.lit) {
      this.mask.style.backgroundImage = this.data.masks[this.word];
      this.mask.style.backgroundPosition = place;
    }
    this.status.replaceChildren();
    make(this.status, "span", { class: "num" }, `frame ${frame + 1} of ${this.count}`);
    if (this.lit) {
      make(this.status, "bdi", { class: "word" }, full(this.owner.candidate.rows[this.word]));
      make(this.status, "span", { class: "num" }, `weight ${this.data.shares[this.word][frame].toFixed(3)}`);
    }
  }

  // Through all words, the whole film for each of them; or the film alone if there is no light.
  play(on) {
    clearTimeout(this.timer);
    this.timer = 0;
    if (on) {
      const words = this.owner.choice.candidate === 0 ? this.rows.length : 0;
      let word = words ? Math.max(this.owner.pinned, 0) : -1, frame = 0;
      const step = () => {
        if (frame >= this.count) { frame = 0; word += 1; }
        if (word >= words) return this.play(false) || this.owner.pinAll(-1);
        if (frame === 0) this.owner.pinAll(word);
        this.show(frame);
        frame += 1;
        this.timer = setTimeout(step, frame >= this.count ? WORD_PAUSE : FRAME_PACE);
        return undefined;
      };
      this.timer = setTimeout(step, 0);
    }
    this.player.textContent = this.timer ? "\u275a\u275a pause" : "\u25b6 play";
  }
}
