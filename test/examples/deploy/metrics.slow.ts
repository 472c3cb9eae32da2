// The alerts and the dashboard of examples/deploy name only what a host measures.
import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { openTestHost } from '../../harness/host.ts'
import { definedMetrics, readExpression } from './metric-names.ts'

const FOLDER = 'examples/deploy'
const RUNBOOKS = 'https://github.com/gatewright/gatewright/blob/main/'

interface AlertRule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly runbook_url?: string }
}
interface Panel {
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets: readonly { readonly expr: string }[]
}

const { groups } = parse(readFileSync(`${FOLDER}/prometheus/alerts.yml`, 'utf8')) as {
  groups: readonly [{ readonly rules: readonly AlertRule[] }]
}
const [{ rules }] = groups
const { panels } = JSON.parse(readFileSync(`${FOLDER}/grafana/gatewright.json`, 'utf8')) as {
  panels: readonly Panel[]
}
const expressions = [
  ...rules.map(({ alert, expr }) => ({ name: alert, expr })),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ name: title, expr }))),
]

/** Labels that Prometheus adds, or the format of a histogram. */
const ALWAYS = ['job', 'instance', 'le']

t.test('reads the metrics and labels of an expression', async t => {
  t.same(readExpression('a > 1 or vector(0)'), { selectors: [{ metric: 'a', labels: [] }], grouped: [] })
  t.same(readExpression('sum by (x, y) (rate(a_total{b="c{d", e!~"f"}[5m])) / b'), {
    selectors: [
      { metric: 'a_total', labels: ['b', 'e'] },
      { metric: 'b', labels: [] },
    ],
    grouped: ['x', 'y'],
  })
})

t.test('alerts and dashboard name only metrics and labels that a host has', async t => {
  const host = await openTestHost(t)
  const exposed = await (await fetch(`${host.url}/metrics`)).text()
  // Prometheus makes this one itself.
  const names = new Set(['up', ...[...exposed.matchAll(/^# HELP (\w+)/gm)].map(([, name]) => name)])
  const defined = definedMetrics()
  for (const name of defined.keys())
    if (!name.startsWith('gatewright_database_')) t.ok(names.has(name), `a host has ${name}`)
  for (const { name, expr } of expressions) {
    const { selectors, grouped } = readExpression(expr)
    t.ok(selectors.length > 0, `${name} reads a metric`)
    for (const { metric, labels } of selectors) {
      const base = metric.replace(/_bucket$/, '')
      t.ok(names.has(base) || defined.has(base), `${name}: a host has the metric ${metric}`)
      const known = [...(defined.get(base) ?? []), ...ALWAYS]
      t.same(
        [...labels, ...grouped].filter(label => !known.includes(label)),
        [],
        `${name}: ${metric} has the labels`,
      )
    }
  }
})

t.test('every metric of a host is on the dashboard', async t => {
  const shown = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join('\n')
  // Only operators of chains watch these, each for its own addresses.
  const left = [
    'gatewright_deposit_next_index',
    'gatewright_unmatched_search_blocks',
    'gatewright_unmatched_transfers_total',
    'gatewright_chain_read_age_seconds',
    'gatewright_deposit_addresses_free',
  ]
  t.same([...definedMetrics().keys()].filter(name => !shown.includes(name)).toSorted(), left.toSorted())
})

t.test('each alert says how urgent it is, and its runbook exists', async t => {
  for (const { alert, labels, annotations } of rules) {
    t.ok(['page', 'ticket'].includes(labels.severity), alert)
    t.ok(annotations.summary.length > 20, alert)
    const { runbook_url: runbook } = annotations
    if (labels.severity === 'page') t.ok(runbook, `${alert} has a runbook`)
    if (runbook !== undefined) t.ok(existsSync(runbook.replace(RUNBOOKS, '')), `${alert}: ${runbook}`)
  }
})

t.test('no two panels of the dashboard overlap', async t => {
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) => {
    t.ok(x >= 0 && x + w <= 24)
    return Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`)
  })
  t.equal(new Set(cells).size, cells.length)
})
