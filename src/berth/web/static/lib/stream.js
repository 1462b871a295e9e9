/**
 * Server-sent events with handlers by name. The browser reconnects by itself and says what it has missed. Pages that
 * nobody looks at let go of their line: browsers allow few lines to one server, and other tabs need them.
 */

import {get, url} from "./api.js";

/**
 * @param {string} route
 * @param {Record<string, (data: any) => void>} handlers
 * @param {{connection?: (connected: boolean) => void, numbered?: boolean}} options `connection` is told when the line
 *   breaks and when it is back; `numbered`: ids count up, and what was seen already is left out
 * @returns {() => void} closes it
 */
export function listen(route, handlers, {connection = () => {}, numbered = false} = {}) {
  let source = null;
  let highest = -1;
  const open = () => {
    source = new EventSource(url(route));
    source.onopen = () => connection(true);
    source.onerror = () => {
      connection(false);
      // Refused for good: whoever is no longer signed in is led to the form.
      if (source?.readyState === EventSource.CLOSED) get("me").catch(() => {});
    };
    for (const [name, handler] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => {
        const number = Number(event.lastEventId);
        if (numbered && number <= highest) return;
        highest = number;
        handler(JSON.parse(event.data));
      });
    }
  };
  const turned = () => {
    source?.close();
    source = null;
    if (!document.hidden) open();
  };
  const close = () => {
    document.removeEventListener("visibilitychange", turned);
    source?.close();
    source = null;
  };
  document.addEventListener("visibilitychange", turned);
  open();
  return close;
}
