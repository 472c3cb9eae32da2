import { button, el, fill } from '../shared/dom.ts'
import { when } from '../shared/time.ts'
import type { FiguresFeed } from './figures-feed.ts'
import type { Refusal, RefusalFigures } from './figures.ts'
import { count } from './numbers.ts'
import { operationTitle, reasonWords } from '../shared/request-words.ts'
import { accountButton, type Only } from './accounts.ts'
import { keyOf, panel, table } from './panel.ts'

/** Makes the panel of the most frequent refusals. Each opens the requests of its kind. */
export function refusalPanel(feed: FiguresFeed, showOnly: (what: Only) => void): HTMLElement {
  return panel<RefusalFigures>(feed, {
    title: 'Top refusals',
    about:
      'By rule or error, operation and key, among the newest recorded requests of the last 24 hours. What people look up in a console is not counted.',
    figures: 'refusals',
    isEmpty: ({ refusals }) => refusals.length === 0,
    show({ refusals }, body) {
      const rows = refusals.map(refusal => [
        whyButton(refusal, showOnly),
        el('span', { title: refusal.operation }, operationTitle(refusal)),
        accountButton(refusal, showOnly),
        keyOf(refusal),
        count(refusal.count),
        when(refusal.lastAt),
      ])
      fill(body, table('Top refusals', ['Why', 'What', 'Account', 'Key', 'Count', 'Last'], rows, ['Count']))
    },
  })
}

function whyButton(refusal: Refusal, showOnly: (what: Only) => void): HTMLElement {
  const { rule, code, operation, accountId, keyId } = refusal
  const why = reasonWords({ rule, error: code, details: null })
  const made = button(
    why,
    () =>
      showOnly({
        words: `${why} · ${operationTitle(refusal)}`,
        query: {
          code,
          rule: rule ?? '',
          operation,
          account: accountId ?? '',
          key: keyId ?? '',
        },
      }),
    'link',
  )
  made.dataset['key'] = JSON.stringify([rule ?? code, operation, accountId, keyId])
  return made
}
