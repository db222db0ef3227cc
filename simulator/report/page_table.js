// page_table.js: groups and collectives as one table: sorted by any column, filtered, grouped by source line on demand,
// fifty rows a page. The selected row shows its details below it.

const table = (() => {
  const PAGE = 50;
  const COLUMNS = [
    {key: 'seconds', title: 'Time', width: '86px', number: true},
    {key: 'share', title: 'Share', width: '112px', number: true},
    {key: 'kind', title: 'Kind', width: '132px'},
    {key: 'bound', title: 'Bound by', width: '86px'},
    {key: 'name', title: 'Instruction', width: '17%'},
    {key: 'source', title: 'Source line', width: '15%'},
    {key: 'opName', title: 'op_name', width: ''},
    {key: 'cause', title: 'Cause', width: '16%'},
    {key: 'executions', title: 'Runs', width: '66px', number: true},
  ];
  let order = {key: 'seconds', descending: true}, page = 0, grouped = false, selected = null;
  const filter = {words: [], kind: 'all', source: null};
  const open = new Set();  // Source lines whose rows are shown.
  let lines = [];          // What all pages show: rows and, when grouped, entries of bySource.
  let widest = 1;          // The largest share of them.

  function matches(row) {
    if (filter.source !== null && row.source !== filter.source) return false;
    if (filter.kind === '=computation' ? row.communicates : filter.kind === '=communication' ? !row.communicates :
      filter.kind !== 'all' && row.kind !== filter.kind) return false;
    if (filter.words.length === 0) return true;
    if (row.words === undefined) row.words = [row.name, row.kind, row.bound, row.source, row.opName, row.cause].join('\n').toLowerCase();
    return filter.words.every((word) => row.words.includes(word));
  }
  function compare(a, b) {
    const x = a[order.key], y = b[order.key];
    if (x === y) return b.seconds - a.seconds;
    // Rows without the text come last in either order.
    if (x === '' || y === '') return x === '' ? 1 : -1;
    return (x < y ? -1 : 1) * (order.descending ? -1 : 1);
  }
  function arrange() {
    const rows = allRows.filter(matches).sort(compare);
    if (!grouped) {
      lines = rows;
      return rows.length;
    }
    lines = [];
    const entries = bySource(rows).map((entry) => Object.assign(entry, {entry: true, kind: entry.top.kind, bound: entry.top.bound,
      name: `${countText(entry.rows.length)} row${entry.rows.length > 1 ? 's' : ''}`, opName: entry.top.opName, cause: entry.top.cause}));
    for (const entry of entries.sort(compare)) {
      lines.push(entry);
      if (open.has(entry.source)) lines.push(...entry.rows);
    }
    return rows.length;
  }

  function cell(line, column) {
    const td = d3.select(this);
    if (column.key === 'seconds') {
      const mark = line.entry ? (open.has(line.source) ? '▾ ' : '▸ ') : '';
      return td.text(mark + timeText(line.seconds));
    }
    if (column.key === 'executions') return td.text(countText(line.executions));
    if (column.key === 'share') {
      td.append('i').attr('class', 'share').style({width: 46 * line.share / (widest || 1) + 'px', background: colorOf(line.kind)});
      return td.append('span').text(shareText(line.share));
    }
    const string = text(line[column.key]);
    if (column.key === 'kind') td.append('i').attr('class', 'swatch').style('background', colorOf(line.kind));
    // The end of an op_name tells most; all of it is in the title and in the details.
    if (column.key === 'opName') return td.attr('title', string).append('span').text(tail(string, 2));
    if (column.key === 'source' || column.key === 'name') td.classed('end', true);
    return td.attr('title', string).append('span').text(column.key === 'source' && !string && line.entry ? 'no source line' : string);
  }
  function details(row) {
    const raw = row.raw, once = Math.max(1, row.executions);
    const per = row.executions > 1 ? `, ${timeText(row.seconds / once)} each of ${countText(row.executions)} times` : '';
    return [
      ['Instruction', row.name + (raw.opcode ? ` (${raw.opcode})` : '')],
      ['Time', timeText(row.seconds) + per],
      ['Bound by', row.communicates ? `the network${raw.algorithm ? `: ${raw.algorithm}` : ''}` : row.bound +
        (number(raw.roofline_seconds) > 0 ? `; the roofline allows ${timeText(raw.roofline_seconds)} (${shareText(raw.roofline_seconds / row.seconds)} of it reached)` : '')],
      ['Work', [number(raw.flops) > 0 ? `${rateText(raw.flops, 'FLOP')} (${rateText(raw.flops / row.seconds, 'FLOP/s')})` : '',
        number(raw.bytes) > 0 ? `${bytesText(raw.bytes)} ${row.communicates ? 'sent' : `of memory traffic (${rateText(raw.bytes / row.seconds, 'B/s')})`}` : '']
        .filter((part) => part).join(', ')],
      ['Source line', row.source], ['op_name', row.opName], ['Cause', row.cause],
    ].filter((pair) => pair[1]);
  }

  function draw() {
    const shown = arrange();
    widest = d3.max(lines, (line) => line.share);
    const pages = Math.max(1, Math.ceil(lines.length / PAGE));
    page = Math.max(0, Math.min(page, pages - 1));
    d3.selectAll('#rows th').attr('aria-sort', (column) => (column.key !== order.key ? null : order.descending ? 'descending' : 'ascending'));
    const body = d3.select('#rows tbody').html('');
    for (const line of lines.slice(page * PAGE, (page + 1) * PAGE)) {
      const tr = body.append('tr').datum(line).attr('class', `${line.entry ? 'entry' : ''} ${!line.entry && grouped ? 'child' : ''} ${line === selected ? 'selected' : ''}`)
        .attr({tabindex: 0, 'data-seconds': line.seconds, 'aria-expanded': line.entry ? open.has(line.source) : null})
        .on('click', () => choose(line))
        .on('keydown', () => {
          if (d3.event.key === 'Enter' || d3.event.key === ' ') { d3.event.preventDefault(); choose(line); }
        });
      tr.selectAll('td').data(COLUMNS).enter().append('td').attr('class', (column) => (column.number ? 'number' : null))
        .each(function (column) { cell.call(this, line, column); });
      if (line === selected) {
        const list = body.append('tr').attr('class', 'details').append('td').attr('colspan', COLUMNS.length).append('dl');
        for (const [name, value] of details(line)) {
          list.append('dt').text(name);
          list.append('dd').text(value);
        }
      }
    }
    if (lines.length === 0) {
      body.append('tr').append('td').attr({class: 'empty', colspan: COLUMNS.length})
        .text(allRows.length ? 'No row matches.' : 'Nothing takes time.');
    }
    d3.select('#table-count').text(`${countText(shown)} of ${countText(allRows.length)} rows` +
      (filter.source !== null ? ` from ${filter.source || 'no source line'}` : ''));
    d3.select('#table-pages').attr('hidden', pages > 1 ? null : '');
    d3.select('#table-pages span').text(`Page ${page + 1} of ${pages}`);
    d3.selectAll('#table-pages [data-page=first], #table-pages [data-page=previous]').property('disabled', page === 0);
    d3.selectAll('#table-pages [data-page=last], #table-pages [data-page=next]').property('disabled', page === pages - 1);
  }
  function choose(line) {
    if (line.entry) {
      if (!open.delete(line.source)) open.add(line.source);
      return draw();
    }
    bus.select(line === selected ? null : line);
  }

  // Turns to the page of `row`, without filters if they hide it.
  function turnTo(row) {
    if (!matches(row)) clearFilters();
    if (grouped) open.add(row.source);
    arrange();
    page = Math.max(0, Math.floor(lines.indexOf(row) / PAGE));
  }
  function clearFilters() {
    Object.assign(filter, {words: [], kind: 'all', source: null});
    d3.select('#table-filter').property('value', '');
    d3.select('#table-class').property('value', 'all');
  }
  // Shows the rows of one kind or source line, from elsewhere on the page.
  function show({kind, source}) {
    clearFilters();
    if (kind !== undefined) {
      filter.kind = kind;
      d3.select('#table-class').property('value', kind);
    }
    if (source) {
      filter.words = [source.toLowerCase()];
      d3.select('#table-filter').property('value', source);
    }
    if (source !== undefined) filter.source = source;
    order = {key: 'seconds', descending: true};
    page = 0;
    draw();
    hideTip();
    document.getElementById('table').scrollIntoView({behavior: 'smooth', block: 'start'});
  }

  function start() {
    const head = d3.select('#rows thead').append('tr').selectAll('th').data(COLUMNS).enter().append('th')
      .attr({class: (column) => (column.number ? 'number' : null), scope: 'col'}).style('width', (column) => column.width);
    head.append('button').attr({type: 'button', 'data-key': (column) => column.key}).text((column) => column.title)
      .on('click', (column) => {
        order = {key: column.key, descending: column.key === order.key ? !order.descending : Boolean(column.number)};
        page = 0;
        draw();
      });
    const kinds = Array.from(new Set(allRows.map((row) => row.kind))).sort();
    const options = [['all', 'all'], ['=computation', 'computation'], ['=communication', 'communication'], ...kinds.map((kind) => [kind, kind])];
    d3.select('#table-class').selectAll('option').data(options).enter().append('option').attr('value', (d) => d[0]).text((d) => d[1]);
    d3.select('#table-class').on('change', function () { filter.kind = this.value; page = 0; draw(); });
    d3.select('#table-filter').on('input', function () {
      filter.words = this.value.toLowerCase().split(/\s+/).filter((word) => word);
      filter.source = null;
      page = 0;
      draw();
    });
    d3.select('#table-grouped').on('change', function () { grouped = this.checked; page = 0; draw(); });
    d3.selectAll('#table-pages button').on('click', function () {
      const to = this.getAttribute('data-page');
      page = to === 'first' ? 0 : to === 'previous' ? page - 1 : to === 'next' ? page + 1 : Infinity;
      draw();
    });
    d3.select('#selection-show').on('click', () => {
      turnTo(selected);
      draw();
      const row = document.querySelector('#rows tr.selected');
      if (row) row.scrollIntoView({behavior: 'smooth', block: 'center'});
    });
    d3.select('#selection-clear').on('click', () => bus.select(null));
    draw();
  }
  bus.on('select.table', (row) => {
    selected = row;
    if (row) turnTo(row);
    draw();
    d3.select('#selection').attr('hidden', row ? null : '');
    const line = d3.select('#selection p').html('');
    if (!row) return;
    line.append('strong').text(row.source || row.name);
    line.append('span').text(` ${row.kind}, ${timeText(row.seconds)}, ${shareText(row.share)} of the step` +
      (row.opName ? ` · ${row.opName}` : ''));
  });
  return {start, show};
})();
