/** The one way to the server: every request, its errors in plain words, and the author's name. */

import {unsaved} from "./router.js";

const BASE = new URL("api/v1/", document.baseURI);

/** What the server refused, or that it can't be reached. `status` 0: no answer at all. */
export class ApiError extends Error {
  constructor(status, body) {
    super(body.error ?? "The server sent no reason.");
    this.status = status;
    this.mistakes = body.mistakes ?? [];
    this.body = body;
    this.title = TITLES[status] ?? (status >= 500 ? "The server failed." : "That was refused.");
  }
}

const TITLES = {
  0: "No answer from the server.",
  401: "You are no longer signed in.",
  403: "Not allowed.",
  404: "Not found.",
  409: "That is there already.",
  412: "Someone else changed it.",
  413: "The file is too large.",
  422: "There are mistakes in it.",
  429: "Too many jobs are waiting.",
  503: "Too much at once.",
};

/** Parts of a path, escaped and joined. */
export function path(...parts) {
  return parts.map((part) => encodeURIComponent(part)).join("/");
}

/** The full address of a route, for frames, pictures and event streams. */
export function url(route) {
  return new URL(route, BASE).href;
}

export async function get(route, options) {
  return (await request("GET", route, options)).body;
}

export async function post(route, json, options) {
  return (await request("POST", route, {json, ...options})).body;
}

/**
 * @param {string} method
 * @param {string} route below /api/v1/
 * @param {{json?: any, text?: string, type?: string, etag?: string, signal?: AbortSignal}} options
 * @returns {Promise<{body: any, etag: string|null, status: number}>}
 */
export async function request(method, route, {json, text, type, etag, signal} = {}) {
  const headers = {Accept: "application/json"};
  const author = authorName();
  if (author) headers["X-Berth-Author"] = encodeURIComponent(author);
  if (json !== undefined) headers["Content-Type"] = "application/json";
  else if (text !== undefined) headers["Content-Type"] = type ?? "text/plain";
  if (etag) headers["If-Match"] = etag;
  let answer;
  try {
    answer = await fetch(url(route), {method, headers, signal, body: json !== undefined ? JSON.stringify(json) : text});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, {error: "Is berth serve still running, and is the network there? Nothing was changed."});
  }
  if (answer.status === 401) {
    // What is not saved stays on the page; signing in elsewhere in this browser is enough.
    if (unsaved()) throw new ApiError(401, {error: "Sign in again in another tab of this browser, then go on here: what you typed is still there."});
    sessionStorage.setItem("berth-return", location.hash);
    location.assign(new URL("login?again", document.baseURI));
    return new Promise(() => {});
  }
  const body = await content(answer);
  if (!answer.ok) throw new ApiError(answer.status, body ?? {});
  return {body, etag: answer.headers.get("ETag"), status: answer.status};
}

/** Ends the session, here and on the server. */
export async function signOut() {
  await fetch(new URL("logout", document.baseURI), {method: "POST"});
  location.assign(new URL("login", document.baseURI));
}

/** The name under which others see one's changes; empty until somebody gives one. */
export function authorName() {
  return localStorage.getItem("berth-author") ?? "";
}

export function setAuthorName(name) {
  localStorage.setItem("berth-author", name.slice(0, 80));
}

async function content(answer) {
  if (answer.status === 204) return null;
  const text = await answer.text();
  try {
    return JSON.parse(text);
  } catch {
    return {error: `The answer makes no sense here (status ${answer.status}).`};
  }
}
