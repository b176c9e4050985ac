// A graph on a circle: nodes are the redder the farther they are from the mean, slow edges thick.

class Graph {
  constructor(block) {
    this.block = block;
    const distances = block.nodes.map((node) => node.distance).filter(Number.isFinite);
    this.coloured = distances.length > 0;
    this.least = Math.min(...distances);
    this.greatest = Math.max(...distances);
    this.worst = Math.max(0, ...block.edges.map((edge) => edge.waited_s || 0));
    this.plot = html('div', { class: 'plot graph', tabindex: '0', role: 'group',
      'aria-roledescription': 'graph', 'aria-label': `${block.title}: arrow keys read its nodes` });
    const explorer = explorable(this.plot, () => block.nodes.length, (rank) => this.show(rank),
      (event) => this.nodeAt(event));
    this.node = html('figure', {}, html('figcaption', {}, block.title), this.plot, explorer.said,
      ...this.legend(), tableInstead(() => this.tables()));
  }

  // 0 for the node that is nearest to the mean, 1 for the farthest.
  heat(distance) {
    if (!Number.isFinite(distance)) return 0;
    const range = this.greatest - this.least;
    return range > 0 ? (distance - this.least) / range : 0;
  }

  place(rank) {
    const angle = (2 * Math.PI * rank) / this.block.nodes.length - Math.PI / 2;
    const radius = this.size / 2 - this.dot - 6;
    return { x: this.size / 2 + radius * Math.cos(angle), y: this.size / 2 + radius * Math.sin(angle) };
  }

  draw() {
    const count = this.block.nodes.length;
    this.size = Math.max(220, Math.min(440, this.plot.clientWidth || 440));
    this.dot = Math.max(7, Math.min(18, (0.7 * Math.PI * this.size) / (2.6 * count)));
    this.dots = this.block.nodes.map((node, rank) => this.drawnNode(node, rank));
    this.plot.replaceChildren(svg('svg', { viewBox: `0 0 ${this.size} ${this.size}`, role: 'img',
      style: `max-width:${this.size}px`, 'aria-label': this.summary() },
    svg('defs', {}, svg('marker', { id: 'arrow', viewBox: '0 0 8 8', refX: 8, refY: 4, markerWidth: 9,
      markerHeight: 9, markerUnits: 'userSpaceOnUse', orient: 'auto' },
    svg('path', { class: 'arrow', d: 'M0 0L8 4L0 8z' }))),
    ...this.block.edges.map((edge) => this.drawnEdge(edge)), ...this.dots));
  }

  // From the rim of one node to that of the other.
  drawnEdge(edge) {
    const [from, to] = [this.place(edge.from), this.place(edge.to)];
    const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    const [dx, dy] = [((to.x - from.x) / length) * this.dot, ((to.y - from.y) / length) * this.dot];
    const width = 1.2 + (this.worst > 0 ? (4.8 * edge.waited_s) / this.worst : 0);
    const gone = [edge.from, edge.to].some((rank) => Number.isFinite(this.block.nodes[rank].lost));
    return svg('line', { class: `edge${edge.slow ? ' slow' : ''}${gone ? ' lost' : ''}`, 'stroke-width': width, x1: from.x + dx, y1: from.y + dy,
      x2: to.x - dx, y2: to.y - dy, 'marker-end': this.block.directed ? 'url(#arrow)' : null });
  }

  drawnNode(node, rank) {
    const { x, y } = this.place(rank);
    const size = Math.min(12, 1.15 * this.dot);
    const heat = this.coloured ? 0.08 + 0.52 * this.heat(node.distance) : 0;
    return svg('g', { class: Number.isFinite(node.lost) ? 'node lost' : 'node' },
      svg('circle', { class: 'ground', cx: x, cy: y, r: this.dot }),
      svg('circle', { class: 'heat', cx: x, cy: y, r: this.dot, 'fill-opacity': heat }),
      svg('text', { x, y: y + size / 3, 'font-size': size, 'text-anchor': 'middle' }, String(rank)));
  }

  legend() {
    const parts = [];
    if (this.coloured) {
      parts.push(html('p', { class: 'scale' }, `|x − mean|² of each node’s last model: ${shortNumber(this.least)} `,
        html('span', { class: 'ramp', 'aria-hidden': 'true' }), ` ${shortNumber(this.greatest)}`));
    }
    if (this.lost().length > 0) {
      parts.push(html('p', { class: 'scale' }, `dashed: lost, and not there at the end: ${this.lost().join(', ')}`));
    }
    if (this.block.edges.some((edge) => edge.slow)) {
      parts.push(html('p', { class: 'scale' }, html('span', { class: 'slow-sample', 'aria-hidden': 'true' }),
        ' the wider an edge, the longer nodes waited for it; coloured: at least half as long as for the worst'));
    }
    return parts;
  }

  // "rank 3 (from round 52 on)", of every node that is lost.
  lost() {
    return this.block.nodes.flatMap((node, rank) =>
      (Number.isFinite(node.lost) ? [`rank ${rank} (from round ${node.lost} on)`] : []));
  }

  edgesAt(rank) {
    return this.block.edges.filter((edge) => edge.from === rank || edge.to === rank);
  }

  edgeName(edge) {
    return `${edge.from} ${this.block.directed ? '→' : '–'} ${edge.to}`;
  }

  edgeText(edge) {
    const waited = edge.waited_s === undefined ? '' : ` waited ${shortNumber(edge.waited_s)} s`;
    return `${this.edgeName(edge)}${waited}${edge.slow ? ' (slow)' : ''}`;
  }

  summary() {
    const slow = this.block.edges.filter((edge) => edge.slow).map((edge) => this.edgeName(edge));
    return `${this.block.title}, ${this.block.nodes.length} nodes, ${this.block.edges.length} edges` +
      (slow.length > 0 ? `; slow: ${slow.join(', ')}` : '') +
      (this.lost().length > 0 ? `; lost: ${this.lost().join(', ')}` : '');
  }

  show(rank) {
    this.dots?.forEach((dot, i) => dot.classList.toggle('chosen', i === rank));
    if (rank < 0) return '';
    const { distance, lost } = this.block.nodes[rank];
    const gone = Number.isFinite(lost) ? `, lost from round ${lost} on` : '';
    const far = Number.isFinite(distance) ? `, ${shortNumber(distance)} from the mean` : gone;
    return `rank ${rank}${far}; edges: ${this.edgesAt(rank).map((edge) => this.edgeText(edge)).join(', ')}`;
  }

  nodeAt(event) {
    const shown = this.plot.firstChild.getBoundingClientRect();
    const scale = this.size / (shown.width || 1);
    const [x, y] = [(event.clientX - shown.left) * scale, (event.clientY - shown.top) * scale];
    return this.block.nodes.findIndex((_, rank) => {
      const at = this.place(rank);
      return Math.hypot(at.x - x, at.y - y) <= this.dot + 4;
    });
  }

  tables() {
    const tables = [];
    if (this.coloured) {
      tables.push(tableOf('Distance of each node from the mean', ['rank', '|x − mean|²'],
        this.block.nodes.map((node, rank) => [String(rank), Number.isFinite(node.lost) ? 'lost' : shortNumber(node.distance)])));
    }
    tables.push(tableOf('Edges', ['edge', 'waited (s)', 'slow'], this.block.edges.map((edge) =>
      [this.edgeName(edge), shortNumber(edge.waited_s), edge.slow ? 'yes' : ''])));
    return tables;
  }
}
