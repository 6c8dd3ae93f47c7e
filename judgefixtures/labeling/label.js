"use strict";
// One example at a time. All texts are written as text, never as HTML.
(() => {
  const byId = (id) => document.getElementById(id);
  const buttons = Object.fromEntries(["pass", "fail", "skip", "back", "next"].map((name) => [name, byId(name)]));
  const [title, comment] = [byId("title"), byId("comment")];
  const drafts = new Map(); // comments that are not saved yet, by place
  let view = null;
  let waiting = false;

  const element = (name, ...children) => {
    const made = document.createElement(name);
    made.append(...children);
    return made;
  };
  const write = (into, pieces) => {
    pieces.forEach((piece, number) => {
      const text = document.createTextNode(piece);
      if (number % 2 === 0) return into.append(text);
      const mark = element("span", text);
      mark.className = "mark";
      return into.append(mark);
    });
    return into;
  };
  const say = (id, text) => {
    byId(id).hidden = !text;
    byId(id).textContent = text;
  };

  // --- what the server says ---
  const ask = async (asked) => {
    if (waiting) return;
    waiting = true;
    document.body.setAttribute("aria-busy", "true");
    enable();
    let trouble = "";
    try {
      const answer = await fetch(location.pathname, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(asked),
      });
      if (answer.ok) {
        view = await answer.json();
        if ("label" in asked) drafts.delete(asked.place);
      } else trouble = await answer.text();
    } catch {
      trouble = "The page has stopped. " + ("label" in asked ? "This label is not saved; all earlier labels are. " : "") +
        "Start it again in the terminal, and open the new address.";
    }
    waiting = false;
    document.body.removeAttribute("aria-busy");
    say("trouble", trouble);
    if (trouble) enable();
    else show();
  };

  // --- what is shown ---
  const enable = () => {
    const [there, own] = [view !== null && view.place !== null, view?.own];
    for (const name of ["pass", "fail"]) {
      buttons[name].disabled = waiting || !there;
      buttons[name].setAttribute("aria-pressed", String(own?.label === name));
    }
    buttons.skip.disabled = waiting || (!there && (view?.skipped_at ?? null) === null);
    buttons.skip.setAttribute("aria-pressed", String(own ? own.label === null : false));
    buttons.back.disabled = waiting || view === null || view.place === 0;
    buttons.next.disabled = waiting || !own;
    comment.disabled = !there;
  };
  const progress = () => {
    const done = `${view.labelled} of ${view.total} labelled` + (view.skipped ? `, ${view.skipped} skipped` : "");
    if (view.needed === null) return `${done}. No realistic number of labels is enough for this agreement gate.`;
    const lacking = view.needed - view.labelled;
    return `${done}. An agreement gate needs about ${view.needed}` + (lacking > 0 ? `: ${lacking} more.` : ".");
  };
  const heading = () => {
    if (view.place !== null) return `Example ${view.place + 1} of ${view.total}`;
    return view.skipped ? "All seen" : "All labelled";
  };
  const note = () => {
    if (view.place === null) {
      return (view.skipped ? "Press S to see the skipped examples. " : "") + "All labels are saved. Ctrl-C in the terminal stops the page.";
    }
    return view.changed ? "The text has changed since you labelled it." : "";
  };
  const show = () => {
    const parts = (view.parts ?? []).map(({ name, text }) => {
      const blocks = text.map((pieces) => write(element("div"), pieces));
      for (const block of blocks) block.className = "text";
      return element("section", write(element("h2"), name), ...blocks);
    });
    byId("parts").replaceChildren(...parts);
    comment.value = drafts.get(view.place) ?? view.own?.comment ?? "";
    title.textContent = heading();
    say("progress", progress());
    say("note", note());
    enable();
    scrollTo(0, 0);
    title.focus({ preventScroll: true });
    document.documentElement.dataset.shown = view.place === null ? "end" : String(view.place);
  };

  // --- what a person does ---
  const give = (label) => ask({ place: view.place, label, comment: comment.value });
  const act = {
    pass: () => give("pass"),
    fail: () => give("fail"),
    skip: () => (view.place === null ? ask({ place: view.skipped_at }) : give(null)),
    back: () => ask({ place: (view.place ?? view.total) - 1 }),
    next: () => ask({ place: view.place + 1 < view.total ? view.place + 1 : null }),
  };
  const keys = { p: "pass", f: "fail", s: "skip", b: "back", n: "next" };
  for (const [name, button] of Object.entries(buttons)) button.addEventListener("click", act[name]);
  comment.addEventListener("input", () => drafts.set(view.place, comment.value));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
    if (event.target === comment) {
      if (event.key === "Escape") title.focus();
      return;
    }
    // By the letter where the keyboard has Latin ones, else by where the key is.
    const key = (/^[a-z]$/i.test(event.key) ? event.key : event.code.replace(/^Key/, "")).toLowerCase();
    if (key === "c" && !comment.disabled) comment.focus();
    else if (key in keys && !buttons[keys[key]].disabled) act[keys[key]]();
    else return;
    event.preventDefault();
  });
  ask({ place: null });
})();
