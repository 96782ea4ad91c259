// Search, the navigation on narrow windows, and the heading that is being read. No page needs any of it to be read.
(() => {
  "use strict";
  const root = document.body.dataset.root;
  const input = document.querySelector(".search input");
  const results = document.getElementById("results");
  const LIMIT = 20;
  let sections = null;
  let chosen = -1;

  // A script and not JSON: a page that was opened as a file may load nothing else.
  const load = () => {
    if (window.siteIndex || document.getElementById("index")) return;
    const script = document.createElement("script");
    script.id = "index";
    script.src = root + "search-index.js";
    script.onload = search;
    document.head.append(script);
  };

  const words = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

  const prepare = () => window.siteIndex.map(([url, title, heading, text]) =>
    ({url, title, heading, text, lowTitle: title.toLowerCase(), lowHeading: heading.toLowerCase(), lowText: text.toLowerCase()}));

  // 3 for a whole word, 2 for the beginning of one, 1 for a part, 0 for none.
  const found = (text, word) => {
    let best = 0;
    for (let at = text.indexOf(word); at >= 0 && best < 3; at = text.indexOf(word, at + 1)) {
      const begins = at === 0 || !/\w/.test(text[at - 1]);
      const ends = at + word.length === text.length || !/\w/.test(text[at + word.length]);
      best = Math.max(best, begins && ends ? 3 : begins ? 2 : 1);
    }
    return best;
  };

  // Each word must occur. A title counts most, then a heading, then the text; a document more than the API.
  const score = (section, query, wanted) => {
    const name = section.heading ? section.lowHeading : section.lowTitle;
    const weight = !section.heading ? 12 : section.url.startsWith("api/") ? 6 : 10;
    let sum = name === query ? 50 : 0;
    for (const word of wanted) {
      const inName = found(name, word), inTitle = found(section.lowTitle, word), inText = found(section.lowText, word);
      if (inName + inTitle + inText === 0) return 0;
      sum += inName * weight + inTitle + inText;
    }
    return sum;
  };

  // Adds the text to the element, with the words marked.
  const mark = (element, text, wanted) => {
    const low = text.toLowerCase();
    for (let at = 0; at < text.length;) {
      const next = wanted.map((word) => [low.indexOf(word, at), word.length]).filter(([from]) => from >= 0).sort((a, b) => a[0] - b[0])[0];
      if (!next) return element.append(text.slice(at));
      const marked = document.createElement("mark");
      marked.textContent = text.slice(next[0], next[0] + next[1]);
      element.append(text.slice(at, next[0]), marked);
      at = next[0] + next[1];
    }
  };

  // What is around the first of the words.
  const excerpt = (section, wanted) => {
    const first = Math.min(...wanted.map((word) => section.lowText.indexOf(word)).filter((at) => at >= 0));
    if (!Number.isFinite(first)) return section.text.slice(0, 140);
    const from = first < 60 ? 0 : section.text.lastIndexOf(" ", first - 40) + 1;
    return (from ? "... " : "") + section.text.slice(from, from + 160);
  };

  const choose = (number) => {
    const all = [...results.querySelectorAll("a")];
    chosen = all.length ? (number + all.length) % all.length : -1;
    all.forEach((link, i) => link.setAttribute("aria-selected", i === chosen));
    if (all[chosen]) {
      all[chosen].scrollIntoView({block: "nearest"});
      input.setAttribute("aria-activedescendant", all[chosen].id);
    }
  };

  const show = (open) => {
    results.hidden = !open;
    input.setAttribute("aria-expanded", open);
    if (!open) input.removeAttribute("aria-activedescendant");
  };

  const entry = (section, wanted, i) => {
    const link = document.createElement("a");
    link.href = root + section.url;
    link.id = "result-" + i;
    link.setAttribute("role", "option");
    const title = document.createElement("b"), text = document.createElement("small");
    mark(title, section.heading ? section.title + " \u203a " + section.heading : section.title, wanted);
    mark(text, excerpt(section, wanted), wanted);
    link.append(title, text);
    return link;
  };

  const search = () => {
    const query = input.value.trim().toLowerCase(), wanted = words(query);
    if (!wanted.length) return show(false);
    if (!window.siteIndex) return load();
    sections ||= prepare();
    const hits = sections.map((section, i) => [score(section, query, wanted), i, section]).filter(([points]) => points > 0)
      .sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, LIMIT);
    results.replaceChildren(...hits.map(([, , section], i) => entry(section, wanted, i)));
    if (!hits.length) {
      const none = document.createElement("p");
      none.textContent = "Nothing found";
      results.append(none);
    }
    show(true);
    choose(0);
  };

  input.addEventListener("focus", () => { load(); search(); });
  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter" && !results.hidden && chosen >= 0) {
      results.querySelectorAll("a")[chosen].click();
    } else if (event.key === "Escape") {
      show(false);
      input.blur();
    }
  });
  results.addEventListener("click", () => show(false));
  document.addEventListener("click", (event) => { if (!event.target.closest(".search")) show(false); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      input.focus();
    }
  });

  const navigation = document.getElementById("navigation"), menu = document.querySelector(".menu");
  const center = () => {
    const here = [...navigation.querySelectorAll("[aria-current]")].at(-1);
    if (here) navigation.scrollTop = here.offsetTop - navigation.clientHeight / 2;
  };
  menu.addEventListener("click", () => {
    menu.setAttribute("aria-expanded", document.body.classList.toggle("navigating"));
    center();
  });
  center();

  const links = new Map([...document.querySelectorAll("aside.contents a")].map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
  const headings = [...document.querySelectorAll("article [id]")].filter((heading) => links.has(heading.id));
  const follow = () => {
    const here = headings.filter((heading) => heading.getBoundingClientRect().top < 120).at(-1);
    links.forEach((link, id) => link.classList.toggle("here", here?.id === id));
  };
  if (headings.length) {
    addEventListener("scroll", follow, {passive: true});
    follow();
  }
})();
