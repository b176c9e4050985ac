// The site's search: on search.html alone, where it loads the index as a script, which a page that
// was opened from a folder may do, too (a page there may start no worker and fetch no file).
(function () {
  "use strict";
  const kMostResults = 50;
  const kExcerpt = 220;  // characters
  const results = document.getElementById("mkdocs-search-results");
  const input = document.getElementById("mkdocs-search-query");
  if (!results || !input) return;

  function load(script, next) {
    const element = document.createElement("script");
    element.src = base_url + "/search/" + script;
    element.onload = next;
    element.onerror = function () { results.textContent = script + " cannot be loaded."; };
    document.head.appendChild(element);
  }

  function wordsOf(query) {
    return query.toLowerCase().split(lunr.tokenizer.separator).filter(Boolean);
  }

  // Every word must be there, or begin a word that is; whole words and titles count for more.
  function find(index, words) {
    return index.query(function (query) {
      const required = lunr.Query.presence.REQUIRED;
      words.forEach(function (word) {
        query.term(word, { boost: 10 });
        query.term(word, { wildcard: lunr.Query.wildcard.TRAILING, presence: required });
      });
    });
  }

  // The text around what was typed, else around one of its words, with all of them marked.
  function excerpt(text, words) {
    const lower = text.toLowerCase();
    const places = [words.join("-"), words.join(" ")].concat(words)
      .map(function (sought) { return lower.indexOf(sought); })
      .filter(function (place) { return place >= 0; });
    // From the beginning of a word, some words before.
    const begin = places.length ? lower.lastIndexOf(" ", Math.max(0, places[0] - kExcerpt / 3)) + 1 : 0;
    const whole = text.length <= begin + kExcerpt;
    const end = whole ? text.length : Math.max(begin, text.lastIndexOf(" ", begin + kExcerpt));
    const shown = (begin ? "… " : "") + text.substring(begin, end) + (whole ? "" : " …");
    const paragraph = document.createElement("p");
    const pattern = new RegExp("(" + words.map(function (word) {
      return word.replace(/[^\p{L}\p{N}_]/gu, "\\$&");
    }).join("|") + ")", "giu");
    shown.split(pattern).forEach(function (part, place) {
      const element = document.createElement(place % 2 ? "mark" : "span");
      element.textContent = part;
      paragraph.appendChild(element);
    });
    return paragraph;
  }

  function show(index, documents) {
    const words = wordsOf(input.value);
    results.replaceChildren();
    if (!words.length) return;
    const found = find(index, words).slice(0, kMostResults);
    if (!found.length) results.textContent = results.getAttribute("data-no-results-text");
    found.forEach(function (result) {
      const page = documents.get(result.ref);
      const article = document.createElement("article");
      const title = document.createElement("h3");
      const link = document.createElement("a");
      link.href = base_url + "/" + page.location;
      link.textContent = page.page && page.page !== page.title ? page.page + ": " + page.title : page.title;
      title.appendChild(link);
      article.append(title, excerpt(page.text, words));
      results.appendChild(article);
    });
  }

  function begin() {
    const documents = new Map();
    // Flags are found with and without their dashes, specs by their parts.
    lunr.tokenizer.separator = /[^\p{L}\p{N}_]+/u;
    const index = lunr(function () {
      // Words as they are: neither stems, which beginnings of words do not match, nor stop words.
      this.pipeline.reset();
      this.searchPipeline.reset();
      this.ref("location");
      this.field("title", { boost: 5 });
      this.field("text");
      site_search_index.docs.forEach(function (page) {
        // A section goes by its page, too.
        const whole = documents.get(page.location.split("#")[0]);
        documents.set(page.location, Object.assign({ page: whole && whole.title }, page));
        // A page is the sum of its sections.
        if (whole !== undefined) this.add(page);
      }, this);
    });
    input.value = new URLSearchParams(window.location.search).get("q") || "";
    input.addEventListener("input", function () { show(index, documents); });
    show(index, documents);
  }

  load("lunr.js", function () { load("search_index.js", begin); });
})();
