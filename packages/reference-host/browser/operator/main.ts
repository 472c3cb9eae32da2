import { call, type Reply } from '../shared/api.ts'
import { byId, el, fill } from '../shared/dom.ts'
import { say } from '../shared/live.ts'
import { dashboard } from './dashboard.ts'
import type { HostFigures } from './figures.ts'
import type { Ask } from './panel.ts'
import { unlockForm } from './unlock.ts'

/** Asks for the token. It stays in this closure: not in an address, a cookie or a storage. */
function lock(reason?: string): void {
  byId('freshness').textContent = ''
  fill(byId('app'), unlockForm(unlock, reason))
  if (reason === undefined) return
  say(reason)
}

const SHARED_MS = 2000

/** Asks with a token. Two parts of the page that show the same figures share one response; a write makes the host be asked again. */
function sharedAsk(token: string): Ask {
  const shared = new Map<string, Promise<Reply<unknown>>>()
  return <T>(path: string, body?: unknown) => {
    const known = body === undefined ? shared.get(path) : undefined
    if (known) return known as Promise<Reply<T>>
    const reply = call<T>(`/operator/api/${path}`, { token, ...(body === undefined ? {} : { body }) })
    // A running check is asked for again and again.
    if (body !== undefined) return reply.finally(() => shared.clear())
    if (path === 'ledger-check') return reply
    shared.set(path, reply)
    setTimeout(() => shared.get(path) === reply && shared.delete(path), SHARED_MS)
    return reply
  }
}

/** Shows the figures if the host takes the token. Returns what is wrong otherwise. */
async function unlock(token: string): Promise<string | undefined> {
  const ask = sharedAsk(token)
  const host = await ask<HostFigures>('host')
  if (!host.ok) {
    if (host.problem.status === 401) return 'This is not the token of this host.'
    if (host.problem.status === 0) return 'The host did not respond. Check that it runs and try again.'
    return `The host refused: ${host.problem.message}.`
  }
  const heading = el('h1', { tabindex: -1 }, 'Operator page')
  fill(byId('app'), dashboard({ ask, host: host.data, heading, lock }))
  heading.focus()
  return undefined
}

lock()
