import { readFileSync } from 'node:fs'

/** Every metric of a host that this repository defines, with the names of its labels. */
export function definedMetrics(): ReadonlyMap<string, readonly string[]> {
  const files = [
    'packages/host/src/observability/metric-definitions.ts',
    'packages/reference-host/src/product/metrics.ts',
  ]
  const definitions = files.flatMap(file =>
    readFileSync(file, 'utf8')
      .split(/new (?:Counter|Gauge|Histogram)\(/)
      .slice(1),
  )
  return new Map(
    definitions.map(text => {
      const [, name = ''] = /name: '(\w+)'/.exec(text) ?? []
      const [, labels = ''] = /labelNames: \[([^\]]*)\]/.exec(text) ?? []
      return [name, [...labels.matchAll(/'(\w+)'/g)].map(([, label]) => label as string)]
    }),
  )
}

const OPERATORS = new Set(['or', 'and', 'unless'])

/** A metric that an expression of PromQL reads, and the labels that it selects by. */
interface Selector {
  readonly metric: string
  readonly labels: readonly string[]
}

/** Reads which metrics an expression of PromQL selects, and by which labels it groups. */
export function readExpression(expression: string): {
  readonly selectors: readonly Selector[]
  readonly grouped: readonly string[]
} {
  const text = expression.replaceAll(/"[^"]*"/g, '""')
  const grouped = [...text.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/, */))
  const rest = text.replaceAll(/\bby \([^)]*\)/g, '').replaceAll(/\[[^\]]*\]/g, '')
  // A function has a parenthesis after its name.
  const names = [...rest.matchAll(/\b([a-z]\w*)\b(?!\s*\()(?:\{([^}]*)\})?/g)]
  const selectors = names.flatMap(([, metric = '', matchers = '']) => {
    const labels = [...matchers.matchAll(/(\w+)\s*[!=]~?"/g)].map(([, label]) => label as string)
    return OPERATORS.has(metric) ? [] : [{ metric, labels }]
  })
  return { selectors, grouped }
}
