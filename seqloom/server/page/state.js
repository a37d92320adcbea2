// What a link restores: all that was asked, nothing that was answered.

const KEPT = ["model", "beside", "input", "beam", "nbest", "length_power", "prefix", "oracle", "tab", "reference", "text", "lesson"];

const isUpload = (value) => value && typeof value === "object" && "base64" in value;

// Files are too large for a link, so their places stay empty.
function withoutFiles(input) {
  if (!input || typeof input !== "object") return input;
  return Object.fromEntries(Object.entries(input).filter(([, value]) => !isUpload(value)));
}

export function toLink(state) {
  const kept = Object.fromEntries(KEPT.filter((key) => state[key] !== undefined && state[key] !== null && state[key] !== "").map((key) => [key, state[key]]));
  if (kept.input) kept.input = withoutFiles(kept.input);
  const bytes = new TextEncoder().encode(JSON.stringify(kept));
  return `#${btoa(Array.from(bytes, (one) => String.fromCharCode(one)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

export function fromLink(hash) {
  try {
    const bytes = Uint8Array.from(atob(hash.slice(1).replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
    const found = JSON.parse(new TextDecoder().decode(bytes));
    return Object.fromEntries(KEPT.filter((key) => Object.hasOwn(found, key)).map((key) => [key, found[key]]));
  } catch {
    return {};
  }
}
