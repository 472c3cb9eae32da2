import { fill } from '../shared/dom.ts'
import type { FiguresFeed } from './figures-feed.ts'
import type { StoreFigures } from './figures.ts'
import { count, duration } from './numbers.ts'
import { empty, panel, table } from './panel.ts'
import { plot } from './plot.ts'
import { valuesAt } from './times.ts'

/** Makes the panel of the round-trip time to each store. */
export function storePanel(feed: FiguresFeed): HTMLElement {
  return panel<StoreFigures>(feed, {
    title: 'Stores',
    about:
      'Round trip of a readiness check, every 5 seconds: half took at most p50, 99 of 100 at most p99. In /metrics: gatewright_store_check_seconds.',
    figures: 'stores',
    show({ stores }, body) {
      if (stores.length === 0)
        return fill(body, empty('The first check comes within 5 seconds of the start.'))
      const rows = stores.map(({ name, checks, p50Ms, p99Ms }) => [
        name,
        duration(p50Ms),
        duration(p99Ms),
        count(checks),
      ])
      fill(
        body,
        table('Latency of stores in 24 hours', ['Store', 'p50', 'p99', 'Checks'], rows, [
          'p50',
          'p99',
          'Checks',
        ]),
        ...stores.map(({ name, slots, p50Ms, p99Ms }) => {
          const times = slots.map(({ at }) => Date.parse(at) / 1000)
          return plot({
            description: `Latency of ${name}: p50 ${duration(p50Ms)}, p99 ${duration(p99Ms)}.`,
            times,
            lines: [
              {
                label: `${name} p50`,
                colour: '--accent',
                values: valuesAt(times, slots, slot => slot.p50Ms, null),
              },
              {
                label: `${name} p99`,
                colour: '--accent',
                dashed: true,
                values: valuesAt(times, slots, slot => slot.p99Ms, null),
              },
            ],
            unit: 'ms, logarithmic',
            show: duration,
            logarithmic: true,
          })
        }),
      )
      return undefined
    },
  })
}
