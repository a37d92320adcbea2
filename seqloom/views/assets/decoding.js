// An exported model by onnxruntime-web, and the search for what it writes: the counterpart of seqloom/search for one text.
import { BEGIN, END } from "./tokenisation.js";

export class Model {
  // runtime: onnxruntime-web; about: what model.json says of the graphs.
  constructor(runtime, about, encoder, step) {
    Object.assign(this, { runtime, about, encoder, stepper: step });
  }

  static async open(runtime, about, graphs) {
    const create = (bytes) => runtime.InferenceSession.create(bytes, { logSeverityLevel: 4 });
    return new Model(runtime, about, await create(graphs.encoder), await create(graphs.step));
  }

  whole(values, shape) { return new this.runtime.Tensor("int64", BigInt64Array.from(values, BigInt), shape); }

  async start(name, ids) {
    const { runtime, about } = this, length = ids.length;
    const first = await this.encoder.run({ [name]: this.whole(ids, [1, length]), [`${name}.lengths`]: this.whole([length], [1]) });
    const leaves = (names) => Object.fromEntries(names.map((one) => [one, first[`${one}.first`]]));
    const shared = leaves(about.sentences);
    for (const one of about.attended) {
      shared[`told.${one}`] = new runtime.Tensor("float32", new Float32Array(length), [1, length]);
      shared[`known.${one}`] = new runtime.Tensor("bool", [false], [1]);
    }
    return { rows: leaves(about.rows), shared };
  }

  async step(symbols, state) {
    const found = await this.stepper.run({ tokens: this.whole(symbols, [1, symbols.length]), ...state.rows, ...state.shared });
    const size = found.log_probs.dims[2], [source] = this.about.attended, weights = source && found[`weights.${source}`];
    const each = weights && weights.data.length / symbols.length;
    return {
      logProbs: symbols.map((_, row) => found.log_probs.data.subarray(row * size, (row + 1) * size)),
      heads: weights ? weights.dims[2] : 0,
      weights: symbols.map((_, row) => (weights ? weights.data.slice(row * each, (row + 1) * each) : null)),
      rows: Object.fromEntries(this.about.rows.map((name) => [name, found[`${name}.next`]])),
    };
  }

  // The rows of a state that go on, in their order; a row may go on several times.
  select(rows, parents) {
    const chosen = {};
    for (const [name, leaf] of Object.entries(rows)) {
      const size = leaf.data.length / leaf.dims[1], data = new leaf.data.constructor(size * parents.length);
      parents.forEach((parent, row) => data.set(leaf.data.subarray(parent * size, (parent + 1) * size), row * size));
      chosen[name] = new this.runtime.Tensor(leaf.type, data, [leaf.dims[0], parents.length, ...leaf.dims.slice(2)]);
    }
    return chosen;
  }
}

// The best symbols of a row, best first; of equals the first.
function best(logProbs, count, allowed) {
  const found = [];
  for (let id = 0; id < logProbs.length; id += 1) {
    const value = logProbs[id];
    if (value === -Infinity || !allowed(id) || (found.length === count && value <= found[count - 1][1])) continue;
    let place = found.length;
    while (place && found[place - 1][1] < value) place -= 1;
    found.splice(place, 0, [id, value]);
    if (found.length > count) found.pop();
  }
  return found;
}

// Log-probabilities with biases, pairs of ids and numbers, made to sum to one again.
function biased(logProbs, bias) {
  if (!bias.length) return logProbs;
  const scores = Float32Array.from(logProbs);
  bias.forEach(([id, number]) => { scores[id] += number; });
  const highest = scores.reduce((one, other) => Math.max(one, other), -Infinity);
  const whole = highest + Math.log(scores.reduce((sum, one) => sum + Math.exp(one - highest), 0));
  return scores.map((one) => Math.min(one - whole, 0));
}

// Beam search; a width of one is greedy. rules: {limit, power, minimum, forbid: a set of ids, bias, closed}.
export async function search(model, name, ids, width, rules) {
  const state = await model.start(name, ids), ended = [];
  let rows = [{ symbols: [], logProbs: [], weights: [], sum: 0 }], finished = 0, winner = -Infinity;
  for (let length = 1; rows.length; length += 1) {
    const step = await model.step(rows.map((row) => row.symbols.at(-1) ?? BEGIN), state);
    const last = rules.closed && length === rules.limit;
    const allowed = (id) => (last ? id === END : id !== BEGIN && !rules.forbid.has(id) && (id !== END || length > rules.minimum));
    const choice = rows.flatMap((row, place) => best(biased(step.logProbs[place], rules.bias), width, allowed).map(([id, value]) => ({ row, place, id, value })));
    choice.forEach((one) => { one.sum = one.row.sum + one.value; });
    choice.sort((one, other) => other.sum - one.sum).splice(width);
    const live = [];
    for (const { row, place, id, sum } of choice) {
      const extended = {
        symbols: [...row.symbols, id], logProbs: [...row.logProbs, step.logProbs[place][id]], weights: [...row.weights, step.weights[place]],
        sum, score: sum / length ** rules.power, heads: step.heads, finished: id === END, place,
      };
      if (id === END) [finished, winner] = [finished + 1, Math.max(winner, extended.score)];
      (id === END || length >= rules.limit ? ended : live).push(extended);
    }
    // No log-probability is above 0, so a live row can at best keep its sum up to the limit.
    const reachable = Math.max(-Infinity, ...live.map((row) => row.sum)) / rules.limit ** rules.power;
    if (finished >= width && reachable <= winner) break;
    rows = live;
    state.rows = model.select(step.rows, live.map((row) => row.place));
  }
  return ended.sort((one, other) => other.finished - one.finished || other.score - one.score).slice(0, width);
}
