// page_roofline.js: every group as a dot: flops per byte of memory traffic across, flops per second up, both logarithmic,
// under the line min(peak, intensity * bandwidth). Groups without flops or bytes have no place; a line below says so.

const roofline = (() => {
  const LEFT = 64, RIGHT = 14, TOP = 10, BOTTOM = 40, HEIGHT = 500;
  const ridge = data.ridge || {};
  const peak = number(ridge.flops_per_second), bandwidth = number(ridge.bytes_per_second);
  let plot = null, dots = [], selected = null;

  function place(x, y) {
    const most = d3.max(groupRows, (row) => row.seconds) || 1;
    return groupRows.filter((row) => row.seconds > 0 && number(row.raw.flops) > 0 && number(row.raw.bytes) > 0).map((row) => ({
      row, x: x(row.raw.flops / row.raw.bytes), y: y(row.raw.flops / row.seconds),
      radius: Math.max(1.8, 20 * Math.sqrt(row.seconds / most)),
    }));
  }
  function draw() {
    if (!plot) return;
    const c = plot.context;
    c.clearRect(0, 0, plot.width, plot.height);
    for (const dot of dots) {
      c.globalAlpha = selected && dot.row !== selected ? 0.2 : 0.6;
      c.fillStyle = boundColor(dot.row.bound);
      c.beginPath();
      c.arc(dot.x, dot.y, dot.radius, 0, 7);
      c.fill();
      if (dot.radius > 3) {
        c.globalAlpha = selected && dot.row !== selected ? 0.3 : 1;
        c.lineWidth = 1;
        c.strokeStyle = cssColor('card');
        c.stroke();
      }
    }
    const chosen = dots.find((dot) => dot.row === selected);
    c.globalAlpha = 1;
    if (chosen) {
      c.lineWidth = 2;
      c.strokeStyle = cssColor('text');
      c.beginPath();
      c.arc(chosen.x, chosen.y, chosen.radius + 2, 0, 7);
      c.stroke();
    }
  }
  // The smallest dot under the pointer, or the nearest within 6 pixels.
  function hit() {
    const [px, py] = d3.mouse(plot.canvas.node());
    let found = null, nearest = 36;
    for (const dot of dots) {
      const d = (dot.x - px) ** 2 + (dot.y - py) ** 2;
      if (d <= dot.radius * dot.radius ? !found || !found.inside || dot.radius <= found.dot.radius : !(found && found.inside) && d < nearest) {
        found = {dot, inside: d <= dot.radius * dot.radius};
        nearest = Math.min(nearest, d);
      }
    }
    return found && found.dot;
  }
  function drawFrame(x, y) {
    const axis = (scale, orient, unit, shift, gridSize, format) => {
      const values = scale.ticks().filter((v) => /^1e/.test(v.toExponential()));
      const place = plot.svg.append('g').attr({class: 'axis grid', transform: `translate(${shift})`});
      place.call(d3.svg.axis().scale(scale).orient(orient).tickValues(values).tickSize(-gridSize, 0).tickPadding(6).tickFormat(format));
    };
    axis(x, 'bottom', '', `0,${HEIGHT - BOTTOM}`, HEIGHT - TOP - BOTTOM, (v) => (v >= 0.999e-4 && v < 1e5 ? String(+v.toPrecision(1)) : v.toExponential(0)));
    axis(y, 'left', '', `${LEFT},0`, plot.width - LEFT - RIGHT, (v) => rateText(v, '').replace(/\.0+(?=\D|$)/, ''));
    plot.svg.append('text').attr({class: 'soft', x: plot.width - RIGHT, y: HEIGHT - 6, 'text-anchor': 'end'}).text('flops per byte of memory traffic');
    plot.svg.append('text').attr({class: 'soft', transform: `translate(12,${TOP + 4}) rotate(-90)`, 'text-anchor': 'end'}).text('flops per second');
    const corner = peak / bandwidth, [low, high] = x.domain();
    const points = [low, Math.min(high, Math.max(low, corner)), high].map((v) => [x(v), y(Math.max(y.domain()[0], Math.min(peak, v * bandwidth)))]);
    // The slope starts where it enters the frame.
    const entry = Math.max(low, y.domain()[0] / bandwidth);
    points[0] = [x(entry), y(Math.min(peak, entry * bandwidth))];
    plot.svg.append('path').attr({d: d3.svg.line()(points), fill: 'none', stroke: cssColor('soft'), 'stroke-width': 1.5});
    plot.svg.append('text').attr({class: 'soft', x: Math.max(LEFT + 90, x(corner) - 6), y: y(peak) - 5, 'text-anchor': 'end'})
      .text(rateText(peak, 'FLOP/s'));
    const slope = Math.atan2(points[1][1] - points[0][1], points[1][0] - points[0][0]) * 180 / Math.PI;
    const middle = [(points[0][0] + points[1][0]) / 2, (points[0][1] + points[1][1]) / 2];
    if (points[1][0] - points[0][0] > 80) {
      plot.svg.append('text').attr({class: 'soft', 'text-anchor': 'middle', transform: `translate(${middle}) rotate(${slope}) translate(0,-7)`})
        .text(rateText(bandwidth, 'B/s'));
    }
  }

  function resize() {
    const placed = groupRows.filter((row) => row.seconds > 0 && number(row.raw.flops) > 0 && number(row.raw.bytes) > 0);
    if (placed.length === 0 || peak <= 0 || bandwidth <= 0) return drawEmpty('#roofline', 'No group computes.');
    plot = makePlot('#roofline', HEIGHT);
    if (!plot) return;
    const corner = peak / bandwidth;
    const intensities = placed.map((row) => row.raw.flops / row.raw.bytes);
    const rates = placed.map((row) => row.raw.flops / row.seconds);
    const x = d3.scale.log().clamp(true).range([LEFT, plot.width - RIGHT])
      .domain([Math.max(1e-4, Math.min(corner / 30, d3.min(intensities) / 2)), Math.min(1e6, Math.max(corner * 30, d3.max(intensities) * 2))]);
    const y = d3.scale.log().clamp(true).range([HEIGHT - BOTTOM, TOP])
      .domain([Math.max(peak / 1e7, Math.min(peak / 300, d3.min(rates) / 2)), Math.max(peak, d3.max(rates)) * 2.5]);
    dots = place(x, y);
    drawFrame(x, y);
    plot.canvas.attr({role: 'img', 'aria-label': `${placed.length} groups against the limits of the chip; the table has the same`})
      .on('mousemove', () => {
        const dot = hit();
        plot.canvas.style('cursor', dot ? 'pointer' : null);
        if (!dot) return hideTip();
        const raw = dot.row.raw;
        showTip([dot.row.name, `bound by ${dot.row.bound}: ${rateText(raw.flops / dot.row.seconds, 'FLOP/s')}, ` +
          `${digits(raw.flops / raw.bytes)} flops per byte`, `${timeText(dot.row.seconds)} in all, ${shareText(dot.row.share)} of the step`,
          dot.row.source, dot.row.opName]);
      })
      .on('mouseleave', hideTip)
      .on('click', () => { const dot = hit(); bus.select(dot && dot.row); });
    const seconds = d3.sum(groupRows, (row) => row.seconds) || 1;
    const byBound = d3.nest().key((row) => row.bound).rollup((rows) => d3.sum(rows, (row) => row.seconds) / seconds).map(groupRows);
    const order = BOUNDS.map((b) => b[0]);
    drawLegend('#roofline', Object.keys(byBound).filter((b) => b).sort((a, b) => order.indexOf(a) - order.indexOf(b))
      .map((bound) => [`${bound} ${shareText(byBound[bound])}`, boundColor(bound)]));
    const left = groupRows.filter((row) => row.seconds > 0 && number(row.raw.flops) <= 0);
    d3.select('#roofline .foot').text('Colors: what bounds a group, with its share of the computation; latency is what starting a group costs.' + (left.length ?
      ` ${countText(left.length)} group${left.length > 1 ? 's' : ''} that only move${left.length > 1 ? '' : 's'} data ` +
      `(${shareText(d3.sum(left, (row) => row.seconds) / seconds)} of the computation) cannot be shown here.` : ''));
    draw();
  }
  bus.on('select.roofline', (row) => { selected = row; draw(); });
  return {resize};
})();
