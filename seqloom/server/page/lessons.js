// Five guided steps, on the models of `seqloom demo lesson`.
import { make } from "/assets/elements.js";
import { button } from "./growing.js";

const LONG = "Donnerstag, 3. Mai 1979", SHORT = "3 mai 1979";

const STEPS = [
  {
    title: "One vector for everything",
    text: "The encoder reads the whole date and hands over one vector, the first state of the decoder. From then on the decoder sees nothing of the source but its own memory.",
    tasks: [
      ["a short date", { model: "no-attention", beside: "", tab: "answer", input: SHORT }],
      ["a long date", { model: "no-attention", beside: "", tab: "answer", input: LONG }],
      ["how sure was it, symbol by symbol?", { model: "no-attention", beside: "", tab: "reasons", input: LONG }],
    ],
    question: "Where does the doubt sit?",
    answer: "Orange behind the output is doubt. It sits where details of the source are needed, in months and days: they have to survive in one vector until they are written.",
  },
  {
    title: "The same vector at every step",
    text: "Now the summary of the source is an input of the decoder at every step, so it cannot be forgotten. It is still one vector, and still the same for every symbol.",
    tasks: [
      ["beside the model of step 1", { model: "every-step", beside: "no-attention", tab: "answer", input: LONG }],
      ["another date", { model: "every-step", beside: "no-attention", tab: "answer", input: "le mercredi 28 f\u00e9vrier 2046" }],
    ],
    question: "Does it write better?",
    answer: "Often a little: nothing is lost on the way. But whatever did not fit into the vector is still missing.",
  },
  {
    title: "Attention: a new look at every step",
    text: "Instead of one vector, the decoder asks at every step: which places of the source matter now? It gets their weighted mean. The ribbons are the weights; point at a symbol of the output.",
    tasks: [
      ["the same date, with attention", { model: "attention", beside: "", tab: "answer", input: LONG }],
      ["beside the model of step 2", { model: "attention", beside: "every-step", tab: "answer", input: LONG }],
      ["from right to left", { model: "attention", beside: "", tab: "answer", input: "\u0663\u0661 \u062f\u064a\u0633\u0645\u0628\u0631 \u0662\u0660\u0660\u0669" }],
    ],
    question: "Where does it look for the month?",
    answer: "At the letters of its name, though the month stands elsewhere in the output than in the source. Nobody told it so: the weights are learnt from pairs alone.",
  },
  {
    title: "Beam search: several beginnings at once",
    text: "The most probable next symbol need not lead to the most probable output. A beam keeps several beginnings, and the tree shows which were kept, which were pruned, and why.",
    tasks: [
      ["a date that can be read in two ways", { model: "attention", beside: "", tab: "search", input: "03/05/1979" }],
      ["greedy search", { model: "attention", beside: "", tab: "search", input: "03/05/1979", beam: 1 }],
      ["a wide beam, all outputs", { model: "attention", beside: "", tab: "answer", input: "03/05/1979", beam: 5, nbest: 5 }],
    ],
    question: "What if the search had gone another way?",
    answer: "Click a pruned symbol of the tree: the model goes on from there, and the sum below each symbol says what it costs.",
  },
  {
    title: "Be the oracle",
    text: "If attention decides what is written, then whoever decides attention decides the output. Draw where the model shall look, and see what it writes then.",
    tasks: [
      ["draw where it looks", { model: "attention", beside: "", tab: "suppose", input: "3 May 1979" }],
      ["a date with two numbers", { model: "attention", beside: "", tab: "suppose", input: "03/05/1979" }],
    ],
    question: "Can you make it write another day?",
    answer: "Choose the last digit of the output, and draw its weights onto another digit of the source. \u00b1 beside an earlier try shows what changed.",
  },
];
export const LESSON_MODELS = ["no-attention", "every-step", "attention"];

export class Lesson {
  constructor(root, { go, moved }) {
    Object.assign(this, { root, go, moved, step: 0 });
  }

  open(step) {
    this.step = Math.min(Math.max(step, 0), STEPS.length - 1);
    this.root.hidden = false;
    this.draw();
    this.moved(this.step);
  }

  close() { this.root.hidden = true; }

  draw() {
    const { title, text, tasks, question, answer } = STEPS[this.step];
    this.root.replaceChildren();
    const ways = make(this.root, "nav", { class: "ways", "aria-label": "Steps of the lesson" });
    STEPS.forEach((one, index) => button(ways, String(index + 1), () => this.enter(index), { "aria-current": index === this.step ? "step" : "false", title: one.title }));
    make(this.root, "h2", {}, title);
    make(this.root, "p", {}, text);
    const line = make(this.root, "div", { class: "words" });
    for (const [name, change] of tasks) button(line, name, () => this.go(change), { class: "chip" });
    const asked = make(this.root, "details");
    make(asked, "summary", {}, question);
    make(asked, "p", {}, answer);
    const on = make(this.root, "div", { class: "row" });
    button(on, "back", () => this.enter(this.step - 1)).disabled = !this.step;
    button(on, "next", () => this.enter(this.step + 1)).disabled = this.step === STEPS.length - 1;
  }

  // A step begins with its first task.
  enter(step) {
    this.open(step);
    this.go(STEPS[this.step].tasks[0][1]);
  }
}
