// page.js: the first lines, the figures, the instructions, the shardings, links into the page; the last of its scripts.

function changeCell(a, b) {
  if (a === b) return el('td', {class: 'number soft'}, '');
  if (a === 0) return el('td', {class: 'number up'}, 'new');
  const percent = 100 * (b - a) / a;
  return el('td', {class: percent > 0 ? 'number up' : 'number down'}, `${percent > 0 ? '+' : '−'}${Math.abs(percent).toFixed(1)}\u00a0%`);
}

function drawFigures() {
  const {a, b} = data;
  const lines = [['sent', 'sent_bytes', bytesText], ['collectives', 'collectives', countText], ['flops', 'flops', flopsText],
    ['peak memory', 'peak_bytes', bytesText], ['instructions', 'instructions', countText]];
  if (a.step_seconds !== undefined) {
    lines.push([`step on ${data.machine}`, 'step_seconds', timeText], ['in collectives', 'collective_seconds', timeText]);
  }
  const head = el('tr', {}, ['', 'A', 'B', ''].map((one, i) => el('th', {class: i ? 'number' : null, scope: 'col'}, one)));
  byId('figures').append(el('thead', {}, head), el('tbody', {}, lines.map(([label, key, amount]) => el('tr', {}, el('td', {}, label),
    el('td', {class: 'number'}, amount(a[key])), el('td', {class: 'number'}, amount(b[key])), changeCell(number(a[key]), number(b[key]))))));
  for (const [name, figures] of [['A', a], ['B', b]]) {
    if (!figures.all_trips_known) byId('doubts').append(el('li', {}, `${name} has loops of unknown length; each counts one trip.`));
    if (!figures.all_groups_known) byId('doubts').append(el('li', {}, `${name} has collectives over groups of unknown size; they count nothing.`));
  }
}

function drawInstructions() {
  const counts = data.instructions;
  const kinds = [['the same', counts.same, '--same'], ['the same by themselves, of other operands', counts.alike, '--alike'],
    ['changed', counts.changed, '--changed'], ['only in A', counts.only_a, '--only'], ['only in B', counts.only_b, '--only']];
  const all = kinds.reduce((sum, [, count]) => sum + count, 0);
  byId('matched-bar').setAttribute('aria-label', kinds.map(([label, count]) => `${count} ${label}`).join(', '));
  for (const [label, count, color] of kinds) {
    if (!count) continue;
    byId('matched-bar').append(el('i', {style: {width: `${100 * count / all}%`, background: `var(${color})`}}));
    byId('matched').append(el('li', {}, el('i', {class: 'swatch', style: {background: `var(${color})`}}), `${countText(count)} ${label}`));
  }
  const head = el('tr', {}, ['opcode', 'only in A', 'only in B'].map((one, i) => el('th', {class: i ? 'number' : null, scope: 'col'}, one)));
  byId('opcodes-box').hidden = !counts.opcodes.length;
  byId('opcodes').append(el('thead', {}, head), el('tbody', {}, counts.opcodes.map((one) => el('tr', {}, el('td', {}, one.opcode),
    el('td', {class: 'number'}, countText(one.only_a)), el('td', {class: 'number'}, countText(one.only_b))))));
}

function drawShardings() {
  const changes = list(data.shardings);
  byId('shardings').hidden = !changes.length;
  growingList(byId('shardings-list'), byId('shardings-more'), changes, 20, (one) => el('li', {}, el('b', {}, breakable(one.name)), ' ',
    el('span', {class: 'soft'}, `A ${one.shape_a} by `), one.sharding_a, el('span', {class: 'soft'}, `; B ${one.shape_b} by `), one.sharding_b));
}

function followLink() {
  let id = location.hash.slice(1);
  try { id = decodeURIComponent(id); } catch (malformed) { return; }
  table.openLink(id);
}

document.title = `${data.a.label} and ${data.b.label}: where they differ`;
byId('programs').replaceChildren('A: ', ...breakable(data.a.label), '   B: ', ...breakable(data.b.label));
byId('headline').textContent = data.summary;
byId('made').textContent = `Written by hlo-diff ${data.version}. Figures are per device, of all trips of a loop.`;
drawFigures();
drawInstructions();
drawShardings();
table.start();
followLink();
window.addEventListener('hashchange', followLink);
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  byId('find').focus();
  byId('find').select();
});
document.documentElement.setAttribute('data-ready', 'true');
