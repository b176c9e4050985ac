// Curves, and bars beside each other.

const MARGIN = { left: 62, right: 14, top: 12, bottom: 26 };

function sizeOf(plot) {
  const width = Math.max(240, plot.clientWidth || 600);
  return { width, height: Math.round(Math.max(190, Math.min(320, width * 0.56))) };
}

function colourOf(curve) {
  return `var(--curve-${curve % 8})`;
}

// Solid for measured curves, dashed for simulated ones; after eight colours other dashes.
function dashOf(curve, simulated) {
  return [simulated ? '6 4' : null, simulated ? '2 3' : '10 3'][Math.floor(curve / 8) % 2];
}

// For whom colours alone do not tell curves and bars apart: each has a shape, too. A path around
// (0, 0), one unit high.
const SHAPES = [
  'M-.5 0A.5 .5 0 1 0 .5 0A.5 .5 0 1 0-.5 0z',
  'M-.45-.45H.45V.45H-.45z',
  'M0-.55L.55 .45H-.55z',
  'M0-.6L.6 0L0 .6L-.6 0z',
  'M-.55-.45H.55L0 .55z',
  'M-.2-.5H.2V-.2H.5V.2H.2V.5H-.2V.2H-.5V-.2H-.2z',
  'M-.5-.5L-.2-.5L0-.25L.2-.5H.5L.25 0L.5 .5H.2L0 .25L-.2 .5H-.5L-.25 0z',
  'M0-.6L.18-.2L.6-.2L.28 .08L.4 .5L0 .25L-.4 .5L-.28 .08L-.6-.2L-.18-.2z',
];

function markOf(curve, x, y, size) {
  return svg('path', { class: 'mark', d: SHAPES[curve % SHAPES.length], fill: colourOf(curve),
    transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${size.toFixed(1)})` });
}

// A line of the legend.
function sampleOf(curve, simulated) {
  return svg('svg', { class: 'sample', viewBox: '0 0 34 12', 'aria-hidden': 'true' },
    svg('line', { x1: 1, x2: 33, y1: 6, y2: 6, stroke: colourOf(curve), 'stroke-width': 3,
      'stroke-dasharray': dashOf(curve, simulated) }),
    markOf(curve, 17, 6, 10));
}

class Chart {
  // `page` has the curves of the whole page, which of them are hidden, and whether some are
  // simulated and others not.
  constructor(block, page) {
    this.block = block;
    this.page = page;
    this.panel = block.panels[0];
    this.plot = html('div', { class: 'plot', tabindex: '0', role: 'group',
      'aria-roledescription': 'chart' });
    this.explorer = explorable(this.plot, () => this.places().length, (i) => this.show(i),
      (event) => this.placeAt(event));
    this.across = html('p', { class: 'across', 'aria-hidden': 'true' });
    this.node = html('figure', {}, html('figcaption', {}, block.title), this.plot, this.across,
      this.explorer.said, tableInstead(() => [this.table()]));
  }

  // For the next time that it is drawn.
  turnTo(index) {
    this.panel = this.block.panels[Math.min(index, this.block.panels.length - 1)];
  }

  choose(index) {
    this.turnTo(index);
    const instead = this.node.querySelector('.instead');
    if (instead.children.length > 1) instead.lastChild.replaceWith(this.table());
    this.draw();
  }

  // The curves that can be seen, each with its points.
  curves() {
    return this.block.labels
      .map((label, i) => ({ label, colour: this.block.colours[i], points: this.points(i) }))
      .filter((curve) => !this.page.hidden.has(curve.colour) && curve.points.length > 0);
  }

  points(curve) {
    const { x, y } = this.panel;
    return (this.panel.curves[curve] || []).filter(
      (point) => isShown(x, point[0]) && isShown(y, point[2]));
  }

  simulated(curve) {
    return this.page.mixed && this.page.curves[curve.colour].simulated;
  }

  // Where there is something to read, from left to right.
  places() {
    const all = this.curves().flatMap((curve) => curve.points.map((point) => point[0]));
    return [...new Set(all)].sort((a, b) => a - b);
  }

  draw() {
    const { width, height } = sizeOf(this.plot);
    const { x, y, bars } = this.panel;
    this.right = scaleOf(x, MARGIN.left, width - MARGIN.right);
    this.up = scaleOf(y, height - MARGIN.bottom, MARGIN.top);
    this.cursor = svg('line', { class: 'cursor', y1: MARGIN.top, y2: height - MARGIN.bottom,
      visibility: 'hidden' });
    const curves = this.curves();
    const drawn = bars ? this.bars(curves, height) : curves.flatMap((curve) => this.line(curve));
    this.plot.replaceChildren(svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img',
      'aria-label': this.summary(curves) },
    ...this.axes(width, height), ...drawn, this.cursor));
    this.across.textContent = x.label;  // outside of the drawing, where it can be broken into lines
    this.plot.setAttribute('aria-label', `${this.block.title}: arrow keys read its points`);
    this.explorer.reset();
  }

  axes(width, height) {
    const { x, y } = this.panel;
    const bottom = height - MARGIN.bottom;
    const parts = [];
    for (const tic of ticsOf(y, 5)) {
      const at = this.up(tic.at);
      parts.push(svg('line', { class: 'grid', x1: MARGIN.left, x2: width - MARGIN.right, y1: at, y2: at }),
        svg('text', { class: 'tic', x: MARGIN.left - 6, y: at + 4, 'text-anchor': 'end' }, tic.text));
    }
    for (const tic of ticsOf(x, Math.floor(width / 90))) {
      parts.push(svg('text', { class: 'tic', x: this.right(tic.at), y: bottom + 16,
        'text-anchor': 'middle' }, tic.text));
    }
    parts.push(
      svg('line', { class: 'axis', x1: MARGIN.left, x2: width - MARGIN.right, y1: bottom, y2: bottom }),
      svg('text', { class: 'label', x: 12, y: (MARGIN.top + bottom) / 2, 'text-anchor': 'middle',
        transform: `rotate(-90 12 ${(MARGIN.top + bottom) / 2})` }, y.label));
    return parts;
  }

  line(curve) {
    const at = (point, value) => `${this.right(point[0]).toFixed(1)},${this.up(value).toFixed(1)}`;
    const parts = [];
    const banded = curve.points.filter((point) => isShown(this.panel.y, point[1]));
    if (banded.some((point) => point[1] < point[3])) {
      const around = [...banded.map((point) => at(point, point[3])),
        ...banded.reverse().map((point) => at(point, point[1]))];
      parts.push(svg('polygon', { class: 'band', points: around.join(' '), fill: colourOf(curve.colour) }));
    }
    parts.push(svg('polyline', { class: 'curve', stroke: colourOf(curve.colour),
      'stroke-dasharray': dashOf(curve.colour, this.simulated(curve)),
      points: curve.points.map((point) => at(point, point[2])).join(' ') }));
    parts.push(...this.marks(curve));
    return parts;
  }

  // A few along the curve, elsewhere than those of the others.
  marks(curve) {
    const { points, colour } = curve;
    const every = Math.max(1, Math.ceil(points.length / 6));
    const first = Math.min(points.length - 1, Math.floor((every * (colour % 8)) / 8));
    return points.filter((_, i) => i % every === first)
      .map((point) => markOf(colour, this.right(point[0]), this.up(point[2]), 9));
  }

  bars(curves, height) {
    const unit = this.right(1) - this.right(0);
    const thick = (0.8 * unit) / Math.max(1, curves.length);
    return curves.flatMap((curve, i) => curve.points.flatMap((point) => {
      const top = this.up(point[2]);
      const left = this.right(point[0]) - 0.4 * unit + i * thick;
      const bar = svg('rect', { x: left, y: top, width: thick * 0.92,
        height: Math.max(0, height - MARGIN.bottom - top), fill: colourOf(curve.colour) });
      const size = Math.min(9, thick);
      return [bar, markOf(curve.colour, left + 0.46 * thick, top - 0.7 * size, size)];
    }));
  }

  nameOf(place) {
    const { x, bars } = this.panel;
    return bars && x.names ? (x.names[place] || [''])[0] : shortNumber(place);
  }

  summary(curves) {
    const { x, y } = this.panel;
    const ends = curves.map((curve) => {
      const last = curve.points[curve.points.length - 1];
      return `${curve.label}: from ${shortNumber(curve.points[0][2])} to ${shortNumber(last[2])}`;
    });
    return `${y.label} against ${x.label}. ${ends.join('; ')}`;
  }

  show(index) {
    const place = this.places()[index];
    if (place === undefined) {
      this.cursor?.setAttribute('visibility', 'hidden');
      return '';
    }
    const at = this.right(place);
    for (const [name, value] of [['x1', at], ['x2', at], ['visibility', 'visible']]) {
      this.cursor.setAttribute(name, value);
    }
    const read = this.curves().map((curve) => [curve.label, curve.points.find((p) => p[0] === place)])
      .filter(([, point]) => point)
      .map(([label, point]) => `${label}: ${shortNumber(point[2])}`);
    return `${this.panel.x.label} ${this.nameOf(place)} – ${read.join('; ')}`;
  }

  placeAt(event) {
    const box = this.plot.getBoundingClientRect();
    const at = event.clientX - box.left;
    let near = -1;
    let least = Infinity;
    this.places().forEach((place, i) => {
      const distance = Math.abs(this.right(place) - at);
      if (distance < least) [least, near] = [distance, i];
    });
    return near;
  }

  table() {
    const { x, y } = this.panel;
    const rows = this.block.labels.flatMap((label, curve) => this.points(curve).map((point) => {
      const range = point[1] < point[3] ? `${shortNumber(point[1])} to ${shortNumber(point[3])}` : '';
      return [label, this.nameOf(point[0]), shortNumber(point[2]), range];
    }));
    const ranged = rows.some((row) => row[3] !== '');
    const header = ['run', x.label, y.label, 'least to greatest'].slice(0, ranged ? 4 : 3);
    return tableOf(this.block.title, header, rows.map((row) => row.slice(0, header.length)));
  }
}
