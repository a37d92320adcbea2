// The service, as the page sees it: JSON there and back, and streams of events.

export class Refusal extends Error {
  constructor(status, { code = "fault", message = "The server gave no reason." } = {}) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const MOST_WAITS = 4;
let token = "";

function askForToken() {
  const dialog = document.getElementById("token-dialog"), field = document.getElementById("token");
  field.value = "";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => {
    token = field.value.trim();
    resolve();
  }, { once: true }));
}

const pause = (seconds, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, seconds * 1000);
  signal?.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
});

async function send(path, body, signal, waits = 0) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const options = { headers, signal };
  if (body !== undefined) {
    options.method = "POST";
    options.body = JSON.stringify(body);
    headers["Content-Type"] = "application/json";
  }
  const response = await fetch(path, options);
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  if (response.status === 401) {
    await askForToken();
    if (token) return send(path, body, signal, waits);
  }
  if (response.status === 429 && waits < MOST_WAITS) {
    await pause(Math.min(Number(response.headers.get("Retry-After")) || 1, 5), signal);
    return send(path, body, signal, waits + 1);
  }
  throw new Refusal(response.status, told.error);
}

export const get = async (path) => (await send(path)).json();
export const post = async (path, body, signal) => (await send(path, body, signal)).json();
export const file = async (path, body) => (await send(path, body)).blob();

// The events of a stream, as [name, data].
export async function* events(path, body, signal) {
  const response = await send(path, body, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    held += value.replaceAll("\r", "");
    const parts = held.split("\n\n");
    held = parts.pop();
    for (const part of parts) {
      const event = parse(part);
      if (event && event[0] === "error") throw new Refusal(response.status, event[1].error);
      if (event) yield event;
    }
  }
}

function parse(part) {
  let name = "message", data = "";
  for (const line of part.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data += line.slice(5).trim();
  }
  return data ? [name, JSON.parse(data)] : null;
}
