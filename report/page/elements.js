'use strict';
// Elements of HTML and SVG. Texts are set as texts: nothing of a run's files is read as HTML.

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

function html(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

// "0.0123", "1.5e-4", "12345"; what was not measured is a dash.
function shortNumber(value) {
  if (typeof value !== 'number' || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) {
    return Number(value.toPrecision(3)).toExponential().replace('e+', 'e');
  }
  return String(Number(value.toPrecision(4)));
}

// What begins like a number stands at the right of its column.
function isNumeric(cell) {
  return /^[-–]?[\d.]*\d/.test(cell) || cell === '–';
}

// The caption is for who does not see where the table stands.
function tableOf(caption, header, rows) {
  const numeric = header.map((_, column) => rows.every((row) => isNumeric(row[column] || '–')));
  const cell = (name, text, column, attributes = {}) =>
    html(name, { class: column > 0 && numeric[column] ? 'number' : null, ...attributes }, text);
  const head = header.map((text, column) => cell('th', text, column, { scope: 'col' }));
  const body = rows.map((row) =>
    html('tr', {}, ...row.map((text, column) =>
      column === 0 ? cell('th', text, 0, { scope: 'row' }) : cell('td', text, column))));
  const table = html('table', { 'aria-label': caption }, html('thead', {}, html('tr', {}, ...head)),
    html('tbody', {}, ...body));
  return scrolled(caption, table);
}

// What may be wider than the page scrolls by itself, by keyboard too.
function scrolled(caption, table) {
  return html('div', { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': caption }, table);
}

// The same numbers as a chart shows, for who cannot see it. `make` is called when it is opened.
function tableInstead(make) {
  const details = html('details', { class: 'instead' }, html('summary', {}, 'As a table'));
  details.addEventListener('toggle', () => {
    if (details.open && details.children.length === 1) details.append(...make());
  });
  return details;
}

// Lets arrow keys and the pointer go through `places()` (how many there are) of a plot. `show` marks
// one and returns what it is, in words; -1: none.
function explorable(plot, places, show, placeAt) {
  const said = html('output', { class: 'said', 'aria-live': 'polite' });
  let place = -1;
  const go = (next) => {
    place = next;
    said.textContent = show(place);
  };
  const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
  plot.addEventListener('keydown', (event) => {
    const last = places() - 1;
    if (last < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key in steps) {
      const next = place < 0 && steps[event.key] < 0 ? last : place + steps[event.key];
      go(Math.max(0, Math.min(last, next)));
    } else if (event.key === 'Home') go(0);
    else if (event.key === 'End') go(last);
    else if (event.key === 'Escape') go(-1);
    else return;
    event.preventDefault();
  });
  plot.addEventListener('pointermove', (event) => {
    const near = placeAt(event);
    if (near !== place) go(near);
  });
  plot.addEventListener('blur', () => go(-1));
  return { said, reset: () => go(-1) };
}
