// What requests are made of.

// Files go without the address of their preview.
export const sent = (input) => {
  if (typeof input !== "object" || Array.isArray(input)) return input;
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, value?.base64 ? { base64: value.base64 } : value]));
};

// The symbols of an output but for its end, each with the number by which the model knows it.
export function written({ prediction }) {
  const { tokens, ids } = prediction.candidates[0];
  const symbols = tokens.map((symbol, place) => ({ symbol, id: ids[place] }));
  return symbols.at(-1)?.symbol === "<end>" ? symbols.slice(0, -1) : symbols;
}

// A beginning as requests have it: numbers, for symbols may read alike; or what a person typed.
export const begun = (symbols) => symbols.map(({ symbol, id }) => id ?? symbol);
