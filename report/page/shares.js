// How a whole is split into parts, a bar for each row.

function partsLegend(parts) {
  return html('ul', { class: 'legend', 'aria-hidden': 'true' }, ...parts.map((part, i) =>
    html('li', {}, html('span', { class: `part part-${i}` }), part)));
}

function shareRow(row, block, greatest) {
  const whole = row.values.reduce((sum, value) => sum + value, 0);
  const share = (value) => (whole > 0 ? Math.round((100 * value) / whole) : 0);
  const words = block.parts.map((part, i) =>
    `${part} ${shortNumber(row.values[i])} ${block.unit} (${share(row.values[i])} %)`);
  const bar = html('div', { class: 'bar', role: 'img', 'aria-label': `${row.name}: ${words.join(', ')}` },
    ...row.values.map((value, i) => html('span', { class: `part part-${i}`, title: words[i],
      style: `width:${greatest > 0 ? (100 * value) / greatest : 0}%` })));
  return html('div', { class: 'share' }, html('span', { class: 'name' }, row.name), bar,
    html('span', { class: 'whole' }, `${shortNumber(whole)} ${block.unit}`));
}

function sharesOf(block) {
  const wholes = block.rows.map((row) => row.values.reduce((sum, value) => sum + value, 0));
  const greatest = Math.max(...wholes);
  const table = () => tableOf(block.title, ['', ...block.parts.map((part) => `${part} (${block.unit})`)],
    block.rows.map((row) => [row.name, ...row.values.map(shortNumber)]));
  return html('figure', {}, html('figcaption', {}, block.title), partsLegend(block.parts),
    ...block.rows.map((row) => shareRow(row, block, greatest)), tableInstead(() => [table()]));
}
