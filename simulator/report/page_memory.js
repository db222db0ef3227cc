// page_memory.js: bytes in use over the step by what they are for, under the capacity of a device, what they are at the peak,
// and the largest tensors alive there.

const memoryPart = (() => {
  const memory = data.memory || {};
  const PARTS = [['parameters', '#0072b2'], ['state', '#56b4e9'], ['slots', '#cc79a7'], ['activations', '#009e73'], ['workspace', '#e69f00']];
  // [time, all bytes, bytes of each part].
  const samples = list(memory.samples).filter((s) => s.length === PARTS.length + 1 && s.every(isFinite))
    .map((s) => [s[0], d3.sum(s.slice(1)), ...s.slice(1)]).sort((a, b) => a[0] - b[0]);
  const peak = number(memory.peak), capacity = number(memory.capacity);
  const LEFT = 70, RIGHT = 14, TOP = 22, BOTTOM = 28, HEIGHT = 250;

  // The sample with most bytes of each pixel column, so that no peak is lost: [[x, sample], ...], a step function.
  function columns(x, width) {
    const result = [];
    let i = 0, current = samples[0];
    for (let column = 0; column <= width; ++column) {
      const until = x.invert(LEFT + column + 1);
      let most = current;
      for (; i < samples.length && samples[i][0] < until; ++i) {
        current = samples[i];
        if (current[1] > most[1]) most = current;
      }
      result.push([LEFT + column, most]);
    }
    return result;
  }
  const at = (time) => samples[Math.max(0, d3.bisector((s) => s[0]).right(samples, time) - 1)];
  const partsOf = (sample) => PARTS.map(([name, color], i) => ({name, color, bytes: sample[2 + i]}));

  function drawChart() {
    if (samples.length === 0) return drawEmpty('#memory', 'Nothing is held in memory.');
    const plot = makePlot('#memory', HEIGHT);
    if (!plot) return;
    plot.canvas.remove();
    plot.svg.style('pointer-events', null).attr('class', null);
    const svg = plot.svg, width = plot.width - LEFT - RIGHT, bottom = HEIGHT - BOTTOM;
    const x = d3.scale.linear().domain([0, endSeconds || 1e-9]).range([LEFT, LEFT + width]);
    // A program that needs little would be a line at the bottom: then the capacity is out of the picture.
    const showsCapacity = capacity > 0 && peak > capacity / 20;
    const y = d3.scale.linear().domain([0, showsCapacity ? Math.max(peak, capacity) * 1.08 : Math.max(peak, 1) * 1.2]).range([bottom, TOP]);
    // The labels share a unit, of which they are round numbers.
    const power = Math.max(0, Math.min(4, Math.floor(Math.log(y.domain()[1]) / Math.log(1024)))), unit = Math.pow(1024, power);
    const ticks = d3.scale.linear().domain([0, y.domain()[1] / unit]).ticks(5).map((v) => v * unit);
    svg.append('g').attr({class: 'axis grid', transform: `translate(${LEFT},0)`})
      .call(d3.svg.axis().scale(y).orient('left').tickValues(ticks).tickSize(-width, 0).tickPadding(6).tickFormat((v) => (v ? `${+(v / unit).toPrecision(3)}\u00a0${['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]}` : '0')));
    svg.append('g').attr({class: 'axis', transform: `translate(0,${bottom})`})
      .call(d3.svg.axis().scale(x).orient('bottom').ticks(Math.max(3, Math.floor(width / 120))).tickSize(5).tickFormat((t) => (t ? timeText(t).replace(/\.0+(?=\D)/, '') : '0')));
    const points = columns(x, width);
    const area = d3.svg.area().x((d) => d[0]).y0(bottom).interpolate('step-after');
    PARTS.forEach(([, color], i) => {
      const below = (d) => d3.sum(d[1].slice(2, 2 + i));
      svg.append('path').attr({fill: color, opacity: 0.75,
        d: d3.svg.area().x((d) => d[0]).y0((d) => y(below(d))).y1((d) => y(below(d) + d[1][2 + i])).interpolate('step-after')(points)});
    });
    svg.append('path').attr({fill: 'none', stroke: cssColor('text'), 'stroke-width': 1, opacity: 0.6,
      d: d3.svg.line().x((d) => d[0]).y((d) => y(d[1][1])).interpolate('step-after')(points)});
    if (showsCapacity) {
      if (peak > capacity) {
        svg.append('clipPath').attr('id', 'over').append('rect').attr({x: LEFT, y: 0, width, height: y(capacity)});
        svg.append('path').attr({d: area.y1((d) => y(d[1][1]))(points), 'clip-path': 'url(#over)', class: 'bad', opacity: 0.8});
      }
      svg.append('line').attr({x1: LEFT, x2: LEFT + width, y1: y(capacity), y2: y(capacity), stroke: cssColor('bad'),
        'stroke-width': 1.5, 'stroke-dasharray': '6 4'});
      svg.append('text').attr({class: 'bad', x: LEFT + width - 4, y: y(capacity) - 5, 'text-anchor': 'end'}).text(`capacity ${bytesText(capacity)}`);
    }
    const highest = samples.reduce((a, b) => (b[1] > a[1] ? b : a));
    const px = x(highest[0]), py = y(highest[1]), leftward = px > LEFT + width - 150;
    svg.append('circle').attr({cx: px, cy: py, r: 4, fill: cssColor('text'), stroke: cssColor('card'), 'stroke-width': 1.5});
    // Below the capacity line where both would meet.
    const near = showsCapacity && Math.abs(py - y(capacity)) < 20 && px > LEFT + width - 330;
    svg.append('text').attr({x: px + (leftward ? -9 : 9), y: py + (near ? 17 : -6), 'text-anchor': leftward ? 'end' : 'start'})
      .text(`peak ${bytesText(peak)}`);
    const cursor = svg.append('line').attr({y1: TOP, y2: bottom, stroke: cssColor('soft'), 'stroke-dasharray': '3 3'}).style('display', 'none');
    svg.append('rect').attr({x: LEFT, y: 0, width, height: bottom, fill: 'transparent'})
      .on('mousemove', () => {
        const time = x.invert(d3.mouse(svg.node())[0]);
        bus.cursor(time);
        const running = eventAt(tracks[0], time);
        const sample = at(time);
        showTip([bytesText(sample[1]), ...partsOf(sample).filter((part) => part.bytes > 0).map((part) => `${part.name} ${bytesText(part.bytes)}`), `at ${timeText(time)}`, running >= 0 ? `while ${tracks[0].row[running].name} runs` : '']);
      })
      .on('mouseleave', () => { bus.cursor(null); hideTip(); });
    bus.on('cursor.memory', (time) => {
      cursor.style('display', time === null ? 'none' : null);
      if (time !== null) cursor.attr({x1: x(time), x2: x(time)});
    });
  }

  function drawParts() {
    const place = d3.select('#memory .parts .bar').html('');
    const width = place.node().clientWidth;
    const bytesOf = (name) => number(memory[name]) - (name === 'state' ? number(memory.slots) : 0);
    const parts = PARTS.map(([name, color]) => ({name, color, bytes: bytesOf(name)})).filter((part) => part.bytes > 0);
    if (width < 50 || parts.length === 0) return;
    const svg = place.append('svg').attr({width, height: parts.length * 40});
    const x = d3.scale.linear().domain([0, d3.max(parts, (part) => part.bytes)]).range([0, width - 10]);
    const row = svg.selectAll('g').data(parts).enter().append('g').attr('transform', (_, i) => `translate(0,${i * 40})`);
    row.append('text').attr({x: 0, y: 14}).text((part) => part.name);
    row.append('text').attr({class: 'soft', x: width - 10, y: 14, 'text-anchor': 'end'})
      .text((part) => `${bytesText(part.bytes)} · ${shareText(part.bytes / (peak || 1))}`);
    row.append('rect').attr({y: 20, height: 11, width: (part) => Math.max(1, x(part.bytes)), fill: (part) => part.color});
  }

  function drawTensors() {
    const largest = list(memory.largest).slice(0, 10);
    d3.selectAll('#memory h3:last-of-type').style('display', largest.length ? null : 'none');
    const table = d3.select('#memory .tensors').html('');
    if (largest.length === 0) return;
    table.append('thead').append('tr').selectAll('th').data([['Bytes', '16%', 'number'], ['Tensor', '20%'], ['Shape', '20%'], ['Part', '10%'], ['Source line', '14%'], ['op_name', '']])
      .enter().append('th').attr('class', (d) => d[2] || null).style('width', (d) => d[1]).text((d) => d[0]);
    const most = number(largest[0].bytes) || 1;
    const row = table.append('tbody').selectAll('tr').data(largest).enter().append('tr');
    const bytes = row.append('td').attr('class', 'number');
    bytes.append('i').attr('class', 'share').style('background', (d) => (PARTS.find((p) => d.class && p[0].startsWith(String(d.class).slice(0, 5))) || ['', GREY])[1])
      .style('width', (d) => 60 * number(d.bytes) / most + 'px');
    bytes.append('span').text((d) => bytesText(d.bytes));
    for (const key of ['instruction', 'shape', 'class', 'source', 'op_name']) {
      row.append('td').attr('title', (d) => text(d[key])).classed('end', key === 'source' || key === 'instruction')
        .append('span').text((d) => text(d[key]));
    }
  }

  function resize() {
    const where = text(memory.peak_at);
    d3.select('#memory .summary').text(peak > 0 ? `The most is held${where ? ` when ${where} runs` : ''}: ${bytesText(peak)}` +
      (capacity > 0 ? (peak > capacity ? `, ${bytesText(peak - capacity)} too much.` : `, ${shareText(peak / capacity)} of the capacity of ${bytesText(capacity)}.`) : '.') +
      ' Workspace is what the op that runs reads and writes, activations what waits for later ones.' : '');
    drawChart();
    drawParts();
    drawTensors();
  }
  return {resize};
})();
