// A page that follows a run: asks for its data, and draws them anew where they have changed.

const PAUSE_MS = 2000;

const live = html('p', { id: 'live', role: 'status' }, 'Waiting for the run.');
document.querySelector('header').append(live);

// Says it where it is news: a screen reader reads it out.
function say(text) {
  if (live.textContent !== text) live.textContent = text;
}

// Who reads a chart point by point keeps it as it is.
function isBeingRead() {
  return Boolean(document.activeElement?.closest('.plot'));
}

async function follow() {
  let shown = '';
  for (;;) {
    try {
      const reply = await fetch('data.json', { cache: 'no-store' });
      const text = await reply.text();
      if (!reply.ok) say(text);
      else if (text !== shown && !isBeingRead()) {
        showPage(JSON.parse(text));
        shown = text;
        say('Live: drawn anew as the run goes on.');
      }
    } catch {
      say('The run has ended, or cannot be reached: this is what it said last.');
    }
    await new Promise((done) => setTimeout(done, PAUSE_MS));
  }
}

follow();
