// page_timeline.js: what runs when: tracks of computation, communication and, if there are any, copies between host
// and device, on a canvas. Events narrower than a
// pixel are drawn together: a column of pixels has the color of the kind that fills most of it, paler when mostly idle.

const timeline = (() => {
  const LEFT = 106, RIGHT = 12, TOP = 4, TRACK = 46, GAP = 6;
  const NAMES = ['Computation', 'Communication', 'Host copies'].slice(0, tracks[2].size ? 3 : 2);
  const HEIGHT = TOP + NAMES.length * (TRACK + GAP) - GAP + 30;
  const x = d3.scale.linear().domain([0, endSeconds || 1e-9]);
  let plot = null, selected = null, moment = null, cursor = null;

  const zoom = d3.behavior.zoom().scaleExtent([1, 1e6]).on('zoom', () => {
    const width = plot.width - LEFT - RIGHT;
    zoom.translate([Math.min(0, Math.max(width * (1 - zoom.scale()), zoom.translate()[0])), 0]);
    draw();
  });

  function zoomBy(factor) {
    if (!plot) return;
    const width = plot.width - LEFT - RIGHT;
    const scale = factor === 0 ? 1 : Math.min(1e6, Math.max(1, zoom.scale() * factor));
    const middle = width / 2;
    const shift = middle - (middle - zoom.translate()[0]) * scale / zoom.scale();
    zoom.scale(scale).translate([Math.min(0, Math.max(width * (1 - scale), shift)), 0]);
    draw();
  }
  function moveBy(pixels) {
    const width = plot.width - LEFT - RIGHT;
    zoom.translate([Math.min(0, Math.max(width * (1 - zoom.scale()), zoom.translate()[0] + pixels)), 0]);
    draw();
  }

  const top = (stream) => TOP + stream * (TRACK + GAP);
  const fits = (row) => selected === null || row === selected;

  function drawTrack(stream) {
    const c = plot.context, track = tracks[stream], y = top(stream);
    const [from, to] = x.domain();
    let column = -1, sums = new Map();
    const flush = () => {
      if (column < 0) return;
      let total = 0, kind = '', most = 0, chosen = false;
      sums.forEach((part, name) => {
        total += part.width;
        chosen = chosen || part.chosen;
        if (part.width > most) { most = part.width; kind = name; }
      });
      c.globalAlpha = (chosen ? 1 : 0.25) * Math.max(0.3, Math.min(1, total));
      c.fillStyle = colorOf(kind);
      c.fillRect(column, y, 1, TRACK);
      column = -1;
      sums = new Map();
    };
    const scale = (plot.width - LEFT - RIGHT) / (to - from);
    for (let i = d3.bisectRight(track.reach, from); i < track.size && track.start[i] < to; ++i) {
      const row = track.row[i];
      const left = LEFT + Math.max(-1, (track.start[i] - from) * scale);
      const right = LEFT + Math.min(plot.width - LEFT - RIGHT, (track.end[i] - from) * scale);
      if (right - left < 1.5) {
        const at = Math.floor(left);
        if (at !== column) { flush(); column = at; }
        const part = sums.get(row.kind) || {width: 0, chosen: false};
        part.width += right - left;
        part.chosen = part.chosen || fits(row);
        sums.set(row.kind, part);
        continue;
      }
      flush();
      c.globalAlpha = fits(row) ? 1 : 0.25;
      c.fillStyle = colorOf(row.kind);
      c.fillRect(left, y, right - left - (right - left > 5 ? 1 : 0), TRACK);
      if (right - left > 42) drawNames(row, Math.max(left, LEFT), y, right);
    }
    flush();
    c.globalAlpha = 1;
  }
  function drawNames(row, left, y, right) {
    const c = plot.context;
    c.fillStyle = inkOn(colorOf(row.kind));
    c.font = '12px system-ui, sans-serif';
    const where = row.source || row.name;
    drawName(c, [where, tail(where, 1), where.split(':').length > 1 ? `:${where.split(':').pop()}` : ''], left + 5, y + 19, right);
    c.font = '11px system-ui, sans-serif';
    drawName(c, [tail(row.opName, 2), tail(row.opName, 1), row.kind], left + 5, y + 35, right);
  }
  // The first of the names that fits; none beats a piece of one.
  function drawName(c, names, left, y, right) {
    const name = names.find((string) => string && c.measureText(string).width <= right - left - 4);
    if (name) c.fillText(name, left, y);
  }
  function drawLine(time, color, dash) {
    if (time === null || time < x.domain()[0] || time > x.domain()[1]) return;
    const c = plot.context;
    c.strokeStyle = color;
    c.setLineDash(dash);
    c.beginPath();
    c.moveTo(LEFT + x(time), 0);
    c.lineTo(LEFT + x(time), HEIGHT - 26);
    c.stroke();
    c.setLineDash([]);
  }

  function draw() {
    if (!plot) return;
    const c = plot.context, width = plot.width - LEFT - RIGHT;
    const whole = endSeconds || 1e-9;
    const start = -zoom.translate()[0] / zoom.scale() / width * whole;
    x.domain([start, start + whole / zoom.scale()]).range([0, width]);
    c.clearRect(0, 0, plot.width, plot.height);
    c.fillStyle = cssColor('grid');
    NAMES.forEach((_, stream) => c.fillRect(LEFT, top(stream), width, TRACK));
    c.save();
    c.beginPath();
    c.rect(LEFT, 0, width, HEIGHT);
    c.clip();
    if ((data.timeline || {}).truncated && recordedSeconds < endSeconds) {
      c.fillStyle = cssColor('soft');
      c.font = '12px system-ui, sans-serif';
      c.fillText('later events are not recorded', LEFT + Math.max(8, x(recordedSeconds) + 8), TOP + TRACK + 7);
    }
    NAMES.forEach((_, stream) => drawTrack(stream));
    drawLine(moment, cssColor('text'), []);
    drawLine(cursor, cssColor('soft'), [3, 3]);
    c.restore();
    c.fillStyle = cssColor('text');
    c.font = '12px system-ui, sans-serif';
    NAMES.forEach((name, i) => c.fillText(name, 0, top(i) + 27));
    plot.svg.select('.axis').call(d3.svg.axis().scale(x).orient('bottom').ticks(Math.max(3, Math.floor(width / 130)))
      .tickSize(5).tickFormat((t) => axisTime(t, x.domain())));
  }
  // The labels of one axis share a unit, with as many digits as tell ticks apart.
  function axisTime(t, domain) {
    const [unit, factor] = domain[1] >= 1 ? ['s', 1] : domain[1] >= 1e-3 ? ['ms', 1e3] : ['µs', 1e6];
    const step = (domain[1] - domain[0]) * factor / 10;
    return t === 0 ? '0' : (t * factor).toFixed(Math.max(0, Math.min(9, 1 - Math.floor(Math.log10(step))))).replace(/\.0+$/, '') + ' ' + unit;
  }

  // The row under the pointer, within two pixels of an event.
  function hit() {
    const [px, py] = d3.mouse(plot.pad.node());
    const stream = Math.max(0, Math.floor((py - TOP + GAP / 2) / (TRACK + GAP)));
    if (stream >= NAMES.length) return null;
    for (const shift of [0, -1, 1, -2, 2]) {
      const i = eventAt(tracks[stream], x.invert(px + shift));
      if (i >= 0) return {row: tracks[stream].row[i], start: tracks[stream].start[i], end: tracks[stream].end[i]};
    }
    return null;
  }

  function resize() {
    if (d3.sum(tracks, (track) => track.size) === 0) return drawEmpty('#timeline', 'Nothing runs.');
    plot = makePlot('#timeline', HEIGHT);
    if (!plot) return;
    plot.svg.append('g').attr({class: 'axis', transform: `translate(${LEFT},${HEIGHT - 26})`});
    // Takes the pointer: its left end is time 0 of the unzoomed axis, which the zoom's arithmetic relies on.
    plot.pad = plot.plot.append('div').attr('class', 'over pad')
      .style({left: LEFT + 'px', width: plot.width - LEFT - RIGHT + 'px', height: HEIGHT + 'px'})
      .on('mousemove', () => {
        bus.cursor(x.invert(d3.mouse(plot.pad.node())[0]));
        const found = hit();
        if (!found) return hideTip();
        showTip([found.row.name, `${found.row.kind}: ${timeText(found.end - found.start)} at ${timeText(found.start)}`,
          found.row.executions > 1 ? `${countText(found.row.executions)} times, ${timeText(found.row.seconds)} in all` : '',
          found.row.source, found.row.opName, found.row.cause]);
      })
      .on('mouseleave', () => { hideTip(); bus.cursor(null); })
      .on('click', () => {
        if (d3.event.defaultPrevented) return;  // The end of a drag.
        const found = hit();
        bus.select(found && found.row);
        if (found && found.row.communicates) bus.moment((found.start + found.end) / 2);
      });
    // Without Ctrl the wheel scrolls the page.
    plot.pad.node().addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !event.metaKey) event.stopImmediatePropagation();
    }, true);
    plot.pad.call(zoom);
    drawLegend('#timeline', breakdown.slice(0, 9).map((part) => [part.kind, colorOf(part.kind)]));
    draw();
  }

  d3.selectAll('#timeline [data-zoom]').on('click', function () { zoomBy(+this.getAttribute('data-zoom')); });
  d3.select('#timeline .plot').on('keydown', () => {
    const run = {'+': () => zoomBy(2), '=': () => zoomBy(2), '-': () => zoomBy(0.5), 0: () => zoomBy(0),
      ArrowLeft: () => moveBy(80), ArrowRight: () => moveBy(-80)}[d3.event.key];
    if (!run || !plot) return;
    d3.event.preventDefault();
    run();
  });
  bus.on('select.timeline', (row) => { selected = row; draw(); });
  bus.on('moment.timeline', (time) => { moment = time; draw(); });
  bus.on('cursor.timeline', (time) => { cursor = time; draw(); });
  return {resize};
})();
