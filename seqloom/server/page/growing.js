// Elements from data: what Python's views made as markup arrives as [name, attributes, inside], and text becomes text nodes.
import { make } from "/assets/elements.js";

const NAMES = new Set([
  "section", "div", "p", "span", "b", "i", "u", "bdi", "small", "h2", "dl", "dt", "dd", "ol", "li", "button", "img", "audio",
  "svg", "g", "rect", "text", "polyline", "polygon", "circle", "line", "path", "title", "image",
]);
const REFUSED = /^(on|href$|src|xlink|action|formaction)/i;

// A picture or a sound that a drawing holds itself.
const HELD = { image: ["href", "data:image/png;base64,"], img: ["src", "data:image/png;base64,"], audio: ["src", "data:audio/wav;base64,"] };
const isHeld = (name, key, value) => HELD[name]?.[0] === key && value.startsWith(HELD[name][1]);

export function grow(parent, [name, attributes, inside]) {
  if (!NAMES.has(name)) throw new Error(`No element ${name} is expected here.`);
  const wanted = Object.entries(attributes).filter(([key, value]) => !REFUSED.test(key) || isHeld(name, key, value));
  const element = make(parent, name, Object.fromEntries(wanted));
  for (const one of inside) {
    if (typeof one === "string") element.append(one);
    else grow(element, one);
  }
  return element;
}

// A button, a text field and the like, with what happens.
export function button(parent, text, act, attributes = {}) {
  const element = make(parent, "button", { type: "button", ...attributes }, text);
  element.addEventListener("click", act);
  return element;
}

export function field(parent, caption, attributes, act, kind = "input") {
  const label = make(parent, "label", { class: "field" });
  make(label, "span", { dir: "auto" }, caption);
  const element = make(label, kind, attributes);
  if (act) element.addEventListener("input", () => act(element.value));
  return element;
}

export const number = (value, digits = 3) => {
  const text = Math.abs(value) < 0.5 * 10 ** -digits ? (0).toFixed(digits) : value.toFixed(digits);
  return text.replace("-", "\u2212");
};
export const probability = (value) => (value >= 0.0005 || value === 0 ? value.toFixed(3) : value.toExponential(0).replace("-", "\u2212"));

// What a person reads for a symbol.
const SIGNS = { "": "\u2205", " ": "\u2423", "\n": "\u21b5", "\t": "\u21e5", "\u00a0": "\u237d", "\u3000": "\u2423" };
export const visible = (symbol) => SIGNS[symbol] ?? symbol;

// Symbols that no output can be made to go on with.
const MARKS = new Set(["<begin>", "<end>", "<unknown>"]);
export const isMark = (symbol) => MARKS.has(symbol);

export const clipped = (text, longest) => ([...text].length > longest ? `${[...text].slice(0, longest - 1).join("")}\u2026` : text);

export async function copy(text, told) {
  await navigator.clipboard.writeText(text).catch(() => {
    const area = make(document.body, "textarea", { class: "offscreen" });
    area.value = text;
    area.select();
    document.execCommand("copy");
    area.remove();
  });
  const before = told.textContent;
  told.textContent = "copied";
  setTimeout(() => { told.textContent = before; }, 1200);
}

export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
