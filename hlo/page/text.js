'use strict';
// text.js: values of a page's data as text, and as what they should be where they are missing.

const number = (value) => (typeof value === 'number' && isFinite(value) ? value : 0);
const text = (value) => (value === undefined || value === null ? '' : String(value));
const list = (value) => (Array.isArray(value) ? value : []);

// Three significant digits without an exponent: 1230, 12.3, 0.123.
function digits(value) {
  if (value === 0 || !isFinite(value)) return '0';
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)) + 1e-9));
  return places > 6 ? value.toPrecision(3) : value.toFixed(places);
}
// `value` in the largest of `units` that leaves at least 1; each unit is `base` times the one before.
function scaled(value, units, base) {
  let v = number(value), i = 0;
  while (Math.abs(v) >= base * 0.9995 && i + 1 < units.length) { v /= base; ++i; }
  return digits(v) + '\u00a0' + units[i];
}
const timeText = (seconds) => (seconds === 0 ? '0\u00a0s' : scaled(seconds * 1e9, ['ns', 'µs', 'ms', 's'], 1000));
const countText = (count) => Math.round(number(count)).toLocaleString('en-US');
function shareText(share) {
  const percent = 100 * number(share);
  if (percent === 0) return '0\u00a0%';
  return (percent < 0.095 ? '<\u00a00.1' : percent < 9.95 ? percent.toFixed(1) : percent.toFixed(0)) + '\u00a0%';
}
// The last `count` parts of an op_name: "jit(step)/jvp(moe)/dispatch/dot_general" tells most at its end.
const tail = (path, count) => path.split('/').slice(-count).join('/');
