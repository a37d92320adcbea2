// From text to symbol ids and back, as a stored vocabulary says: the counterpart of seqloom/data/vocabulary.
export const BEGIN = 0, END = 1, UNKNOWN = 2;
const SPACE = "\u2581", UNKNOWN_PENALTY = 10;
// White space as Unicode has it: JavaScript's own \s lacks U+0085 and has U+FEFF.
const WHITE = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/u;
// Punctuation as Python's tokenizers know it, that of Unicode 8: browsers know later marks, each those of its own year.
const PUNCTUATION = new RegExp(`[${[
  String.raw`\u0021-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007e\u00a1\u00a7\u00ab\u00b6\u00b7\u00bb\u00bf\u037e\u0387`,
  String.raw`\u055a-\u055f\u0589\u058a\u05be\u05c0\u05c3\u05c6\u05f3\u05f4\u0609\u060a\u060c\u060d\u061b\u061e\u061f`,
  String.raw`\u066a-\u066d\u06d4\u0700-\u070d\u07f7-\u07f9\u0830-\u083e\u085e\u0964\u0965\u0970\u0af0\u0df4\u0e4f\u0e5a`,
  String.raw`\u0e5b\u0f04-\u0f12\u0f14\u0f3a-\u0f3d\u0f85\u0fd0-\u0fd4\u0fd9\u0fda\u104a-\u104f\u10fb\u1360-\u1368\u1400`,
  String.raw`\u166d\u166e\u169b\u169c\u16eb-\u16ed\u1735\u1736\u17d4-\u17d6\u17d8-\u17da\u1800-\u180a\u1944\u1945\u1a1e`,
  String.raw`\u1a1f\u1aa0-\u1aa6\u1aa8-\u1aad\u1b5a-\u1b60\u1bfc-\u1bff\u1c3b-\u1c3f\u1c7e\u1c7f\u1cc0-\u1cc7\u1cd3`,
  String.raw`\u2010-\u2027\u2030-\u2043\u2045-\u2051\u2053-\u205e\u207d\u207e\u208d\u208e\u2308-\u230b\u2329\u232a`,
  String.raw`\u2768-\u2775\u27c5\u27c6\u27e6-\u27ef\u2983-\u2998\u29d8-\u29db\u29fc\u29fd\u2cf9-\u2cfc\u2cfe\u2cff\u2d70`,
  String.raw`\u2e00-\u2e2e\u2e30-\u2e42\u3001-\u3003\u3008-\u3011\u3014-\u301f\u3030\u303d\u30a0\u30fb\ua4fe\ua4ff`,
  String.raw`\ua60d-\ua60f\ua673\ua67e\ua6f2-\ua6f7\ua874-\ua877\ua8ce\ua8cf\ua8f8-\ua8fa\ua8fc\ua92e\ua92f\ua95f`,
  String.raw`\ua9c1-\ua9cd\ua9de\ua9df\uaa5c-\uaa5f\uaade\uaadf\uaaf0\uaaf1\uabeb\ufd3e\ufd3f\ufe10-\ufe19\ufe30-\ufe52`,
  String.raw`\ufe54-\ufe61\ufe63\ufe68\ufe6a\ufe6b\uff01-\uff03\uff05-\uff0a\uff0c-\uff0f\uff1a\uff1b\uff1f\uff20`,
  String.raw`\uff3b-\uff3d\uff3f\uff5b\uff5d\uff5f-\uff65\u{10100}-\u{10102}\u{1039f}\u{103d0}\u{1056f}\u{10857}\u{1091f}`,
  String.raw`\u{1093f}\u{10a50}-\u{10a58}\u{10a7f}\u{10af0}-\u{10af6}\u{10b39}-\u{10b3f}\u{10b99}-\u{10b9c}`,
  String.raw`\u{11047}-\u{1104d}\u{110bb}\u{110bc}\u{110be}-\u{110c1}\u{11140}-\u{11143}\u{11174}\u{11175}`,
  String.raw`\u{111c5}-\u{111c9}\u{111cd}\u{111db}\u{111dd}-\u{111df}\u{11238}-\u{1123d}\u{112a9}\u{114c6}`,
  String.raw`\u{115c1}-\u{115d7}\u{11641}-\u{11643}\u{1173c}-\u{1173e}\u{12470}-\u{12474}\u{16a6e}\u{16a6f}\u{16af5}`,
  String.raw`\u{16b37}-\u{16b3b}\u{16b44}\u{1bc9f}\u{1da87}-\u{1da8b}`,
].join("")}]`, "u");
// What normalisation cannot tear apart or join with its neighbours: a letter with its marks, a Hangul syllable.
const NORMAL_PARTS = /[\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff]+|[^\p{M}]?\p{M}+|[^\p{M}]/gsu;

// Text is a list of units: a code point, and where in the given text (in UTF-16) it comes from.
const spelled = (units) => units.map((unit) => unit.letter).join("");

function unitsOf(text, start = 0, end = null) {
  let place = start;
  return [...text].map((letter) => {
    const begun = place;
    place += letter.length;
    return { letter, start: end === null ? begun : start, end: end === null ? place : end };
  });
}

function normalForm(units, form) {
  const text = spelled(units), whole = text.normalize(form), found = [];
  let place = 0;
  for (const part of text.match(NORMAL_PARTS) || []) {
    const own = units.slice(place, (place += [...part].length)), normal = part.normalize(form);
    found.push(...(normal === part ? own : unitsOf(normal, own[0].start, own.at(-1).end)));
  }
  return spelled(found) === whole ? found : unitsOf(whole, 0, units.length ? units.at(-1).end : 0);
}

const NORMALISERS = {
  NFC: (units) => normalForm(units, "NFC"),
  NFD: (units) => normalForm(units, "NFD"),
  NFKC: (units) => normalForm(units, "NFKC"),
  NFKD: (units) => normalForm(units, "NFKD"),
  // Letter by letter: what a word ends with has no say.
  Lowercase: (units) => units.flatMap(({ letter, start, end }) => unitsOf(letter.toLowerCase(), start, end)),
  Replace: (units) => units.flatMap((unit, index) => {
    if (!WHITE.test(unit.letter)) return [unit];
    return index && WHITE.test(units[index - 1].letter) ? [] : [{ ...unit, letter: " " }];
  }),
  Strip: (units) => {
    let [start, end] = [0, units.length];
    while (start < end && WHITE.test(units[start].letter)) start += 1;
    while (end > start && WHITE.test(units[end - 1].letter)) end -= 1;
    return units.slice(start, end);
  },
  Sequence: (units, stage) => stage.normalizers.reduce((found, one) => NORMALISERS[one.type](found, one), units),
};

// Cut before or after units for which something holds.
function cut(units, before, after) {
  const pieces = [];
  units.forEach((unit, index) => {
    if (!index || before(unit) || after(units[index - 1])) pieces.push([]);
    pieces.at(-1).push(unit);
  });
  return pieces;
}

// What a regular expression finds is a piece by itself, and so is what lies between two finds.
function splitOut(units, pattern) {
  const ends = new Set(), pieces = [];
  for (const found of spelled(units).matchAll(pattern)) ends.add(found.index).add(found.index + found[0].length);
  let place = 0;
  for (const unit of units) {
    if (!place || ends.has(place)) pieces.push([]);
    pieces.at(-1).push(unit);
    place += unit.letter.length;
  }
  return pieces;
}

const SPLITTERS = {
  Split: (units, stage) => splitOut(units, new RegExp(stage.pattern.Regex, "gu")),
  WhitespaceSplit: (units) => {
    const white = (unit) => WHITE.test(unit.letter);
    return cut(units, white, white).filter((piece) => !white(piece[0]));
  },
  Punctuation: (units) => {
    const mark = (unit) => PUNCTUATION.test(unit.letter);
    return cut(units, mark, mark);
  },
  Metaspace: (units, stage) => {
    const marked = units.map((unit) => (unit.letter === " " ? { ...unit, letter: SPACE } : unit));
    if (marked.length && marked[0].letter !== SPACE) marked.unshift({ letter: SPACE, start: marked[0].start, end: marked[0].start });
    return stage.split === false ? [marked].filter((piece) => piece.length) : cut(marked, (unit) => unit.letter === SPACE, () => false);
  },
  Sequence: (units, stage) =>
    stage.pretokenizers.reduce((pieces, one) => pieces.flatMap((piece) => SPLITTERS[one.type](piece, one)), [units]),
};

class WordLevel {
  constructor(model) {
    this.ids = new Map(Object.entries(model.vocab));
  }

  // Ids with how many units each stands for.
  parts(letters) { return [[this.ids.get(letters.join("")) ?? UNKNOWN, letters.length]]; }
}

class Bpe extends WordLevel {
  constructor(model) {
    super(model);
    const pair = (merge) => (typeof merge === "string" ? merge.split(" ") : merge).join("\u0000");
    this.ranks = new Map(model.merges.map((merge, rank) => [pair(merge), rank]));
  }

  parts(letters) {
    const parts = letters.map((letter) => ({ text: letter, size: 1, known: this.ids.has(letter) }));
    const rankAt = (place) => {
      const [one, other] = [parts[place], parts[place + 1]];
      return one.known && other.known ? this.ranks.get(`${one.text}\u0000${other.text}`) ?? Infinity : Infinity;
    };
    for (;;) {
      let [best, at] = [Infinity, -1];
      for (let place = 0; place + 1 < parts.length; place += 1) if (rankAt(place) < best) [best, at] = [rankAt(place), place];
      if (at < 0) break;
      const [one, other] = [parts[at], parts[at + 1]];
      parts.splice(at, 2, { text: one.text + other.text, size: one.size + other.size, known: true });
    }
    return parts.map((part) => [part.known ? this.ids.get(part.text) : UNKNOWN, part.size]);
  }
}

class Unigram {
  constructor(model) {
    this.ids = new Map(model.vocab.map(([piece], id) => [piece, id]));
    this.scores = model.vocab.map(([, score]) => score);
    this.unknown = Math.min(...this.scores) - UNKNOWN_PENALTY;
    this.longest = Math.max(...model.vocab.map(([piece]) => [...piece].length));
  }

  // The most probable way to cut (Viterbi); unknown letters beside each other are one symbol.
  parts(letters) {
    const ends = [{ score: 0 }];
    const offer = (end, score, start, id) => {
      if (!ends[end] || score > ends[end].score) ends[end] = { score, start, id };
    };
    letters.forEach((letter, start) => {
      const here = ends[start].score;
      let text = "";
      for (let end = start + 1; end <= letters.length && end - start <= this.longest; end += 1) {
        text += letters[end - 1];
        const id = this.ids.get(text);
        if (id !== undefined) offer(end, here + this.scores[id], start, id);
      }
      if (!this.ids.has(letter)) offer(start + 1, here + this.unknown, start, UNKNOWN);
    });
    const found = [];
    for (let end = letters.length; end > 0; end = ends[end].start) {
      const { start, id } = ends[end], before = found[0];
      if (id === UNKNOWN && before && before[0] === UNKNOWN) before[1] += end - start;
      else found.unshift([id, end - start]);
    }
    return found;
  }
}

const MODELS = { WordLevel, BPE: Bpe, Unigram };
export const readable = (token) => token.replaceAll(SPACE, " ").trim() || " ";

export class Vocabulary {
  constructor(body) {
    const { normalizer, pre_tokenizer: splitter, model } = body.tokenizer;
    Object.assign(this, { kind: body.kind, beginEnd: body.begin_end, features: body.features, normalizer, splitter });
    this.model = new MODELS[model.type](model);
    this.tokens = [];
    for (const [token, id] of this.model.ids) this.tokens[id] = token;
  }

  // The symbols of a text: id, how a person reads it, and where it stands in the text.
  encode(text) {
    const normal = this.normalizer ? NORMALISERS[this.normalizer.type](unitsOf(text), this.normalizer) : unitsOf(text);
    const found = [];
    for (const piece of this.splitter ? SPLITTERS[this.splitter.type](normal, this.splitter) : [normal]) {
      let place = 0;
      for (const [id, size] of this.model.parts(piece.map((unit) => unit.letter))) {
        const units = piece.slice(place, (place += size)), own = units.filter((unit) => unit.letter !== SPACE && unit.end > unit.start);
        const [start, end] = own.length ? [own[0].start, own.at(-1).end] : [units[0].start, units.at(-1).end];
        found.push({ id, symbol: id === UNKNOWN ? text.slice(start, end) : readable(spelled(units)), start, end, unknown: id === UNKNOWN });
      }
    }
    return found;
  }

  // A source as a model reads it: features first, then the text, with `begin` and `end` if the vocabulary has them.
  source(text, features = []) {
    const mark = (id, symbol, place) => ({ id, symbol, start: place, end: place, unknown: false });
    const symbols = this.encode(text), lead = features.map((one) => mark(this.tokens.length + this.features.indexOf(one), `<${one}>`, 0));
    if (this.beginEnd) lead.push(mark(BEGIN, "<begin>", 0));
    const closed = this.beginEnd || !symbols.length;
    return [...lead, ...symbols, ...(closed ? [mark(END, "<end>", text.length)] : [])];
  }

  symbol(id) {
    if (id <= UNKNOWN) return ["<begin>", "<end>", "<unknown>"][id];
    return id < this.tokens.length ? readable(this.tokens[id]) : `<${this.features[id - this.tokens.length]}>`;
  }

  decode(ids) {
    const before = this.kind === "words" ? SPACE : "";
    const tokens = ids.filter((id) => id >= UNKNOWN && id < this.tokens.length).map((id) => (id === UNKNOWN ? `${before}<unknown>` : this.tokens[id]));
    if (this.kind === "characters") return tokens.join("");
    if (this.kind === "symbols") return tokens.join(" ");
    if (this.kind === "whole") return tokens.map((token) => token.replaceAll(SPACE, " ").replace(/^ /, "")).join("");
    return tokens.map((token, index) => token.replaceAll(SPACE, index ? " " : "")).join("");
  }
}
