import { short } from '../shared/address.ts'
import { el, fill } from '../shared/dom.ts'
import { when } from '../shared/time.ts'
import { bars } from './bars.ts'
import type { FiguresFeed } from './figures-feed.ts'
import type { AliasFigures, UsedAlias } from './figures.ts'
import { count, counted } from './numbers.ts'
import { panel, table } from './panel.ts'

/** Makes the panel of the legacy names that are still used. */
export function aliasPanel(feed: FiguresFeed): HTMLElement {
  return panel<AliasFigures>(feed, {
    title: 'Legacy names in use',
    about:
      'Requests by the old name that they used, and by whom. npx gatewright aliases report prints the same.',
    figures: 'aliases',
    isEmpty: ({ aliases }) => aliases.length === 0,
    show({ aliases, unused, unobservable }, body) {
      const rest = `${count(unused)} more old names still work and nobody has used them. Use of ${count(unobservable)} old response fields and security schemes cannot be measured.`
      fill(
        body,
        bars(
          'Requests by old name',
          aliases.map(({ id, count: calls, callers, due }) => ({
            name: id,
            value: calls,
            colour: due ? '--warn' : '--accent',
            text: `${counted(calls, 'request')} of ${counted(callers, 'caller')}${due ? ', past its sunset' : ''}`,
          })),
        ),
        ...aliases.map(alias => usesOf(alias)),
        el('p', { class: 'small muted' }, rest),
      )
    },
  })
}

function usesOf({ id, to, users, callers }: UsedAlias): HTMLElement {
  const rows = users.map(({ principal, count: calls, lastSeen }) => [
    principal === 'anonymous' ? 'without a key' : short(principal),
    count(calls),
    when(lastSeen),
  ])
  const more = callers - users.length
  return el(
    'details',
    {},
    el('summary', { 'data-key': id }, `Who uses ${id}`),
    to !== null && el('p', { class: 'small' }, 'Its current name is ', el('code', {}, to), '.'),
    table(`Callers of ${id}`, ['Key', 'Requests', 'Last'], rows, ['Requests']),
    more > 0 &&
      el('p', { class: 'small muted' }, `And ${count(more)} more: npx gatewright aliases report prints all.`),
  )
}
