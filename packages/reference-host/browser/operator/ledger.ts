import { sentence, type Reply } from '../shared/api.ts'
import { button, el, fill, type Child } from '../shared/dom.ts'
import { announce } from '../shared/live.ts'
import { when } from '../shared/time.ts'
import type { LedgerCheck } from './figures.ts'
import { count, duration } from './numbers.ts'
import { panel, type CallOperator, type Panel } from './panel.ts'

const POLL_MS = 700

/** Makes the panel of the latest check of the ledger, with a button that starts another. */
export function ledgerPanel(callOperator: CallOperator): Panel {
  const show = (check: LedgerCheck, body: HTMLElement): void => {
    const start = button('Check the ledger', () => run(), 'small')
    start.disabled = check.state === 'running'
    fill(body, ...describe(check), el('div', { class: 'buttons' }, start))
    const run = async (): Promise<void> => follow(await callOperator<LedgerCheck>('ledger-check', {}), body)
  }
  const follow = (reply: Reply<LedgerCheck>, body: HTMLElement): void => {
    if (!reply.ok) {
      body.prepend(el('p', { class: 'note bad' }, sentence(reply.problem)))
      return
    }
    show(reply.data, body)
    if (reply.data.state === 'running') setTimeout(() => void poll(body), POLL_MS)
    else announce(body.querySelector('.note')?.textContent ?? '')
  }
  const poll = async (body: HTMLElement): Promise<void> => {
    if (!body.isConnected) return
    const reply = await callOperator<LedgerCheck>('ledger-check')
    follow(reply, body)
  }
  return panel<LedgerCheck>(callOperator, {
    title: 'Ledger',
    about:
      'Adds up every transfer and compares it with the business rows, in a process of its own. gatewright ledger check does the same.',
    path: 'ledger-check',
    show,
  })
}

function describe(check: LedgerCheck): Child[] {
  if (check.state === 'never') return [el('p', { class: 'empty' }, 'Not checked since this host started.')]
  const began = el('p', { class: 'small muted' }, 'Started ', when(check.startedAt), '.')
  if (check.state === 'running') return [el('p', { class: 'waiting' }, 'The check is running.'), began]
  if (check.state === 'failed') {
    const text = `The check did not end within ${duration(check.limitMs)}, or the database failed. Nothing is known. gatewright ledger check has no limit.`
    return [el('p', { class: 'note warn' }, text), began]
  }
  const { problems, transfers, tookMs } = check
  const facts = el(
    'p',
    { class: 'small muted' },
    'Started ',
    when(check.startedAt),
    `, took ${duration(tookMs)}.`,
  )
  if (problems.length === 0)
    return [
      el(
        'p',
        { class: 'note ok' },
        `Right: ${count(transfers)} transfers, every account adds up, the sum is 0.`,
      ),
      facts,
    ]
  return [
    el(
      'div',
      { class: 'note bad' },
      el('p', {}, `Broken: ${count(problems.length)} findings in ${count(transfers)} transfers.`),
      el('ul', { class: 'findings' }, ...problems.map(problem => el('li', {}, problem))),
    ),
    facts,
  ]
}
