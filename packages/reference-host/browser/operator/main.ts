import { call, type Reply } from '../shared/api.ts'
import { byId, el, fill } from '../shared/dom.ts'
import { announce } from '../shared/live.ts'
import { dashboard } from './dashboard.ts'
import type { HostFigures } from './figures.ts'
import type { CallOperator } from './panel.ts'
import { unlockForm } from './unlock.ts'

/** Shows the form for the operator token. The token is kept in memory only, not in an address, a cookie or a storage. */
function lock(reason?: string): void {
  byId('freshness').textContent = ''
  fill(byId('app'), unlockForm(unlock, reason))
  if (reason === undefined) return
  announce(reason)
}

const SHARED_MS = 2000

/**
 * Makes the function that calls the operator listener with a token. Panels that need the same figures within `SHARED_MS` share
 * one response. A write clears all shared responses.
 */
function createCallOperator(token: string): CallOperator {
  const shared = new Map<string, Promise<Reply<unknown>>>()
  return <T>(path: string, body?: unknown) => {
    const known = body === undefined ? shared.get(path) : undefined
    if (known) return known as Promise<Reply<T>>
    const reply = call<T>(`/operator/api/${path}`, { token, ...(body === undefined ? {} : { body }) })
    // Not shared, because a running check is polled.
    if (body !== undefined) return reply.finally(() => shared.clear())
    if (path === 'ledger-check') return reply
    shared.set(path, reply)
    setTimeout(() => shared.get(path) === reply && shared.delete(path), SHARED_MS)
    return reply
  }
}

/** Shows the figures if the host accepts the token. Otherwise returns an error text. */
async function unlock(token: string): Promise<string | undefined> {
  const callOperator = createCallOperator(token)
  const host = await callOperator<HostFigures>('host')
  if (!host.ok) {
    if (host.problem.status === 401) return 'This is not the token of this host.'
    if (host.problem.status === 0) return 'The host did not respond. Check that it runs and try again.'
    return `The host refused: ${host.problem.message}.`
  }
  const heading = el('h1', { tabindex: -1 }, 'Operator page')
  fill(byId('app'), dashboard({ callOperator, host: host.data, heading, lock }))
  heading.focus()
  return undefined
}

lock()
