// detail.js: what is shown of an open row, and of an instruction: what produced the value, what needs it, the line, the graph.

function instructionLine(place) {
  return el('li', {}, el('a', {href: nodes.link(place)}, breakable(nodes.authorName(place) || nodes.name(place))),
    ' ', el('span', {class: 'soft'}, nodes.opcode(place), ' ', el('code', {}, breakable(nodes.shape(place)))),
    nodes.source(place) ? el('span', {class: 'soft'}, ' ', breakable(nodes.source(place))) : null);
}
function instructionList(title, places, most, none) {
  const items = el('ul', {class: 'plain'}), more = el('p', {class: 'more'});
  growingList(items, more, places, most, instructionLine);
  return places.length ? [el('h3', {}, title), items, more] : [el('h3', {}, title), el('p', {class: 'soft'}, none)];
}

// The value whose elements an instruction moves, converts or cuts: of a slice of a loop's state the argument that went in.
function originOf(place) {
  const MOVES = ['convert', 'bitcast', 'copy', 'reshape', 'transpose', 'slice', 'dynamic-slice', 'get-tuple-element', 'optimization-barrier'];
  for (let step = 0; step < 20; ++step) {
    const opcode = nodes.opcode(place), next = edges.producers(place);
    const isState = opcode === 'parameter' && next.length > 0;
    if (!next.length || !(isState || MOVES.includes(opcode))) break;
    place = next[0];
  }
  return place;
}

// The calls that lead to a collective, innermost first, and the text around the author's line.
function sourceDetail(record) {
  if (record.stack < 0) return [el('h3', {}, 'Source line'), el('p', {class: 'soft'}, 'the module records none')];
  const stack = data.stacks[record.stack];
  const best = record.frame >= 0 ? record.frame : 0;
  const snippet = el('div');
  const draw = (frame) => {
    const [file, line] = stack[frame];
    const lines = files[file].parts.length ? sourceLines(files[file], line - 4, line + 4, line) : [];
    snippet.replaceChildren(lines.length ? el('div', {class: 'scroll'}, el('table', {class: 'code-lines'}, el('tbody', {}, lines))) :
      el('p', {class: 'hint'}, files[file].missing ? `The text is not shown: ${files[file].missing}.` : 'The text is not shown.'));
    calls.querySelectorAll('button').forEach((button) => button.setAttribute('aria-pressed', String(+button.dataset.frame === frame)));
  };
  const lineOf = (frame) => {
    const [file, line, name, kind] = stack[frame];
    return el('li', {}, el('button', {type: 'button', class: 'call', 'data-frame': frame, onclick: () => draw(frame)}, breakable(`${files[file].name}:${line}`)),
      ' ', name, kind === "the author's" ? null : el('span', {class: 'soft'}, ` ${kind}`));
  };
  const all = stack.map((_, frame) => frame);
  const near = all.filter((frame) => frame === best || (frame < best + 6 && !["a library's", "a script's"].includes(stack[frame][3])));
  const calls = el('ol', {class: 'plain calls'}, near.map(lineOf));
  const more = el('p', {class: 'more'});
  if (near.length < all.length) {
    more.append(el('button', {type: 'button', onclick: () => { calls.replaceChildren(...all.map(lineOf)); more.remove(); }},
      `Show all ${all.length} calls, with those of libraries`));
  }
  draw(best);
  return [el('h3', {}, 'Source line'), snippet, calls, more];
}

function figuresOf(row, record) {
  const parts = [`${bytesText(record.operand_bytes)} of operands`, `${bytesText(record.sent_bytes)} sent per device`];
  if (hasTimes) parts.push(`${timeText(number(record.seconds))}`);
  if (row.raw.in_loop) parts.push(row.raw.trips === null ? 'in a loop of unknown length, counted once' : `in ${countText(row.raw.trips)} trips of a loop`);
  return parts.join(', ');
}

// Draws the details of a row into `parent`; of a row of several collectives one at a time, `member` or the first.
function drawDetail(parent, row, member) {
  let place = member === null ? 0 : member;
  const box = el('div', {class: 'detail'});
  const stepper = el('p', {class: 'stepper'});
  parent.append(stepper, box);
  function draw() {
    const record = records[row.members[place]];
    stepper.replaceChildren();
    if (member === null && row.members.length > 1) {
      const go = (step) => { place = (place + step + row.members.length) % row.members.length; draw(); mesh.select(records[row.members[place]]); };
      stepper.append(el('button', {type: 'button', onclick: () => go(-1), 'aria-label': 'The one before'}, '◂'),
        ` ${countText(place + 1)} of ${countText(row.members.length)} `,
        el('button', {type: 'button', onclick: () => go(1), 'aria-label': 'The next one'}, '▸'));
    }
    const words = el('div', {class: 'words'}, el('h3', {}, 'Collective'),
      el('p', {}, el('b', {}, recordName(record)), ' ', figuresOf(row, record)), el('p', {class: 'step'}, breakable(record.cause)));
    const picture = el('div', {class: 'picture'});
    const graph = graphOfRecord(record);
    if (graph) {
      const origins = Array.from(new Set(graph.up.flatMap((up) => [up, originOf(up)])));
      words.append(...instructionList('What produced the value', origins, 5, 'nothing'),
        ...instructionList('What needs it', graph.down, 5, 'It is a result of the program.'));
    }
    words.append(...sourceDetail(record));
    box.replaceChildren(words, picture);
    if (graph) drawGraph(picture, graph); else picture.append(el('p', {class: 'empty'}, 'This instruction is beyond those that the page holds.'));
  }
  draw();
}

const instruction = {
  places: null,
  // Opens the instruction that a link names; false if there is none.
  openLink(name) {
    if (!instruction.places) instruction.places = new Map(program.name.map((other, i) => [`${nodes.computation(i)}/${other}`, i]));
    const place = instruction.places.get(name);
    if (place === undefined) return false;
    byId('instruction').hidden = false;
    byId('instruction-title').replaceChildren(...breakable(nodes.name(place)));
    const box = el('div', {class: 'detail'});
    const picture = el('div', {class: 'picture'});
    const owners = Array.from(rowsOfNode.get(place) || []);
    const graph = graphOfInstruction(place);
    box.append(el('div', {class: 'words'},
      el('p', {}, el('b', {}, nodes.opcode(place)), ' ', el('code', {}, breakable(nodes.shape(place))), ` ${bytesText(nodes.bytes(place))}, in `, breakable(nodes.computation(place))),
      nodes.sharding(place) ? el('p', {}, 'sharding ', el('code', {}, breakable(nodes.sharding(place)))) : null,
      nodes.authorName(place) ? el('p', {}, breakable(nodes.authorName(place))) : null, nodes.source(place) ? el('p', {class: 'soft'}, breakable(nodes.source(place))) : null,
      owners.map((row) => el('p', {}, 'Row ', el('a', {href: '#' + row.id}, breakable(`${row.opcode} for ${row.name}`)))),
      instructionList('Operands', graph.up, 8, 'none'), instructionList('Read by', graph.down, 8, 'none')), picture);
    byId('instruction-body').replaceChildren(box);
    drawGraph(picture, graph);
    byId('instruction').scrollIntoView({block: 'start'});
    return true;
  },
  close() {
    byId('instruction').hidden = true;
    byId('instruction-body').replaceChildren();
    history.replaceState(null, '', location.pathname + location.search);
  },
};
