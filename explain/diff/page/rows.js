// rows.js: the rows of what is compared: chosen, sorted, found, opened.

const flopsText = (flops) => (number(flops) === 0 ? '0' : scaled(flops, ['', 'k', 'M', 'G', 'T', 'P', 'E'], 1000).trim());
const SECTIONS = [
  {key: 'sent', label: 'Sent', amount: bytesText, about: 'Bytes that a device sends in one run, at the line that needs it; sums over devices at the line that computed them.'},
  {key: 'flops', label: 'Flops', amount: flopsText, about: 'Contractions of one device in one run.'},
  {key: 'memory', label: 'Memory', amount: bytesText, about: 'Bytes that a device holds at the peak of its memory.'},
];
for (const section of SECTIONS) {
  section.costs = data[section.key];
  section.rows = list(section.costs.rows).filter((row) => row.kind !== 'elsewhere' && row.kind !== 'other time');
  const ids = new Map();
  section.rows.forEach((row, index) => {
    row.index = index;
    const id = `${section.key}-${hashOf([row.source, row.name, row.kind].join('|'))}`;
    const count = ids.get(id) || 0;
    ids.set(id, count + 1);
    row.id = count ? `${id}-${count + 1}` : id;
    row.words = [row.name, row.source, row.source_in_a, row.kind,
      ...row.parts_a.concat(row.parts_b).map((part) => `${part.what} ${part.name} ${part.step} ${part.source}`)].join('\n').toLowerCase();
  });
}

const table = (() => {
  const FIRST = 60;
  const SORTS = {
    difference: {label: 'difference', compare: (x, y) => Math.abs(y.difference) - Math.abs(x.difference)},
    more: {label: 'more in B', compare: (x, y) => y.difference - x.difference},
    less: {label: 'more in A', compare: (x, y) => x.difference - y.difference},
    line: {label: 'line', compare: (x, y) => x.source.localeCompare(y.source, 'en', {numeric: true})},
  };
  let section = SECTIONS[0], sort = 'difference', words = [], shown = [], grown = null, open = null;

  const signed = (amount) => (amount < 0 ? '−' : amount > 0 ? '+' : '') + section.amount(Math.abs(amount));
  const partsText = (parts) => parts.map((part) => `${countText(part.times)} × ${part.what}`).join(', ');

  function side(name, parts, cost) {
    return el('span', {class: parts.length ? 'side' : 'side none', 'data-side': name},
      parts.length ? `${section.amount(cost)}: ${partsText(parts.slice(0, 3))}${parts.length > 3 ? `, and ${countText(parts.length - 3)} more` : ''}` : 'nothing');
  }
  function draw(row) {
    const most = Math.max(...section.rows.map((other) => Math.abs(other.difference)), 1);
    const seconds = number(row.seconds_b) - number(row.seconds_a);
    const change = el('span', {class: row.difference < 0 ? 'change less' : 'change'},
      el('i', {style: {width: `${(100 * Math.abs(row.difference) / most).toFixed(1)}%`}}), el('span', {}, signed(row.difference)),
      seconds ? el('small', {}, (seconds < 0 ? '−' : '+') + timeText(Math.abs(seconds))) : null);
    const where = el('span', {class: 'where'}, row.source ? el('b', {}, breakable(row.source)) : null, ' ', breakable(row.name),
      row.source_in_a && row.source && row.source_in_a !== row.source ? el('span', {class: 'soft'}, ` (${row.source_in_a} in A)`) : null,
      el('a', {class: 'anchor', href: '#' + row.id, title: 'A link to this row', tabindex: -1, 'aria-label': 'Link to this row'}, '#'));
    const line = el('div', {class: 'line', id: row.id, tabindex: -1, role: 'button', 'aria-expanded': String(open === row),
      onclick: (event) => { if (!event.target.closest('a')) toggle(row); }}, change, where, side('A', row.parts_a, row.a), side('B', row.parts_b, row.b));
    return el('li', {'data-row': row.index}, line, open === row ? details(row) : null);
  }
  function details(row) {
    const part = (one) => el('li', {}, section.key === 'sent' ? el('i', {class: 'swatch', style: {background: kindColor(one.what.split(' ')[0])}}) : null,
      el('b', {}, section.amount(one.cost * one.times)), ` ${countText(one.times)} × ${one.what}`,
      one.times > 1 ? ` of ${section.amount(one.cost)}` : '', number(one.seconds) ? `, ${timeText(one.seconds)}` : '', ' ',
      el('span', {class: 'soft'}, breakable(one.name), one.source && one.source !== row.source ? ` (${one.source})` : ''),
      one.step ? el('span', {class: 'step'}, one.step) : null);
    const sideOf = (name, parts) => el('div', {}, el('h3', {}, name), el('ul', {}, parts.length ? parts.map(part) : el('li', {class: 'soft'}, 'nothing')));
    return el('div', {class: 'details'}, sideOf(`A: ${data.a.label}`, row.parts_a), sideOf(`B: ${data.b.label}`, row.parts_b));
  }
  function focus(line) {
    if (!line) return;
    byId('rows').querySelectorAll('.line[tabindex="0"]').forEach((other) => other.setAttribute('tabindex', -1));
    line.setAttribute('tabindex', 0);
    line.focus({preventScroll: true});
    line.scrollIntoView({block: 'nearest'});
  }
  function setOpen(row, keepsLink) {
    const changed = [open, row].filter((one) => one);
    open = row;
    for (const one of changed) {
      const line = byId(one.id);
      if (line) line.parentNode.replaceWith(draw(one));
    }
    if (!keepsLink) history.replaceState(null, '', open ? '#' + open.id : location.pathname + location.search);
  }
  function toggle(row) {
    setOpen(open === row ? null : row);
    focus(byId(row.id));
  }
  function sameText() {
    const costs = section.costs, elsewhere = list(costs.rows).filter((row) => row.kind === 'elsewhere');
    const others = list(costs.rows).filter((row) => row.kind === 'elsewhere' || row.kind === 'other time');
    const bytes = number(costs.same) + others.reduce((sum, row) => sum + row.a, 0);
    return bytes ? ` The same in both: ${section.amount(bytes)}${elsewhere.length ? `, part of it at other lines` : ''}.` : '';
  }
  function redraw() {
    shown = section.rows.filter((row) => words.every((word) => row.words.includes(word)))
      .sort((x, y) => SORTS[sort].compare(x, y) || x.index - y.index);
    byId('section-about').textContent = section.about + sameText();
    byId('sections').querySelectorAll('button').forEach((button) => button.setAttribute('aria-pressed', String(button.dataset.key === section.key)));
    grown = growingList(byId('rows'), byId('rows-more'), shown, FIRST, draw);
    const first = byId('rows').querySelector('.line');
    if (first) first.setAttribute('tabindex', 0);
    byId('row-count').textContent = shown.length === section.rows.length ? '' : `${countText(shown.length)} of ${countText(section.rows.length)} rows`;
    if (!shown.length) byId('rows').append(el('li', {class: 'empty'}, section.rows.length ? 'No row has these words.' : 'No difference.'));
  }
  function onKey(event) {
    const line = event.target.closest('.line');
    if (event.ctrlKey || event.metaKey || event.altKey || (!line && event.key !== 'Escape')) return;
    const lines = Array.from(byId('rows').querySelectorAll('.line'));
    const at = lines.indexOf(line);
    if (event.key === 'ArrowDown') {
      if (at === lines.length - 1) grown.growTo(lines.length + FIRST);
      focus(byId('rows').querySelectorAll('.line')[at + 1]);
    } else if (event.key === 'ArrowUp') {
      if (at > 0) focus(lines[at - 1]); else byId('find').focus();
    } else if (event.key === 'Enter' || event.key === ' ') toggle(section.rows[+line.parentNode.dataset.row]);
    else if (event.key === 'Escape' && open) toggle(open);
    else return;
    event.preventDefault();
  }

  return {
    start() {
      byId('sections').append(...SECTIONS.map((one) => el('button', {type: 'button', 'data-key': one.key, onclick: () => table.choose(one.key)},
        `${one.label} (${countText(one.rows.length)})`)));
      byId('sort').append(...Object.entries(SORTS).map(([key, one]) => el('option', {value: key}, one.label)));
      byId('sort').addEventListener('change', () => { sort = byId('sort').value; redraw(); });
      byId('find').addEventListener('input', () => table.find(byId('find').value));
      byId('find').addEventListener('keydown', (event) => {
        if (event.key === 'ArrowDown') { event.preventDefault(); focus(byId('rows').querySelector('.line')); }
        if (event.key === 'Escape') { byId('find').value = ''; table.find(''); }
      });
      byId('rows').addEventListener('keydown', onKey);
      redraw();
    },
    choose(key) {
      section = SECTIONS.find((one) => one.key === key) || SECTIONS[0];
      open = null;
      redraw();
    },
    find(string) {
      words = string.toLowerCase().split(/\s+/).filter((word) => word);
      redraw();
    },
    // Opens the row that a link names, if there is one.
    openLink(id) {
      const of = SECTIONS.find((one) => one.rows.some((row) => row.id === id));
      if (!of) return;
      words = [];
      byId('find').value = '';
      table.choose(of.key);
      const row = section.rows.find((one) => one.id === id);
      grown.growTo(shown.indexOf(row) + 1);
      setOpen(row, true);
      focus(byId(id));
      byId(id).scrollIntoView({block: 'start'});
    },
  };
})();
