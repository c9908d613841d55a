// What all parts of the page share: data, elements, numbers. Elements are made node by node: no text ever becomes HTML.
"use strict";
const MAGE = (() => {
  const values = new Map();
  const waiting = new Map();

  // Called by the data files, which are scripts.
  function put(name, value) {
    values.set(name, value);
  }

  // Adds the script of a data file, once. Names come from the page's own data, never from the address.
  function load(name) {
    if (!waiting.has(name)) {
      waiting.set(name, new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = `data/${name}.js`;
        script.onload = () => resolve(values.get(name));
        script.onerror = () => {
          waiting.delete(name);
          reject(new Error(`data/${name}.js cannot be read`));
        };
        document.head.append(script);
      }));
    }
    return waiting.get(name);
  }

  const SVG = new Set(["svg", "g", "path", "line", "circle", "rect", "polygon", "text", "title"]);

  // element("button", {class: "x", onclick: f, "aria-label": "…"}, "text", child, …); null and false are left out.
  function element(tag, attributes, ...children) {
    const made = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value === true) made.setAttribute(name, "");
      else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
    }
    made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
    return made;
  }

  // A name that is broken at its joints, if it must be.
  function breakable(text) {
    return element("span", null, text.split(/(?<=[(+/,_-])/).flatMap((part, index) => [index > 0 && element("wbr"), part]));
  }

  function number(value, digits = 3) {
    if (value === null || value === undefined) return "";
    const text = value.toFixed(digits);
    return (Number(text) === 0 ? (0).toFixed(digits) : text).replace("-", "−");
  }

  function signed(value, digits = 3) {
    if (value === null || value === undefined) return "";
    const text = number(value, digits);
    return text.startsWith("−") ? text : `+${text}`;
  }

  // A reward: whole numbers without digits.
  function reward(value) {
    return value === 0 ? "0" : signed(value, Number.isInteger(value) ? 0 : 2);
  }

  // [value, low, high] as "+0.250 ±0.182", or with its ends if they are not symmetric.
  function interval([value, low, high], sign = true) {
    if (value === null) return "";
    const digits = Math.max(...[value, low, high].map(Math.abs)) < 10 ? 3 : 1;
    const shown = sign ? signed(value, digits) : number(value, digits);
    if (low === null || high === null) return shown;
    const [below, above] = [value - low, high - value];
    if (Math.abs(below - above) < 0.001) return `${shown} ±${number((above + below) / 2, digits)}`;
    return `${shown} (${number(low, digits)} to ${number(high, digits)})`;
  }

  return { put, load, element, breakable, number, signed, reward, interval };
})();
