import { copyButton } from '../shared/copy.ts'
import { byId, el, fill } from '../shared/dom.ts'
import { readHost } from '../shared/host.ts'
import { dot, followStatus, type Readiness } from '../shared/status.ts'
import { fromNow, utc } from '../shared/time.ts'

/** Adds a copy button to a command. */
function addCopy(id: string, what: string): void {
  const code = byId(id)
  code.parentElement?.after(copyButton(what, () => code.textContent))
}

function row(name: string, ...value: readonly (Node | string)[]): HTMLElement[] {
  return [el('dt', {}, name), el('dd', {}, ...value)]
}

/** Shows the state of the host and of each of its stores. */
function showState(readiness: Readiness | undefined): void {
  const { process } = readHost()
  if (!readiness) return fill(byId('state'), el('p', {}, dot(false), ' The host does not answer.'))
  const isReady = readiness.status === 'ready'
  const stores = Object.entries(readiness.dependencies).flatMap(([name, state]) =>
    row(name, dot(state === 'ok'), ` ${state}`),
  )
  const started = process && el('time', { datetime: process.startedAt, title: utc(process.startedAt) })
  if (started) started.textContent = fromNow(process.startedAt)
  fill(
    byId('state'),
    el(
      'dl',
      { class: 'facts' },
      ...row('State', dot(isReady), isReady ? ' Ready' : ' Not ready'),
      ...stores,
      ...(process ? row('Version', process.version) : []),
      ...(started ? row('Started', started) : []),
    ),
  )
}

addCopy('key-command', 'the start of the command')
addCopy('pay-command', 'the command')
followStatus(showState)
