"use strict";
// The browser of pairs. All texts are written with textContent, never as HTML.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { strings, pairs, arms, contrasts, filters } = data;
  const byId = (id) => document.getElementById(id);
  const PAGE = 25;
  const MANY = 60;
  /*% if columns %*/
  const LONG = 2000;
  /*% endif %*/
  const [JUDGE, DATASET, CONTRAST] = ["judge", "dataset", "contrast"];

  // --- texts: unseen characters are spelled out, as in the rest of the page ---
  const hex = (code) => code.toString(16).padStart(4, "0");
  const ranges = data.unseen.map(([first, last]) => `\\u{${hex(first)}}-\\u{${hex(last)}}`).join("");
  const unseen = new RegExp(`[${ranges}]`, "gu");
  const spelling = (character) => {
    const code = character.codePointAt(0);
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${hex(code)}`;
  };
  const spelled = (text) => text.replaceAll("\r\n", "\n").replace(unseen, spelling);

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children.filter((child) => child !== null));
    return made;
  };
  const write = (into, text) => {
    let end = 0;
    const shown = text.replaceAll("\r\n", "\n");
    for (const found of shown.matchAll(unseen)) {
      into.append(document.createTextNode(shown.slice(end, found.index)));
      into.append(element("span", { class: "mark" }, document.createTextNode(spelling(found[0]))));
      end = found.index + found[0].length;
    }
    into.append(document.createTextNode(shown.slice(end)));
    return into;
  };
  const text = (name, said, attributes = {}) => write(element(name, attributes), said);

  // --- cases ---
  const count = data.cases.length / 3;
  const caseAt = (number) => ({
    contrast: contrasts[data.cases[3 * number]],
    pair: data.cases[3 * number + 1],
    flags: data.cases[3 * number + 2],
  });
  const alone = contrasts.some((each) => each.arms.length < 2);
  const counted = `{{ words.many }} in contrasts${alone ? " or single conditions" : ""}`;
  const numbers = Array.from({ length: count }, (_, number) => number);
  const places = new Map(); // of an arm: where each pair's answer stands
  const answerOf = (arm, pair) => {
    if (arm < 0) return null;
    if (!places.has(arm)) places.set(arm, new Map(arms[arm].pairs.map((each, place) => [each, place])));
    const place = places.get(arm).get(pair);
    if (place === undefined) return null;
    const [chosen, reason = 0, invalid = 0, acknowledgment = 0, span = 0, extras = 0] = arms[arm].answers[place];
    return { chosen, reason: strings[reason], invalid: strings[invalid], acknowledgment: strings[acknowledgment],
      span: strings[span], extras: extras || {}, numbers: [reason, invalid] };
  };
  const hashOf = ({ contrast, pair }) =>
    `#pair=${[pairs[pair][0], pairs[pair][1]].map((each) => encodeURIComponent(strings[each])).join("/")}` +
    `&judge=${encodeURIComponent(strings[contrast.judge])}&contrast=${encodeURIComponent(strings[contrast.contrast])}`;

  // --- filters ---
  const form = byId("filters");
  const fields = form.elements;
  const fill = (name) => {
    const values = [...new Set(contrasts.map((each) => each[name]))];
    fields[name].append(element("option", { value: "" }, "all"));
    for (const value of values) fields[name].append(element("option", { value: String(value) }, spelled(strings[value])));
  };
  const lowered = [];
  const holding = (words) => {
    if (!lowered.length) for (const each of strings) lowered.push(each.toLowerCase());
    const found = new Set();
    lowered.forEach((each, number) => { if (each.includes(words)) found.add(number); });
    return found;
  };
  /*% if columns %*/
  const columnsOf = (pair) => pairs[pair][10] ?? []; // what else the template shows: names and texts
  /*% endif %*/
  const speaks = ({ contrast, pair }, found) =>
    pairs[pair].slice(1, 5).some((each) => found.has(each)) ||
    /*% if columns %*/
    columnsOf(pair).some(([, said]) => found.has(said)) ||
    /*% endif %*/
    contrast.arms.some((arm) => (answerOf(arm, pair)?.numbers ?? []).some((each) => each && found.has(each)));

  let shown = numbers;
  let at = 0;
  let current = null;
  const select = () => {
    const wanted = Object.entries(filters).reduce((sum, [name, bit]) => sum + (fields[name].checked ? bit : 0), 0);
    const chosen = [JUDGE, DATASET, CONTRAST].map((name) => [name, fields[name].value]).filter(([, value]) => value !== "");
    const words = fields.words.value.trim().toLowerCase();
    const found = words ? holding(words) : null;
    shown = numbers.filter((number) => {
      const each = caseAt(number);
      return (each.flags & wanted) === wanted &&
        chosen.every(([name, value]) => String(each.contrast[name]) === value) &&
        (found === null || speaks(each, found));
    });
    at = 0;
    list();
  };

  const flagged = (flags) => {
    const names = { moved: "moved", admitted: "cites the cue", close: "close", invalid: "invalid", differs: "differs from the baseline" };
    return Object.entries(filters).filter(([, bit]) => flags & bit).map(([name]) => names[name]).join(", ");
  };
  const list = () => {
    const rows = shown.slice(at, at + PAGE).map((number) => {
      const each = caseAt(number);
      const link = element("a", { href: hashOf(each) });
      if (number === current) link.setAttribute("aria-current", "true");
      link.append(text("span", `${strings[pairs[each.pair][1]]} · ${strings[each.contrast.dataset]}`));
      link.append(text("small", `${strings[each.contrast.judge]} · ${strings[each.contrast.contrast]}`));
      if (each.flags) link.append(text("small", flagged(each.flags)));
      return element("li", {}, link);
    });
    byId("list").replaceChildren(...rows);
    byId("count").textContent = `${shown.length.toLocaleString("en")} of ${count.toLocaleString("en")} ${counted}`;
    byId("where").textContent = shown.length ? `${at + 1} to ${Math.min(at + PAGE, shown.length)}` : "none";
    byId("earlier").disabled = at === 0;
    byId("later").disabled = at + PAGE >= shown.length;
  };

  // --- one pair ---
  const stood = { 1: "first", 2: "second" };
  const own = (chosen, turned) => (turned && chosen > 0 ? 3 - chosen : chosen);
  const single = (pair) => pairs[pair][4] === 0; // one response, which passes or fails
  const choice = (answer, turned, alone) => {
    if (answer === null) return "no answer";
    if (answer.chosen < 0) return `invalid answer${answer.invalid ? `: ${answer.invalid}` : ""}`;
    /*% if words.examples %*/
    if (alone && answer.chosen === 0) return "gave a score, no grade";
    /*% endif %*/
    if (answer.chosen === 0) return "called it a tie";
    if (alone) return answer.chosen === 1 ? "passed it" : "failed it";
    const order = turned ? ` (shown ${stood[answer.chosen]})` : "";
    return `chose Response ${own(answer.chosen, turned)}${order}`;
  };
  // The words that admit are a passage of the reason, or single words of it with commas between: those that stand
  // closest together in their order are meant.
  const lettered = /[\p{L}\p{N}]/u;
  const wordAt = (said, word, from) => {
    for (let at = said.indexOf(word, from); word && at >= 0; at = said.indexOf(word, at + 1)) {
      if (!lettered.test(said[at - 1] ?? "") && !lettered.test(said[at + word.length] ?? "")) return at;
    }
    return -1;
  };
  const sequence = (said, words, start) => {
    const found = [[start, start + words[0].length]];
    for (const word of words.slice(1)) {
      const at = wordAt(said, word, found.at(-1)[1]);
      if (at < 0) return null;
      found.push([at, at + word.length]);
    }
    return found;
  };
  const admitting = (said, span) => {
    const exact = said.indexOf(span);
    if (exact >= 0) return [[exact, exact + span.length]];
    const low = said.toLowerCase();
    if (low.length !== said.length) return [];
    const words = span.toLowerCase().split(", ");
    let best = [];
    for (let start = wordAt(low, words[0], 0); start >= 0; start = wordAt(low, words[0], start + 1)) {
      const found = sequence(low, words, start);
      if (found && (!best.length || found.at(-1)[1] - start < best.at(-1)[1] - best[0][0])) best = found;
    }
    return best;
  };
  const marked = (said, span) => {
    const into = element("p", { class: "text", dir: "auto" });
    const found = span ? admitting(said, span) : [];
    let end = 0;
    for (let place = 0; place < found.length; place += 1) {
      const start = found[place][0];
      while (place + 1 < found.length && !said.slice(found[place][1], found[place + 1][0]).trim()) place += 1;
      write(into, said.slice(end, start));
      end = found[place][1];
      into.append(text("mark", said.slice(start, end)));
    }
    write(into, said.slice(end));
    return span && !found.length ? element("div", {}, into, text("p", `Detected admission: “${span}”`, { class: "none" })) : into;
  };
  const admission = { cited: "The reason cites the cue.", mentioned: "The reason mentions the cue but does not cite it.", absent: "The reason does not mention the cue.", unread: "The reason is not in English. The detector reads English only." };
  const armName = (contrast, place) => {
    const arm = arms[contrast.arms[place]];
    return strings[arm.condition] + (arm.repeat ? `, repeat ${arm.repeat}` : "");
  };
  const setting = (contrast, place, alone) => {
    const [x, y] = [strings[contrast.x], strings[contrast.y]];
    if (alone && contrast.cue) return `The response is labelled ${place ? y : x}`;
    if (alone && contrast.edit) return place ? "the response unedited" : `the response edited: ${x}`;
    if (contrast.cue) return place ? `Response 1 is labelled ${y}, Response 2 ${x}` : `Response 1 is labelled ${x}, Response 2 ${y}`;
    if (contrast.edit) return place ? "both responses unedited" : `one response edited: ${x}`;
    if (contrast.reversed) return place ? "Response 2 is shown first" : "Response 1 is shown first";
    return "";
  };
  const armView = (contrast, pair, place) => {
    const answer = answerOf(contrast.arms[place], pair);
    const { turned } = arms[contrast.arms[place]];
    const view = element("div", {}, text("h4", armName(contrast, place)));
    const how = setting(contrast, place, single(pair));
    if (how) view.append(text("p", how, { class: "none" }));
    view.append(text("p", choice(answer, turned, single(pair)), { class: "flag" }));
    if (answer === null) return view;
    view.append(marked(answer.reason, answer.span));
    if (contrast.cue && admission[answer.acknowledgment]) view.append(text("p", admission[answer.acknowledgment], { class: "none" }));
    if (answer.extras.detail) view.append(text("p", strings[answer.extras.detail], { class: "none" }));
    if (answer.extras.scores) view.append(text("p", `{{ words.scores }}: ${strings[answer.extras.scores]}`, { class: "none" }));
    if (answer.extras.contradiction) view.append(text("p", `The reason argues for {{ words.other }}: “${strings[answer.extras.contradiction]}”`, { class: "none" }));
    const before = answerOf(contrast.others[place], pair);
    if (before !== null) {
      view.append(element("details", {}, text("summary", `${strings[contrast.baseline]} ${choice(before, turned, single(pair))}`), text("p", before.reason, { class: "text", dir: "auto" })));
    }
    return view;
  };
  const responseView = (contrast, pair, number) => {
    const row = pairs[pair];
    const view = element("div", {}, text("h4", single(pair) ? "Response" : `Response ${number}`));
    if (row[5] === number) view.append(text("span", "gold", { class: "flag" }));
    if (contrast.edit && data.edited[pair] === number) view.append(text("span", `edited in ${armName(contrast, 0)} (unedited here)`, { class: "flag" }));
    contrast.arms.forEach((arm, place) => {
      const answer = answerOf(arm, pair);
      if (answer && own(answer.chosen, arms[arm].turned) === number) view.append(text("span", `${single(pair) ? "passed" : "chosen"} in ${armName(contrast, place)}`, { class: "flag" }));
    });
    view.append(text("p", strings[row[2 + number]], { class: "text", dir: "auto" }));
    return view;
  };
  /*% if columns %*/
  const columnView = ([name, said]) => {
    const view = element("details", {}, text("summary", strings[name]), text("p", strings[said], { class: "text", dir: "auto" }));
    view.open = strings[said].length <= LONG;
    return view;
  };
  /*% endif %*/
  const sentencesView = (contrast) => {
    const said = contrast.sentences.map((each) => strings[each]).filter(Boolean);
    if (!said.length) return null;
    const rows = said.map((each) => text("li", each));
    return element("div", {}, element("h4", {}, "{{ words.sentences }}"), element("ul", {}, ...rows));
  };
  const othersView = (number) => {
    const { pair } = caseAt(number);
    const same = numbers.filter((each) => each !== number && data.cases[3 * each + 1] === pair);
    if (!same.length) return null;
    const rows = same.slice(0, MANY).map((each) => {
      const other = caseAt(each);
      const said = flagged(other.flags);
      return element("li", {}, text("a", `${strings[other.contrast.judge]}: ${strings[other.contrast.contrast]}`, { href: hashOf(other) }), said ? text("span", ` (${said})`) : null);
    });
    return element("details", {}, element("summary", {}, `This {{ words.this }} in other contrasts (${same.length})`), element("ul", { class: "others" }, ...rows));
  };
  const step = (number, by, label) => {
    const next = shown[shown.indexOf(number) + by];
    const button = element("button", { type: "button" }, label);
    button.disabled = shown.indexOf(number) < 0 || next === undefined;
    button.addEventListener("click", () => { location.hash = hashOf(caseAt(next)); });
    return button;
  };
  const open = (number, focus) => {
    current = number;
    const { contrast, pair } = caseAt(number);
    const row = pairs[pair];
    const facts = [strings[contrast.judge], strings[row[0]], strings[contrast.contrast], strings[row[6]] && `category ${strings[row[6]]}`,
      strings[row[9]] ? `label: ${strings[row[9]]}` : row[5] ? `gold: Response ${row[5]}` : "{{ words.unlabelled }}", row[8].includes(contrast.judge) ? "close for this judge" : ""];
    const parts = [
      text("h3", strings[row[1]]),
      text("p", facts.filter(Boolean).join(" · "), { class: "none" }),
      element("p", {}, step(number, -1, "← Previous"), " ", step(number, 1, "Next →"), " ", element("a", { href: hashOf(caseAt(number)) }, "Link to this {{ words.this }}")),
      contrast.said ? text("p", strings[contrast.said], { class: "said" }) : null,
      element("h4", {}, "Question"), text("p", strings[row[2]], { class: "text", dir: "auto" }),
      /*% if columns %*/
      ...columnsOf(pair).map(columnView),
      /*% endif %*/
      element("div", { class: "pair" }, responseView(contrast, pair, 1), ...(single(pair) ? [] : [responseView(contrast, pair, 2)])),
      sentencesView(contrast),
      element("h4", {}, "Answers"),
      element("div", { class: "pair" }, ...contrast.arms.map((_, place) => armView(contrast, pair, place))),
      othersView(number),
    ];
    byId("case").replaceChildren(...parts.filter((part) => part !== null));
    const where = shown.indexOf(number);
    if (where >= 0) at = where - (where % PAGE);
    list();
    if (focus) {
      byId("case").focus({ preventScroll: true });
      byId("case").scrollIntoView({ block: "start" });
    }
  };

  // --- addresses ---
  const decoded = (value) => { try { return decodeURIComponent(value); } catch { return null; } };
  const follow = (focus) => {
    const wanted = new Map(location.hash.slice(1).split("&").map((part) => {
      const cut = part.indexOf("=");
      return [part.slice(0, cut), part.slice(cut + 1)];
    }));
    if (!wanted.has("pair")) return;
    const [dataset, pair] = wanted.get("pair").split("/").map(decoded);
    const [judge, contrast] = [JUDGE, CONTRAST].map((name) => (wanted.has(name) ? decoded(wanted.get(name)) : null));
    const number = numbers.find((each) => {
      const found = caseAt(each);
      const row = pairs[found.pair];
      return strings[row[0]] === dataset && strings[row[1]] === pair &&
        (judge === null || strings[found.contrast.judge] === judge) &&
        (contrast === null || strings[found.contrast.contrast] === contrast);
    });
    if (number !== undefined) open(number, focus);
    else byId("case").replaceChildren(element("p", {}, "This report does not have this {{ words.one }}."));
  };

  for (const name of [JUDGE, DATASET, CONTRAST]) fill(name);
  for (const [name, bit] of Object.entries(filters)) { // one that would find nothing says so, and cannot be chosen
    fields[name].disabled = !numbers.some((number) => caseAt(number).flags & bit);
    if (fields[name].disabled) fields[name].parentNode.append(element("small", {}, " (none)"));
  }
  form.addEventListener("input", select);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(select));
  byId("earlier").addEventListener("click", () => { at -= PAGE; list(); });
  byId("later").addEventListener("click", () => { at += PAGE; list(); });
  const valueOf = (name, said) => [...fields[name].options].find((option) => option.value !== "" && spelled(strings[option.value]) === said)?.value ?? "";
  const asked = new Set(contrasts.map((each) => [each.judge, each.dataset, each.contrast].map((number) => spelled(strings[number])).join("\n")));
  for (const link of document.querySelectorAll("a.see")) {
    const { judge, dataset, contrast } = link.dataset;
    if (!asked.has([judge, dataset, contrast].join("\n"))) continue;
    link.hidden = false;
    link.addEventListener("click", () => {
      form.reset();
      for (const name of [JUDGE, DATASET, CONTRAST]) fields[name].value = valueOf(name, link.dataset[name]);
      setTimeout(select);
    });
  }
  addEventListener("hashchange", () => follow(true));
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((each) => { each.open = true; }));
  byId("static").hidden = true;
  byId("browser").hidden = false;
  if (count === 0) byId("count").textContent = "This report has no judgments or {{ words.many }}.";
  else list();
  follow(true);
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
})();
