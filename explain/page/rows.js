// rows.js: the table of rows: sorted, filtered, folded; one row may be open and shows its details below it.

const table = (() => {
  const FIRST = 60, FIRST_MEMBERS = 20, MOST_DRAWN = 2000;
  const COLUMNS = [
    {key: 'opcode', label: 'collective'}, {key: 'count', label: 'count', isNumber: true},
    {key: 'group', label: 'group', isNumber: true}, {key: 'operands', label: 'operands', isNumber: true},
    {key: 'sent', label: 'sent', isNumber: true},
    ...(hasTimes ? [{key: 'seconds', label: 'time', isNumber: true}, {key: 'share', label: 'of step', isNumber: true}] : []),
    ...(hasHidden ? [{key: 'hidden', label: 'hidden', isNumber: true}] : []),
    {key: 'name', label: 'needed by'},
  ];
  let sort = {key: hasTimes ? 'seconds' : 'sent', descending: true};
  let shown = rows;
  let grown = null;
  let open = null;                // {row, member}: `member` a place in row.members, null for the row itself.
  const unfolded = new Set();     // Rows whose members are shown.
  const bodyOf = new Map();       // By row, of those that were drawn.

  function compare(a, b) {
    const x = a[sort.key], y = b[sort.key];
    const order = typeof x === 'number' ? x - y : x < y ? -1 : x > y ? 1 : 0;
    return (sort.descending ? -order : order) || a.index - b.index;
  }
  const idOf = (row, member) => (member === null ? row.id : `${row.id}.${member + 1}`);

  function drawHead() {
    const cells = COLUMNS.map((column) => el('th', {
      class: column.isNumber ? 'number' : null, scope: 'col',
      'aria-sort': sort.key === column.key ? (sort.descending ? 'descending' : 'ascending') : null,
    }, el('button', {type: 'button', 'data-key': column.key, onclick: () => sortBy(column)}, column.label)));
    byId('rows').tHead.replaceChildren(el('tr', {}, cells));
    byId('sort').value = sort.key;
  }
  function sortBy(column) {
    const descending = sort.key === column.key ? !sort.descending : Boolean(column.isNumber);
    sort = {key: column.key, descending};
    table.draw();
  }

  function countCell(row) {
    const many = row.members.length > 1;
    const fold = many ? el('button', {type: 'button', class: 'fold', tabindex: -1, 'aria-expanded': String(unfolded.has(row)),
      'aria-label': `${unfolded.has(row) ? 'Fold' : 'Show'} the ${row.members.length} collectives of this row`,
      onclick: (event) => { event.stopPropagation(); unfold(row, !unfolded.has(row)); }}, unfolded.has(row) ? '▾' : '▸') : null;
    return el('td', {class: 'number count'}, fold, countText(row.count), row.raw.in_loop || row.raw.trips !== 1 ?
      el('span', {class: 'trips'}, ' ' + tripsText(row.raw)) : null);
  }
  function causeCell(name, step, source) {
    return el('td', {class: 'cause'}, el('span', {class: 'name'}, breakable(name)),
      step ? el('span', {class: 'step'}, step) : null, source ? el('span', {class: 'at'}, breakable(source)) : null);
  }
  function sentCell(bytes) {
    const share = mostSent > 0 ? 100 * bytes / mostSent : 0;
    return el('td', {class: 'number sent'}, el('i', {class: 'bar', style: {width: `${share.toFixed(1)}%`}}), el('span', {}, bytesText(bytes)));
  }
  // `hidden`: seconds in which other ops compute; null where it is not known.
  function timeCells(seconds, share, hidden) {
    const cells = hasTimes ? [el('td', {class: 'number time'}, timeText(seconds)), el('td', {class: 'number share'}, shareText(share))] : [];
    if (hasHidden) cells.push(el('td', {class: 'number share'}, hidden === null || seconds === 0 ? '' : shareText(Math.min(1, hidden / seconds))));
    return cells;
  }
  function lineOf(row, member, cells) {
    const isOpen = open && open.row === row && open.member === member;
    const id = idOf(row, member);
    return el('tr', {id, tabindex: -1, class: member === null ? 'main' : 'member', 'aria-expanded': String(Boolean(isOpen)),
      onclick: (event) => { if (!event.target.closest('a, button')) table.toggle(row, member); }}, cells);
  }
  function mainLine(row) {
    const opcode = el('td', {class: 'opcode'}, el('i', {class: 'swatch', style: {background: kindColor(row.opcode)}}), row.opcode,
      el('a', {class: 'anchor', href: '#' + row.id, title: 'A link to this row', tabindex: -1, 'aria-label': 'Link to this row'}, '#'));
    return lineOf(row, null, [opcode, countCell(row), el('td', {class: 'number group'}, row.group ? countText(row.group) : '?'),
      el('td', {class: 'number operands'}, bytesText(row.operands)), sentCell(row.sent), ...timeCells(row.seconds, row.share, row.hidden),
      causeCell(row.name, row.step, row.source)]);
  }
  function memberLine(row, member) {
    const record = records[row.members[member]];
    const name = record.cause.split(/: (?=\[|partial |device order)/)[0];
    return lineOf(row, member, [el('td', {class: 'opcode'}, `${member + 1} of ${row.members.length}`), el('td', {class: 'count'}),
      el('td', {class: 'group'}), el('td', {class: 'number operands'}, bytesText(record.operand_bytes)), sentCell(record.sent_bytes),
      ...timeCells(number(record.seconds), explanation.step_seconds > 0 ? number(record.seconds) / explanation.step_seconds : 0, null),
      causeCell(name, '', recordName(record) === name ? '' : recordName(record))]);
  }
  function detailLine(row, member) {
    const cell = el('td', {colspan: COLUMNS.length});
    drawDetail(cell, row, member);
    return el('tr', {class: 'details'}, cell);
  }
  function fill(body, row) {
    const lines = [mainLine(row)];
    if (open && open.row === row && open.member === null) lines.push(detailLine(row, null));
    if (unfolded.has(row)) {
      const most = Math.max(number(body.members) || FIRST_MEMBERS, open && open.row === row && open.member !== null ? open.member + 1 : 0);
      for (let member = 0; member < Math.min(most, row.members.length); ++member) {
        lines.push(memberLine(row, member));
        if (open && open.row === row && open.member === member) lines.push(detailLine(row, member));
      }
      if (most < row.members.length) {
        lines.push(el('tr', {class: 'rest'}, el('td', {colspan: COLUMNS.length}, el('button', {type: 'button',
          onclick: () => { body.members = most + 100; fill(body, row); }}, `Show more of the ${countText(row.members.length)}`))));
      }
    }
    body.replaceChildren(...lines);
  }
  function drawRow(row) {
    const body = el('tbody', {'data-row': row.index, 'data-sent': row.sent});
    bodyOf.set(row, body);
    fill(body, row);
    return body;
  }
  const refresh = (row) => { if (bodyOf.has(row)) fill(bodyOf.get(row), row); };

  function unfold(row, wanted) {
    if (row.members.length < 2 || unfolded.has(row) === wanted) return;
    if (wanted) unfolded.add(row); else unfolded.delete(row);
    if (!wanted && open && open.row === row && open.member !== null) setOpen(null);
    refresh(row);
    focus(byId(row.id));
  }
  function setOpen(next, keepsLink) {
    const last = open;
    open = next;
    if (last) refresh(last.row);
    if (open && (!last || open.row !== last.row)) refresh(open.row);
    if (!keepsLink) history.replaceState(null, '', open ? '#' + idOf(open.row, open.member) : location.pathname + location.search);
    mesh.select(open ? records[open.row.members[open.member || 0]] : null);
    if (open) source.select(records[open.row.members[open.member || 0]]);
  }
  function focus(line) {
    if (!line) return;
    byId('rows').querySelectorAll('tr[tabindex="0"]').forEach((other) => other.setAttribute('tabindex', -1));
    line.setAttribute('tabindex', 0);
    line.focus({preventScroll: true});
    line.scrollIntoView({block: 'nearest'});
  }

  function onKey(event) {
    // Inside the details of a row only Escape is the table's.
    const isEscape = event.key === 'Escape' && open;
    const line = event.target.closest('tr.main, tr.member') || (isEscape ? byId(idOf(open.row, open.member)) : null);
    if (!line || event.ctrlKey || event.metaKey || event.altKey) return;
    const lines = Array.from(byId('rows').querySelectorAll('tr.main, tr.member'));
    const at = lines.indexOf(line);
    const row = rows[+line.parentNode.dataset.row];
    const member = line.classList.contains('main') ? null : +line.id.split('.').pop() - 1;
    if (event.target !== line && !isEscape) return;
    if (event.key === 'ArrowDown') {
      if (at === lines.length - 1 && grown) grown.growTo(bodyOf.size + FIRST);
      focus(byId('rows').querySelectorAll('tr.main, tr.member')[at + 1]);
    } else if (event.key === 'ArrowUp') {
      if (at > 0) focus(lines[at - 1]); else byId('find').focus();
    } else if (event.key === 'ArrowRight') unfold(row, true);
    else if (event.key === 'ArrowLeft') unfold(row, false);
    else if (event.key === 'Enter' || event.key === ' ') table.toggle(row, member);
    else if (isEscape) {
      const id = idOf(open.row, open.member);
      setOpen(null);
      focus(byId(id));
    } else return;
    event.preventDefault();
  }

  return {
    draw() {
      shown = rows.filter(search.matches).sort(compare);
      bodyOf.clear();
      drawHead();
      const body = {replaceChildren: () => byId('rows').querySelectorAll('tbody').forEach((part) => part.remove()),
        append: (part) => byId('rows').append(part)};
      grown = growingList(body, byId('rows-more'), shown, FIRST, drawRow);
      const first = byId('rows').querySelector('tr.main');
      if (first) first.setAttribute('tabindex', 0);
      byId('row-count').textContent = shown.length === rows.length ? '' : `${countText(shown.length)} of ${countText(rows.length)} rows`;
      if (shown.length) return;
      const why = rows.length ? 'No row has these words.' : 'No collectives: nothing is sent.';
      byId('rows').append(el('tbody', {}, el('tr', {}, el('td', {colspan: COLUMNS.length, class: 'empty'}, why))));
    },
    start() {
      byId('sort').append(...COLUMNS.map((column) => el('option', {value: column.key}, column.label)));
      byId('sort').addEventListener('change', () => {
        const column = COLUMNS.find((other) => other.key === byId('sort').value);
        sort = {key: column.key, descending: Boolean(column.isNumber)};
        table.draw();
      });
      byId('rows').addEventListener('keydown', onKey);
      table.draw();
    },
    focusFirst() { focus(byId('rows').querySelector('tr.main')); },
    isOpen: (row, member) => Boolean(open) && open.row === row && open.member === member,
    toggle(row, member) {
      setOpen(table.isOpen(row, member) ? null : {row, member});
      focus(byId(idOf(row, member)));
    },
    // Opens the row or member that a link names; false if there is none.
    openLink(id) {
      const [rowId, place] = id.split('.');
      const row = rowOfId.get(rowId);
      if (!row) return false;
      const member = place === undefined || !row.members[place - 1] && row.members[place - 1] !== 0 ? null : place - 1;
      if (!search.matches(row)) search.set('');
      if (shown.indexOf(row) > MOST_DRAWN) search.set(row.name);
      grown.growTo(shown.indexOf(row) + 1);
      if (member !== null) unfolded.add(row);
      setOpen({row, member}, true);
      const line = byId(idOf(row, member));
      focus(line);
      line.scrollIntoView({block: 'start'});
      return true;
    },
  };
})();
