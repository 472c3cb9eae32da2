// What a client does that is told to wait.
import { setTimeout as delay } from 'node:timers/promises'
import type { HttpResponse } from '../../harness/host.ts'

const isInProgress = (response: HttpResponse | void): boolean =>
  response?.body['error'] === 'request_in_progress'

/** Acts again while a response says that it has to wait, 100 times at most. */
async function again<R extends HttpResponse | void>(
  act: () => Promise<R>,
  waits: (response: R) => boolean,
): Promise<R> {
  for (let tries = 1; ; tries += 1) {
    const response = await act()
    if (!waits(response) || tries === 100) return response
    await delay(20)
  }
}

/** Asks again until the database of the dead host is free: on Postgres its transaction takes a moment to be over. */
export function responded<R extends HttpResponse | void>(act: () => Promise<R>): Promise<R> {
  return again(act, response => response?.status === 503 || isInProgress(response))
}

/** Sends a write again while other writes of its account run, on a slow machine for longer than a host waits. It needs an idempotency key. */
export function decided(send: () => Promise<HttpResponse>): Promise<HttpResponse> {
  return again(send, isInProgress)
}
