/** Server-sent events with handlers by name. The browser reconnects by itself and says what it has missed. */

import {url} from "./api.js";

/**
 * @param {string} route
 * @param {Record<string, (data: any) => void>} handlers
 * @param {(connected: boolean) => void} [connection] told when the line breaks and when it is back
 * @returns {() => void} closes it
 */
export function listen(route, handlers, connection = () => {}) {
  const source = new EventSource(url(route));
  source.onopen = () => connection(true);
  source.onerror = () => connection(false);
  for (const [name, handler] of Object.entries(handlers)) {
    source.addEventListener(name, (event) => handler(JSON.parse(event.data)));
  }
  return () => source.close();
}
