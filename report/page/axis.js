// Scales and tics of a chart's axes.

// From values to places between `from` and `to`.
function scaleOf(axis, from, to) {
  const log = axis.logarithmic ? Math.log10 : (value) => value;
  const low = log(axis.low);
  const range = log(axis.high) - low || 1;
  return (value) => from + ((log(value) - low) / range) * (to - from);
}

// What a logarithmic axis cannot show, and what was not measured.
function isShown(axis, value) {
  return Number.isFinite(value) && !(axis.logarithmic && value <= 0);
}

function linearTics(axis, most) {
  const rough = (axis.high - axis.low) / Math.max(1, most);
  const decade = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * decade).find((size) => size >= rough);
  const tics = [];
  for (let i = Math.ceil(axis.low / step - 1e-9); i * step <= axis.high * (1 + 1e-9); ++i) {
    tics.push(i * step);
    if (tics.length > 100) break;
  }
  return tics;
}

function logarithmicTics(axis, most) {
  const first = Math.floor(Math.log10(axis.low));
  const last = Math.ceil(Math.log10(axis.high));
  const within = (value) => value >= axis.low && value <= axis.high;
  const tics = [];
  const stride = Math.max(1, Math.ceil((last - first) / Math.max(1, most)));
  for (let i = first; i <= last; i += stride) {
    for (const factor of last - first <= 2 ? [1, 2, 5] : [1]) {
      if (within(factor * 10 ** i)) tics.push(factor * 10 ** i);
    }
  }
  return tics;
}

// About `most` places on the axis, with their texts.
function ticsOf(axis, most) {
  if (axis.names) return axis.names.map(([text, at]) => ({ at, text }));
  const tics = axis.logarithmic ? logarithmicTics(axis, most) : linearTics(axis, most);
  return tics.map((at) => ({ at, text: shortNumber(at) }));
}
