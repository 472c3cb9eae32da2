import { sentence } from '../shared/api.ts'
import { button, el, fill, type Child } from '../shared/dom.ts'
import { announce } from '../shared/live.ts'
import { when } from '../shared/time.ts'
import type { FiguresFeed } from './figures-feed.ts'
import type { LedgerCheck } from './figures.ts'
import { count, counted, duration } from './numbers.ts'
import { panel } from './panel.ts'

const POLL_MS = 700

/** Makes the panel of the latest check of the ledger, with a button that starts another. */
export function ledgerPanel(feed: FiguresFeed): HTMLElement {
  const failed = el('p', { class: 'wrong', role: 'alert' })
  /** Whether a person waits for the result. */
  let awaited = false
  const start = button(
    'Check the ledger',
    async () => {
      failed.textContent = ''
      const reply = await feed.call<LedgerCheck>('ledger-check', {})
      if (!reply.ok) {
        failed.textContent = sentence(reply.problem)
        return
      }
      awaited = true
      await feed.read('ledger-check')
    },
    'small',
  )
  let poll: ReturnType<typeof setTimeout> | undefined
  feed.follow<LedgerCheck>('ledger-check', reply => {
    clearTimeout(poll)
    if (reply.ok && reply.data.state === 'running')
      poll = setTimeout(() => void feed.read('ledger-check'), POLL_MS)
  })
  return panel<LedgerCheck>(feed, {
    title: 'Ledger',
    about:
      'Adds up every transfer, and compares the sums with transactions, authorizations and withdrawals. The same as npx gatewright ledger check.',
    figures: 'ledger-check',
    controls: [el('div', { class: 'buttons' }, start), failed],
    show(check, body) {
      fill(body, ...describe(check))
      if (!awaited || check.state === 'running') return
      awaited = false
      announce(body.querySelector('.note')?.textContent ?? '')
    },
  })
}

function describe(check: LedgerCheck): Child[] {
  if (check.state === 'never') return [el('p', { class: 'empty' }, 'Not checked since this host started.')]
  const began = el('p', { class: 'small muted' }, 'Started ', when(check.startedAt), '.')
  if (check.state === 'running') return [el('p', { class: 'waiting' }, 'The check is running.'), began]
  if (check.state === 'failed') {
    const text = `The check did not end within ${duration(check.limitMs)}, or the database failed. Nothing is known. npx gatewright ledger check has no limit.`
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
      el('p', { class: 'note ok' }, `Balanced: ${counted(transfers, 'transfer')} checked, no differences.`),
      facts,
    ]
  return [
    el(
      'div',
      { class: 'note bad' },
      el('p', {}, `Broken: ${counted(problems.length, 'difference')} in ${count(transfers)} transfers.`),
      el('ul', { class: 'findings' }, ...problems.map(problem => el('li', {}, problem))),
    ),
    facts,
  ]
}
