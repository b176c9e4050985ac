// Puts the page together from its data: sections of blocks, first of all runs, then of one.

class Page {
  // `state`: what a reader has chosen on an earlier page of the same runs.
  constructor(data, state = { hidden: new Set(), against: {}, run: 0 }) {
    this.data = data;
    this.curves = data.curves;
    this.state = state;
    this.hidden = state.hidden;
    this.mixed = new Set(data.curves.map((curve) => curve.simulated)).size > 1;
    this.drawings = { all: [], run: [] };  // charts and graphs, which depend on the width
  }

  draw() {
    [...this.drawings.all, ...this.drawings.run].forEach((drawing) => drawing.draw());
  }

  show() {
    document.title = `${this.data.title} – Grapevine`;
    document.getElementById('title').textContent = this.data.title;
    const main = document.getElementById('main');
    main.replaceChildren(...this.data.sections.map((section) => this.section(section, 'h2', 'all')),
      this.runs());
    document.getElementById('contents').replaceChildren(
      ...[...main.querySelectorAll(':scope > section')].map((section) =>
        html('li', {}, html('a', { href: `#${section.id}` }, section.firstChild.textContent))));
    this.draw();
  }

  section(section, heading, scope) {
    const node = html('section', { id: section.id, 'aria-labelledby': `${section.id}-title` },
      html(heading, { id: `${section.id}-title` }, section.title));
    if (section.missing !== undefined) {
      node.append(html('p', { class: 'missing' }, `Left out. ${section.missing}`));
      return node;
    }
    const made = section.blocks.map((block) => this.block(block, scope));
    const charts = made.filter((one) => one instanceof Chart);
    node.append(...this.controls(section.id, charts), html('div', { class: charts.length > 1 ? 'charts' : null },
      ...made.map((one) => one.node || one)));
    return node;
  }

  block(block, scope) {
    switch (block.kind) {
      case 'chart': return this.drawn(new Chart(block, this), scope);
      case 'graph': return this.drawn(new Graph(block), scope);
      case 'shares': return sharesOf(block);
      case 'matrix': return matrixOf(block);
      case 'table': return this.table(block);
      case 'command': return this.command(block.text);
      default: return html('p', {}, block.text);
    }
  }

  table(block) {
    const table = tableOf(block.caption, block.header, block.rows);
    if (block.folded) return html('details', {}, html('summary', {}, block.caption), table);
    return html('figure', {}, html('figcaption', {}, block.caption), table);
  }

  drawn(drawing, scope) {
    this.drawings[scope].push(drawing);
    return drawing;
  }

  // What all charts of a section share: against what they are drawn, and the legend.
  controls(id, charts) {
    if (charts.length === 0) return [];
    const parts = [];
    const { panels } = charts[0].block;
    if (panels.length > 1) parts.push(this.against(id, panels, charts));
    parts.push(this.legend(charts));
    return parts;
  }

  against(id, panels, charts) {
    const choices = panels.map((panel, i) => {
      const radio = html('input', { type: 'radio', name: `${id}-against`, value: i });
      radio.checked = i === (this.state.against[id] || 0);
      radio.addEventListener('change', () => {
        this.state.against[id] = i;
        charts.forEach((chart) => chart.choose(i));
      });
      return html('label', {}, radio, panel.name);
    });
    charts.forEach((chart) => chart.turnTo(this.state.against[id] || 0));
    return html('fieldset', { class: 'choices' }, html('legend', {}, 'Against'), ...choices);
  }

  // Each curve once, with its longest name: some pictures say more of it than others.
  legend(charts) {
    const names = new Map();
    for (const { block } of charts) {
      block.labels.forEach((label, i) => names.set(block.colours[i], label));
    }
    return html('fieldset', { class: 'choices curves' }, html('legend', {}, 'Curves'),
      ...[...names].map(([curve, label]) => this.curveChoice(curve, label, charts)));
  }

  curveChoice(curve, label, charts) {
    const box = html('input', { type: 'checkbox' });
    box.checked = !this.hidden.has(curve);
    box.addEventListener('change', () => {
      this.hidden[box.checked ? 'delete' : 'add'](curve);
      charts.forEach((chart) => chart.draw());
    });
    return html('label', {}, box, sampleOf(curve, this.mixed && this.curves[curve].simulated), label);
  }

  command(text) {
    const code = html('code', {}, text);
    const button = html('button', { type: 'button' }, 'Copy');
    button.addEventListener('click', async () => {
      window.getSelection().selectAllChildren(code);
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = 'Copied';
      } catch {
        button.textContent = 'Selected';  // without access to the clipboard, one key is left to press
      }
    });
    return html('div', { class: 'command' },
      html('p', {}, 'The command that repeats this run, as a new one on this machine:'),
      html('pre', { tabindex: '0', 'aria-label': 'command' }, code), button);
  }

  runs() {
    const { runs } = this.data;
    const details = html('div', {});
    const choose = html('select', { id: 'run' }, ...runs.map((run, i) =>
      html('option', { value: i }, `${run.path} (${run.label})`)));
    choose.value = Math.min(this.state.run, runs.length - 1);
    choose.addEventListener('change', () => {
      this.state.run = Number(choose.value);
      this.showRun(runs[this.state.run], details);
      this.drawings.run.forEach((drawing) => drawing.draw());
    });
    this.showRun(runs[Number(choose.value)], details);
    return html('section', { id: 'one-run', 'aria-labelledby': 'one-run-title' },
      html('h2', { id: 'one-run-title' }, runs.length > 1 ? 'Run by run' : 'The run'),
      html('p', { class: 'chooser', hidden: runs.length > 1 ? null : '' },
        html('label', { for: 'run' }, 'Run '), choose),
      details);
  }

  showRun(run, details) {
    this.drawings.run = [];
    const kind = run.simulated ? 'Simulated' : 'Real';
    details.replaceChildren(
      html('p', {}, html('code', {}, run.path), `: ${run.label}. ${kind}, ${run.state}. Grapevine ${run.program}.`),
      ...run.sections.map((section) => this.section(section, 'h3', 'run')));
  }
}

let page;

// What can have the focus, or be open, in the order of the page.
function inOrder(selector) {
  return [...document.querySelectorAll(`main :is(${selector})`)];
}

const FOCUSABLE = 'a, button, input, select, summary, [tabindex]';

// Instead of an earlier one, of whose reader it keeps the choices and the place.
function showPage(data) {
  const focused = inOrder(FOCUSABLE).indexOf(document.activeElement);
  const open = inOrder('details').map((details) => details.open);
  page = new Page(data, page?.state);
  page.show();
  inOrder('details').forEach((details, i) => {
    details.open = open[i] || false;
  });
  if (focused >= 0) inOrder(FOCUSABLE)[focused]?.focus({ preventScroll: true });
}

let drawnWidth = window.innerWidth;
window.addEventListener('resize', () => {
  if (window.innerWidth !== drawnWidth) page?.draw();
  drawnWidth = window.innerWidth;
});
