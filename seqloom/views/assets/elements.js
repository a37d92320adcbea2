// What the scripts of a map share. Text from models is only ever written as text, never as markup.
globalThis.seqloom = {
  make(parent, name, attributes = {}, text) {
    const svg = parent.namespaceURI.endsWith("svg") || name === "svg";
    const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  },
  // In a direction of its own, for texts that something else stands beside.
  isolated: (text) => `\u2068${text}\u2069`,
  full: (label) => label[3] || label[0],
  clamp: (value, low, high) => Math.min(Math.max(value, low), high),
};
