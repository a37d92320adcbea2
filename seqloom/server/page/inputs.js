// What a model reads: a text field for each text, a place to drop a file for each picture, sound or video; and examples.
import { isolated, make } from "/assets/elements.js";
import { button, clipped, field } from "./growing.js";

// What a chooser of files offers: sounds are also read out of videos, and pictures that move are videos.
const FILES = { image: "image/*", sound: "audio/*,video/*", video: "video/*,.mkv,.avi,.gif,.apng" };
const TAGS = { image: "img", audio: "audio", video: "video" };
const LONGEST_EXAMPLE = 44;

export const isFile = (source) => source.kind in FILES;

// An input in words, for chips and labels.
export function spoken(input) {
  if (typeof input === "string") return input;
  const { features = [], ...sources } = input ?? {};
  const parts = Object.values(sources).map((one) => (typeof one === "object" && !Array.isArray(one) ? "file" : String(one)));
  return [...parts, ...(features.length ? [`(${features.join(" ")})`] : [])].map((part, _, all) => (all.length > 1 ? isolated(part) : part)).join(" \u00b7 ");
}

export function textsOf(input, model) {
  if (typeof input === "string" || Array.isArray(input)) return { [model.sources[0]?.name ?? "source"]: input };
  return input ?? {};
}

// An input as another model takes it: features only where it has learnt some.
export function fitting(input, model) {
  if (!input?.features || readsFeatures(model)) return input;
  const { features: _, ...sources } = input;
  return model.sources.length === 1 && !isFile(model.sources[0]) ? sources[model.sources[0].name] : sources;
}

const readsFeatures = (model) => model.examples.some((one) => one.input?.features?.length);

const base64 = (blob) => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
  reader.onerror = () => reject(reader.error);
  reader.readAsDataURL(blob);
});

export class Inputs {
  constructor(form, examples, changed) {
    this.form = form;
    this.examples = examples;
    this.changed = changed;
    form.addEventListener("submit", (event) => event.preventDefault());
    // A file that is dropped anywhere goes to the first place that takes one.
    addEventListener("dragover", (event) => { if (this.places.length) event.preventDefault(); });
    addEventListener("drop", (event) => {
      const [file] = event.dataTransfer.files;
      if (!file || !this.places.length) return;
      event.preventDefault();
      this.take(this.placeFor(event.target, file), file);
    });
    this.places = [];
  }

  build(model, input) {
    this.model = model;
    this.values = { ...textsOf(input, model) };
    this.features = this.values.features ?? [];
    delete this.values.features;
    this.form.replaceChildren();
    this.places = [];
    for (const source of model.sources) {
      if (isFile(source)) this.drawPlace(source);
      else this.drawText(source);
    }
    const tagged = this.features.length || readsFeatures(model);
    if (tagged) {
      const line = field(this.form, "features", { type: "text", value: this.features.join(" "), placeholder: "none", spellcheck: false }, (text) => {
        this.features = text.split(/\s+/).filter(Boolean);
        this.tell({ typed: true });
      });
      line.addEventListener("change", () => this.changed(null));
    }
    this.drawExamples();
  }

  drawText(source) {
    const value = this.values[source.name];
    const area = field(this.form, source.name, { rows: 2, dir: "auto", spellcheck: false, "data-source": source.name, placeholder: source.kind === "vector" ? "numbers" : "type here" }, (text) => {
      this.values[source.name] = text;
      this.tell({ typed: true });
    }, "textarea");
    area.value = value === undefined ? "" : Array.isArray(value) ? value.join(" ") : value;
    area.addEventListener("change", () => this.changed(null));
  }

  drawPlace(source) {
    const place = make(this.form, "div", { class: "drop", "data-source": source.name });
    place.source = source;
    make(place, "span", { dir: "auto" }, source.name);
    const preview = make(place, "div", { class: "preview" });
    const chosen = field(place, `drop ${source.kind === "image" ? "an image" : `a ${source.kind}`} here, or choose a file`, { type: "file", accept: FILES[source.kind] });
    chosen.addEventListener("change", () => { if (chosen.files[0]) this.take(place, chosen.files[0]); });
    place.addEventListener("dragenter", () => place.classList.add("over"));
    for (const name of ["dragleave", "drop"]) place.addEventListener(name, () => place.classList.remove("over"));
    const value = this.values[source.name];
    if (typeof value === "string") make(preview, "bdi", {}, value);
    else if (value?.base64 && value.address) this.preview(place, value);
    this.places.push(place);
  }

  placeFor(target, file) {
    const own = target.closest?.(".drop");
    return own ?? this.places.find((one) => file.type.startsWith(FILES[one.source.kind].split("*")[0])) ?? this.places[0];
  }

  async take(place, file) {
    const shown = { address: URL.createObjectURL(file), type: file.type, name: file.name };
    this.preview(place, shown);
    this.values[place.source.name] = { base64: await base64(file), ...shown };
    this.tell({ typed: false, label: file.name });
  }

  // Shown as what the file is; by its name if the browser cannot show it.
  preview(place, { address, type, name }) {
    const preview = place.querySelector(".preview"), tag = TAGS[type.split("/")[0]];
    preview.replaceChildren();
    const named = () => { preview.replaceChildren(); make(preview, "bdi", {}, name); };
    if (!tag) return void named();
    const element = make(preview, tag, tag === "img" ? { alt: "the chosen file" } : { controls: "" });
    element.addEventListener("error", named);
    element.src = address;
  }

  drawExamples() {
    this.examples.replaceChildren();
    for (const example of this.model.examples) {
      const given = example.input ?? example.text;
      button(this.examples, clipped(spoken(given), LONGEST_EXAMPLE) || "\u2205", () => {
        this.build(this.model, given);
        this.changed(this.input, { typed: false, label: "example", reference: example.target });
      }, { class: "chip", dir: "auto", title: spoken(given) });
    }
  }

  // As the service takes it; the address of a preview stays here.
  get input() {
    const names = this.model.sources.map((one) => one.name);
    const values = Object.fromEntries(names.map((name) => [name, this.values[name] ?? ""]));
    if (names.length === 1 && !this.features.length && typeof values[names[0]] === "string" && !isFile(this.model.sources[0])) return values[names[0]];
    return this.features.length ? { ...values, features: this.features } : values;
  }

  // Whether there is something to ask about.
  get complete() {
    return this.model.sources.every((source) => {
      const value = this.values[source.name];
      return typeof value === "string" ? value.trim() !== "" : Boolean(value);
    });
  }

  tell(how) { this.changed(this.input, how); }
}
