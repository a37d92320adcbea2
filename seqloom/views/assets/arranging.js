// What a map of a prediction consists of, where it is made in the browser: the counterpart of views/maps and views/text.
import { CAPTION, COVERAGE, GAP } from "./grid.js";

const WIDTH = 900, HEIGHT = 1080, SMALLEST = 13, LARGEST = 36, NARROWEST = 46, LONGEST = 24;
const NAMED = {
  "": "\u2205", " ": "\u2423", "\t": "\u21e5", "\n": "\u21b5", "\r": "\u21b5", "\u00a0": "\u237d", "\u3000": "\u2423",
  "\u200d": "ZWJ", "\u200c": "ZWNJ", "\u200e": "LRM", "\u200f": "RLM", "\ufe0e": "VS15", "\ufe0f": "VS16",
};
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const WIDE = /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|\p{So}|\p{Emoji_Presentation}/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const clusters = (text) => [...segmenter.segment(text)];

function visible(symbol) {
  if (symbol in NAMED) return NAMED[symbol];
  if (/^[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]$/u.test(symbol)) return `U+${symbol.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
  const shown = symbol.replace(/[^\P{Cc}\t\n]/gu, "\ufffd").replaceAll("\t", NAMED["\t"]).replaceAll("\n", NAMED["\n"]);
  return /^\p{M}/u.test(shown) ? `\u25cc${shown}` : shown;
}

function label(symbol, { mark = false, unknown = false } = {}) {
  const full = visible(symbol), parts = clusters(full);
  const text = parts.length <= LONGEST ? full : `${full.slice(0, parts[LONGEST - 1].index)}\u2026`;
  const first = full.match(/\p{L}/u);
  const kind = unknown ? "doubt" : mark ? "quiet" : "ink";
  return { text, full, rtl: Boolean(first && RIGHT_TO_LEFT.test(first[0])), mark, kind, single: parts.length === 1 };
}

function widthOf(text) {
  let ems = 0;
  for (const letter of text) {
    if (/[\p{Mn}\p{Me}\p{Cf}]/u.test(letter)) continue;
    if (WIDE.test(letter)) ems += 1.05;
    else if ("mwMW@%<>=+~\u2026".includes(letter)) ems += 0.88;
    else if (/\p{Lu}/u.test(letter)) ems += 0.72;
    else ems += "iljtfrI.,:;'|!()[]".includes(letter) ? 0.4 : 0.62;
  }
  return ems;
}

function arrange(rows, columns) {
  const fitting = Math.min(WIDTH / columns.length, HEIGHT / Math.max(rows.length, 1));
  const cell = columns.length ? Math.floor(Math.min(Math.max(fitting, SMALLEST), LARGEST)) : 24;
  const font = Math.round(Math.min(Math.max(cell * 0.5, 10), 15) * 10) / 10;
  const singles = columns.filter((one) => one.single).length, words = columns.filter((one) => !one.single && !one.mark).length;
  const upright = singles >= 2 * words, angle = upright || cell < 20 ? 90 : 50, lean = (angle * Math.PI) / 180;
  const turned = columns.map((one) => (upright && one.single ? 0 : 1)), long = (one) => widthOf(one.text) * font;
  const heads = columns.map((one, index) => (turned[index] ? long(one) * Math.sin(lean) + font * Math.cos(lean) : font * 1.25));
  const left = Math.round(Math.max(NARROWEST, ...rows.map(long)) + GAP + 2), top = Math.round(CAPTION + Math.max(0, ...heads) + GAP);
  const bars = columns.length ? 48 : 240;
  const ends = columns.map((one, index) => (turned[index] ? left + (index + 0.5) * cell + long(one) * Math.cos(lean) + GAP : 0));
  const width = Math.ceil(Math.max(left + columns.length * cell + GAP + bars + 44, ...ends));
  const height = Math.ceil(top + rows.length * cell + (columns.length ? GAP + COVERAGE + GAP : GAP + CAPTION));
  return { cell, inset: cell >= 16 ? 0.75 : 0, font, left, top, bars, angle, turned, width, height };
}

// Runs of clusters of a text that belong to the same symbols, as [start, end, symbols] in UTF-16.
function segments(text, spans) {
  const found = [];
  for (const { index, segment } of clusters(text)) {
    const end = index + segment.length;
    const symbols = spans.flatMap(([from, to], symbol) => (from < end && to > index ? [symbol] : []));
    const before = found.at(-1);
    if (before && before[1] === index && String(before[2]) === String(symbols)) before[1] = end;
    else found.push([index, end, symbols]);
  }
  return found.filter(([, , symbols]) => symbols.length);
}

// Where each token stands in the output text; one range of them all if the text is not its tokens in order.
function outputSegments(text, tokens) {
  const spans = [];
  let place = 0;
  for (const token of tokens) {
    let start = place;
    while (!text.startsWith(token, start) && start < text.length && /\s/u.test(text[start])) start += 1;
    if (!text.startsWith(token, start)) return text ? [[0, text.length, tokens.map((_, index) => index)]] : [];
    spans.push([start, (place = start + token.length)]);
  }
  return segments(text, spans);
}

const labelData = (one) => [one.text, Number(one.rtl), one.kind, one.full === one.text ? 0 : one.full];

// The data of a heat map. symbols: those of the source; outputs: {text, tokens, ended, logProbs, weights, heads}, best first.
export function mapData(name, text, symbols, outputs, { scale, levels }) {
  const columns = symbols.map((one) => label(one.symbol, { mark: one.start === one.end, unknown: one.unknown }));
  const spans = symbols.map((one) => [one.start, one.end]), attends = Boolean(outputs[0].heads);
  const candidates = outputs.map((output) => {
    const tokens = output.ended ? [...output.tokens, "<end>"] : output.tokens, last = tokens.length - 1;
    const rows = tokens.map((token, index) => label(token, { mark: output.ended && index === last }));
    const heads = Array.from({ length: output.heads }, (_, head) =>
      output.weights.flatMap((row) => Array.from(row.subarray(head * symbols.length, (head + 1) * symbols.length), (one) => Math.round(one * scale))));
    const map = attends
      ? { columns: columns.map(labelData), heads, segments: segments(text, spans), unknown: segments(text, spans.map((span, index) => (symbols[index].unknown ? span : [0, 0]))), layout: arrange(rows, columns) }
      : { columns: [], heads: [], segments: [], unknown: [], layout: arrange(rows, []) };
    const probabilities = output.logProbs.map((one) => Math.round(Math.exp(one) * 10000) / 10000);
    return { text: output.text, rows: rows.map(labelData), probabilities, output: outputSegments(output.text, output.tokens), maps: [map] };
  });
  return { scale, levels, sources: attends ? [name] : [], candidates };
}
