// data.js: the page's data as rows, collectives and a graph of instructions. Text from the program reaches the page as text
// nodes only, never as markup.

const data = JSON.parse(document.getElementById('toroid-data').textContent);
window.TOROID_DATA = data;

const explanation = data.explanation;
const records = list(data.records);
const hasTimes = explanation.step_seconds !== undefined;
const hasHidden = number(explanation.overlapped_step_seconds) > 0;

function tripsText(raw) {
  if (!raw.in_loop) return '';
  const trips = raw.trips === null ? 'in a loop' : `× ${countText(raw.trips)} trips`;
  return raw.in_condition ? `${trips}, in the loop's condition` : trips;
}

// The instructions: columns by place. Edges are built when a graph is asked for first.
const program = data.program;
const instructionCount = program.name.length;
const shardingOf = new Map(program.sharding);
const nodes = {
  name: (i) => program.name[i],
  opcode: (i) => program.opcodes[program.opcode[i]],
  shape: (i) => program.shapes[program.shape[i]],
  computation: (i) => program.computations[program.computation[i]],
  authorName: (i) => program.op_names[program.op_name[i]],
  source: (i) => program.sources[program.source[i]],
  bytes: (i) => number(program.bytes[i]),
  sharding: (i) => (shardingOf.has(i) ? program.shardings[shardingOf.get(i)] : ''),
  // Names are unique in a computation.
  link: (i) => `#node-${encodeURIComponent(nodes.computation(i) + '/' + nodes.name(i))}`,
};
const isMerged = (record) => record.op >= 0 && record.result >= 0 && record.result !== record.op;
const recordName = (record) => (record.op < 0 ? text(record.instruction) || record.opcode :
  nodes.name(record.op) + (isMerged(record) ? `, array ${record.array + 1}` : ''));

const rows = [];
const rowOfId = new Map();
list(explanation.rows).forEach((raw, index) => {
  const base = `row-${raw.opcode}-${hashOf([raw.name, raw.step, raw.source, raw.group, raw.trips].join('|'))}`;
  let id = base;
  for (let n = 2; rowOfId.has(id); ++n) id = `${base}-${n}`;
  const row = {
    raw, index, id, members: list(data.rows[index]),
    opcode: text(raw.opcode), name: text(raw.name), step: text(raw.step), source: text(raw.source),
    count: number(raw.count), group: number(raw.group), operands: number(raw.operand_bytes), sent: number(raw.sent_bytes),
    seconds: number(raw.seconds), share: number(raw.share), hidden: number(raw.hidden_seconds),
  };
  row.haystack = [row.opcode, row.name, row.step, row.source].concat(list(raw.names), row.members.map((i) => recordName(records[i])))
    .join('\n').toLowerCase();
  rows.push(row);
  rowOfId.set(id, row);
});
const mostSent = rows.reduce((most, row) => Math.max(most, row.sent), 0);

// The rows a collective is in, by its place among the instructions.
const rowsOfNode = new Map();
rows.forEach((row) => row.members.forEach((member) => {
  const op = records[member].op;
  if (!rowsOfNode.has(op)) rowsOfNode.set(op, new Set());
  rowsOfNode.get(op).add(row);
}));

const edges = (() => {
  let into = null;
  function build() {
    into = {users: new Array(instructionCount), from: new Map(), to: new Map()};
    program.operands.forEach((operands, i) => {
      for (const operand of operands) (into.users[operand] || (into.users[operand] = [])).push(i);
    });
    const add = (map, key, value) => (map.has(key) ? map.get(key).push(value) : map.set(key, [value]));
    for (const [from, to] of program.carried) {
      if (from === to) continue;  // What a loop hands on unchanged.
      add(into.from, to, from);
      add(into.to, from, to);
    }
  }
  const unique = (places) => Array.from(new Set(places));
  return {
    // What makes the operands of an instruction; of an element of a loop's state what the loop carries in it.
    producers(i) {
      if (!into) build();
      const carried = into.from.get(i);
      return unique(carried && nodes.opcode(i) !== 'call' ? carried : program.operands[i].concat(carried || []));
    },
    // What reads its result; of what a loop or call carries, the reader behind the tuple.
    consumers(i) {
      if (!into) build();
      const carried = into.to.get(i) || [];
      const users = (into.users[i] || []).filter((user) => !carried.length || !['tuple', 'while', 'call'].includes(nodes.opcode(user)));
      return unique(users.concat(carried));
    },
    isCarried(from, to) {
      if (!into) build();
      return (into.to.get(from) || []).includes(to);
    },
  };
})();
