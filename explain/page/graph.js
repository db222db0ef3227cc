// graph.js: the instructions around one, laid out by Dagre: what makes its operands above, what reads its result below.

// Draws into `parent`. `from`: the places the graph grows from: {middle: [...], up: [...], down: [...]}, up and down what is shown above and
// below the middle at the first hop. Layout is done when the graph is on the screen for the first time.
function drawGraph(parent, from) {
  const MOST = 60, FEW = 14, FAN = 5;
  const LETTER = 6.7, LINE = 15, MOST_LETTERS = 30;
  let hops = {up: 3, down: 2};
  let chosen = null;
  const wide = new Set();  // Instructions all of whose neighbours are wanted.

  const canvas = el('div', {class: 'graph', tabindex: -1});
  const about = el('p', {class: 'graph-about', 'aria-live': 'polite'});
  const buttons = el('div', {class: 'graph-tools'},
    el('button', {type: 'button', onclick: () => { hops.up += 2; draw(); }}, 'More above'),
    el('button', {type: 'button', onclick: () => { hops.down += 2; draw(); }}, 'More below'),
    el('button', {type: 'button', onclick: () => { hops = {up: 3, down: 2}; wide.clear(); chosen = null; draw(); }}, 'Reset'));
  parent.append(buttons, canvas, about);

  // The places to show, and for each how many of its neighbours are left out: {places: Set, left: Map}.
  function collect() {
    const places = new Set(from.middle), left = new Map();
    const walk = (first, next, count) => {
      let frontier = first.filter((place) => place >= 0).map((place) => ({place, of: from.middle[0]}));
      // A single chain is followed further.
      for (let hop = 0; frontier.length && (hop < count || (places.size < FEW && hop < 3 * count)); ++hop) {
        const after = [];
        const taken = new Map();  // By the instruction whose neighbours they are.
        for (const {place, of} of frontier) {
          if (places.has(place)) continue;
          const known = taken.get(of) || 0;
          if (places.size >= MOST || (known >= FAN && !wide.has(of))) {
            left.set(of, (left.get(of) || 0) + 1);
            continue;
          }
          taken.set(of, known + 1);
          places.add(place);
          for (const neighbour of next(place)) after.push({place: neighbour, of: place});
        }
        frontier = after;
      }
    };
    walk(from.up, edges.producers, hops.up);
    walk(from.down, edges.consumers, hops.down);
    return {places, left};
  }

  const cut = (string, letters) => (string.length <= letters ? string : string.slice(0, letters / 2 - 1) + '…' + string.slice(-(letters / 2)));
  function linesOf(place) {
    const author = nodes.authorName(place);
    const isLongTuple = nodes.shape(place).startsWith('(') && nodes.shape(place).length > MOST_LETTERS;
    const shape = isLongTuple ? isCollective(nodes.opcode(place)) ? `${program.operands[place].length} arrays` : 'a tuple' : nodes.shape(place);
    return [nodes.opcode(place), cut(shape, MOST_LETTERS), cut(author ? tail(author, 2) : nodes.name(place), MOST_LETTERS)];
  }

  function layout(places, left) {
    const graph = new dagre.graphlib.Graph();
    graph.setGraph({rankdir: 'TB', nodesep: 14, ranksep: 26, marginx: 8, marginy: 8});
    graph.setDefaultEdgeLabel(() => ({}));
    for (const place of places) {
      const lines = linesOf(place);
      const more = left.get(place) ? `+${countText(left.get(place))} more` : '';
      const width = Math.max(76, LETTER * Math.max(...lines.map((line) => line.length), more.length + lines[0].length + 2) + 16);
      graph.setNode(String(place), {place, lines, more, width, height: 3 * LINE + 10});
    }
    for (const place of places) {
      for (const producer of edges.producers(place)) {
        if (!places.has(producer)) continue;
        // Of a middle instruction only the operands in question are shown.
        if (from.middle.includes(place) && !from.up.includes(producer) && !from.middle.includes(producer)) continue;
        graph.setEdge(String(producer), String(place), {carried: edges.isCarried(producer, place)});
      }
    }
    dagre.layout(graph);
    return graph;
  }

  function pathOf(points) {
    let path = `M${points[0].x},${points[0].y}`;
    for (let i = 1; i + 1 < points.length; ++i) {
      const a = points[i], b = points[i + 1];
      const end = i + 2 === points.length ? b : {x: (a.x + b.x) / 2, y: (a.y + b.y) / 2};
      path += ` Q${a.x},${a.y} ${end.x},${end.y}`;
    }
    return points.length === 2 ? path + ` L${points[1].x},${points[1].y}` : path;
  }

  function choose(place) {
    chosen = place;
    canvas.querySelectorAll('g.node').forEach((node) => node.classList.toggle('chosen', +node.dataset.place === place));
    const left = wide.has(place) ? '' : el('button', {type: 'button', onclick: () => { wide.add(place); draw(); }}, 'All its neighbours');
    about.replaceChildren(el('b', {}, nodes.name(place)), ' ', nodes.opcode(place), ' ', el('code', {}, breakable(nodes.shape(place))), ' ',
      bytesText(nodes.bytes(place)), nodes.sharding(place) ? el('span', {}, ', sharding ', el('code', {}, breakable(nodes.sharding(place)))) : null, nodes.authorName(place) ? el('span', {class: 'soft'}, ' ', breakable(nodes.authorName(place))) : null,
      nodes.source(place) ? el('span', {class: 'soft'}, ' ', breakable(nodes.source(place))) : null, ' ',
      el('a', {href: nodes.link(place)}, 'its own graph'), ' ', left);
  }

  function drawNode(label) {
    const place = label.place;
    const kind = isCollective(label.lines[0]) ? 'collective' : label.lines[0] === 'parameter' ? 'parameter' : 'other';
    const middle = from.middle.includes(place);
    const group = svg('g', {class: `node ${kind}${middle ? ' middle' : ''}${place === chosen ? ' chosen' : ''}`, tabindex: 0, role: 'button',
      'data-place': place, 'aria-label': label.lines.join(', '), transform: `translate(${label.x - label.width / 2},${label.y - label.height / 2})`,
      onclick: () => choose(place),
      onkeydown: (event) => { if (event.key === 'Enter' || event.key === ' ') { choose(place); event.preventDefault(); event.stopPropagation(); } }},
    svg('rect', {width: label.width, height: label.height, rx: 6}));
    if (kind === 'collective') group.append(svg('rect', {class: 'kind', width: 5, height: label.height, rx: 2, style: {fill: kindColor(label.lines[0])}}));
    label.lines.forEach((line, i) => group.append(svg('text', {x: 11, y: 16 + i * LINE, class: 'line' + i}, line)));
    if (label.more) group.append(svg('text', {x: label.width - 8, y: 16, class: 'left', 'text-anchor': 'end'}, label.more));
    return group;
  }

  function draw() {
    const {places, left} = collect();
    const graph = layout(places, left);
    const {width, height} = graph.graph();
    const picture = svg('svg', {width: Math.ceil(width), height: Math.ceil(height), viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, role: 'group',
      'aria-label': `${places.size} instructions around the collective`},
    svg('defs', {}, svg('marker', {id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto'},
      svg('path', {d: 'M0,1 L8,4 L0,7 z', class: 'head'}))));
    for (const edge of graph.edges()) {
      const label = graph.edge(edge);
      picture.append(svg('path', {d: pathOf(label.points), class: label.carried ? 'edge carried' : 'edge', 'marker-end': 'url(#arrow)'}));
    }
    for (const name of graph.nodes()) picture.append(drawNode(graph.node(name)));
    canvas.replaceChildren(picture);
    const middle = graph.node(String(from.middle[0]));
    canvas.scrollLeft = middle.x - canvas.clientWidth / 2;
    canvas.scrollTop = Math.max(0, middle.y - canvas.clientHeight / 2);
    if (chosen !== null && places.has(chosen)) choose(chosen);
    else about.replaceChildren(el('span', {class: 'soft'}, 'Dashed: carried into or out of a loop or a call. Click an instruction for its name and line.'));
  }
  requestAnimationFrame(draw);
}

// The graph around a collective, or around an array of a merged one.
function graphOfRecord(record) {
  if (record.op < 0) return null;
  const operands = program.operands[record.op];
  const merged = isMerged(record);
  return {middle: merged ? [record.op, record.result] : [record.op],
    up: merged && operands[record.array] !== undefined ? [operands[record.array]] : edges.producers(record.op),
    down: edges.consumers(merged ? record.result : record.op)};
}
const graphOfInstruction = (place) => ({middle: [place], up: edges.producers(place), down: edges.consumers(place)});
