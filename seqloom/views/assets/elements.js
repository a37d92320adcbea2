// What the scripts share. Text from models is only ever written as text, never as markup.
export function make(parent, name, attributes = {}, text) {
  const svg = parent.namespaceURI.endsWith("svg") || name === "svg";
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    // A policy that forbids style attributes lets scripts style elements.
    if (key === "style") element.style.cssText = value;
    else element.setAttribute(key, value);
  }
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

// In a direction of its own, for texts that something else stands beside.
export const isolated = (text) => `\u2068${text}\u2069`;
export const full = (label) => label[3] || label[0];
export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
// The data that a page carries in an element.
export const carried = (root) => JSON.parse(root.querySelector("script[type='application/json']").textContent);
