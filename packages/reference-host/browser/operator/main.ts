import { call, sentence } from '../shared/api.ts'
import { byId, el, fill } from '../shared/dom.ts'
import { whenHostIsBack } from '../shared/host-away.ts'
import { announce } from '../shared/live.ts'
import { dashboard } from './dashboard.ts'
import type { HostFigures } from './figures.ts'
import { forgetToken, storedToken, storeToken } from './stored-token.ts'
import { hideStatus } from '../shared/status.ts'
import { unlockForm } from './unlock.ts'

/** Forgets the operator token, and shows the form for it. */
function lock(reason?: string): void {
  forgetToken()
  hideStatus()
  fill(byId('app'), unlockForm(unlock, reason))
  if (reason !== undefined) announce(reason)
}

/** Shows the figures if the host accepts the token. Otherwise returns an error text. */
async function unlock(token: string): Promise<string | undefined> {
  const host = await readHost(token)
  if (!host.ok) {
    if (host.problem.status === 401) return 'This is not the token of this host.'
    if (host.problem.status === 0) return 'The host did not respond. Check that it runs and try again.'
    return `The host refused: ${host.problem.message}.`
  }
  storeToken(token)
  showFigures(token, host.data).focus()
  return undefined
}

/** Shows the figures with a token that this tab has used before. While the host does not respond, it waits. */
async function showAgain(token: string): Promise<void> {
  const host = await readHost(token)
  if (host.ok) showFigures(token, host.data)
  else if (host.problem.status === 0) whenHostIsBack(() => void showAgain(token))
  else lock(host.problem.status === 401 ? NOT_ACCEPTED : sentence(host.problem))
}

const NOT_ACCEPTED = 'The host does not accept this token. Type its token again.'

const readHost = (token: string) => call<HostFigures>('/operator/api/host', { token })

/** Shows the figures. Returns their heading. */
function showFigures(token: string, host: HostFigures): HTMLElement {
  const heading = el('h1', { tabindex: -1 }, 'Operator page')
  const page = dashboard({ token, host, heading, lock: () => lock(), ended: () => lock(NOT_ACCEPTED) })
  fill(byId('app'), page)
  return heading
}

const token = storedToken()
if (token === null) lock()
else void showAgain(token)
