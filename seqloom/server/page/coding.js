// The same from elsewhere: figures to keep, the command that makes them, and requests from code.
import { make } from "/assets/elements.js";
import { button, copy, save } from "./growing.js";
import { file } from "./service.js";

const TREE_WIDTH = 3;

// As a POSIX shell reads it as one word.
export const quoted = (text) => (/^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
const python = (value) => JSON.stringify(value, null, 4).replace(/\btrue\b/g, "True").replace(/\bfalse\b/g, "False").replace(/\bnull\b/g, "None");

// What `explain` takes for the source: a text, or several sources as JSON. Files are named by the person.
function sourceWord(input) {
  if (typeof input === "string") return quoted(input);
  const { features, ...sources } = input;
  const named = Object.fromEntries(Object.entries(sources).map(([name, value]) => [name, typeof value === "object" && !Array.isArray(value) ? "FILE" : value]));
  const names = Object.keys(named);
  return quoted(names.length === 1 ? String(named[names[0]]) : JSON.stringify(named));
}

export function commandLine(model, request, figure, form, beginning = "") {
  const words = ["seqloom", "explain", quoted(model.folder), sourceWord(request.input)];
  for (const one of request.input?.features ?? []) words.push("--feature", quoted(one));
  if (figure === "tree") words.push("--tree", "--beam", TREE_WIDTH);
  else if (request.beam) words.push("--beam", request.beam);
  if (figure === "steps") words.push("--steps");
  if (beginning) words.push("--prefix", quoted(beginning));
  if (figure === "map" && request.oracle) words.push("--oracle", quoted(JSON.stringify(request.oracle)));
  return [...words, "--out", `${figure}.${form}`].join(" ");
}

// What is sent, with long files named instead of written out.
export function shownRequest(request) {
  const given = request.input && typeof request.input === "object"
    ? Object.fromEntries(Object.entries(request.input).map(([name, value]) => [name, value?.base64 ? { base64: "BASE64 OF THE FILE" } : value]))
    : request.input;
  const { input, ...rest } = request;
  return { ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined && value !== null)), inputs: [given] };
}

export const curl = (path, body) => `curl ${location.origin}${path} \\\n  -H 'Content-Type: application/json' \\\n  -d ${quoted(JSON.stringify(body))}`;
export const pythonCode = (path, body) => `import json
import urllib.request

body = ${python(body)}
request = urllib.request.Request(
    "${location.origin}${path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
)
answer = json.load(urllib.request.urlopen(request))
print(answer)
`;
export const ownPython = (model, request) => `import seqloom

predictor = seqloom.load(${JSON.stringify(model.folder)})
[prediction] = predictor.predict([${python(shownRequest(request).inputs[0])}]${request.beam ? `, beam=${request.beam}` : ""}${request.nbest > 1 ? `, nbest=${request.nbest}` : ""})
print(prediction.text)
prediction.save("map.svg")
`;

// The text that an output was made to begin with.
function beginningOf({ request: { prefix }, prediction }) {
  if (!prefix?.length) return "";
  if (typeof prefix === "string") return prefix;
  const [best] = prediction.candidates, apart = best.text.includes(" ") && !best.tokens.some((token) => /[\s\u2581]/.test(token)) ? " " : "";
  return prefix.map(({ symbol }) => symbol.replace("\u2581", " ")).join(apart).trim();
}

export function codeBlock(parent, title, text) {
  const box = make(parent, "section", { class: "code" }), head = make(box, "div", { class: "row" });
  make(head, "h2", {}, title);
  const told = button(head, "copy", () => copy(text, told));
  make(box, "pre", { tabindex: 0 }, text);
}

export class CodePanel {
  constructor(root, { requestOf, told }) {
    Object.assign(this, { root, requestOf, told, figure: "map" });
  }

  show(one, model) {
    this.root.replaceChildren();
    const request = this.requestOf(one), figures = ["map", ...(model.can.includes("tree") ? ["tree"] : []), ...(model.heads ? ["steps"] : [])];
    if (!figures.includes(this.figure)) this.figure = "map";
    const head = make(this.root, "div", { class: "row" });
    make(head, "h2", {}, "figure");
    for (const name of figures) button(head, name, () => { this.figure = name; this.show(one, model); }, { "aria-pressed": name === this.figure });
    make(head, "span", { class: "hint" }, "download ");
    for (const form of ["svg", "png", "html"]) button(head, form.toUpperCase(), (event) => this.download(event.currentTarget, request, form));
    button(head, "JSON", () => save(new Blob([JSON.stringify(one.prediction, null, 1)], { type: "application/json" }), "prediction.json"));
    codeBlock(this.root, "the command that makes this figure", commandLine(model, request, this.figure, "svg", beginningOf(one)));
    const body = shownRequest(request);
    codeBlock(this.root, "curl", curl("/v1/predict", body));
    codeBlock(this.root, "Python, over HTTP", pythonCode("/v1/predict", body));
    codeBlock(this.root, "Python, with seqloom", ownPython(model, request));
  }

  async download(pressed, { input, nbest, ...rest }, form) {
    pressed.disabled = true;
    // As the command has it: a tree of its own width, and of maps all outputs of the beam.
    const asked = this.figure === "tree" ? { ...rest, beam: TREE_WIDTH } : this.figure === "map" ? { ...rest, nbest } : rest;
    try {
      save(await file("/v1/figure", { ...asked, inputs: [input], figure: this.figure, form }), `${this.figure}.${form}`);
    } catch (problem) {
      this.told(problem);
    }
    pressed.disabled = false;
  }
}
