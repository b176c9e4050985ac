// A table of numbers whose cells are the darker the greater they are.

function matrixOf(block) {
  const greatest = Math.max(0, ...block.values.flat());
  const corner = html('th', { scope: 'col' }, '');
  const head = block.columns.map((name) => html('th', { scope: 'col' }, name));
  const cell = (value) => html('td', { style: `--heat:${greatest > 0 ? value / greatest : 0}` },
    value > 0 ? String(Number(value.toPrecision(2))) : '');
  const rows = block.values.map((row, i) =>
    html('tr', {}, html('th', { scope: 'row' }, block.rows[i]), ...row.map(cell)));
  const table = html('table', { class: 'matrix', 'aria-label': block.title },
    html('thead', {}, html('tr', {}, corner, ...head)), html('tbody', {}, ...rows));
  return html('figure', {}, html('figcaption', {}, block.title),
    scrolled(block.title, table));
}
