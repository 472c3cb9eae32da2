import t from 'tap'
import { compareResults, differenceTable, keptResults, type KeptResult } from './comparison.ts'

const result = (change: Partial<KeptResult>): KeptResult => ({
  title: 'host: health check',
  cpuMicros: 60,
  control: [0.96, 1.04],
  peers: { bare: 1.5 },
  ...change,
})

t.test('compares ratios to peers, whatever the machine', t => {
  const now = result({ cpuMicros: 600, peers: { bare: 1.5 } })
  t.match(compareResults([result({})], [now]), [
    { peer: 'bare', last: 1.5, now: 1.5, change: 1, isReal: false },
  ])
  t.end()
})

t.test('calls a change real if it is above 5 % and above what ours differs from ours in both runs', t => {
  const real = (ratio: number, control: KeptResult['control'] = [0.99, 1.01]): boolean | undefined =>
    compareResults([result({})], [result({ peers: { bare: ratio }, control })])[0]?.isReal
  t.equal(real(1.56), false)
  t.equal(real(1.6), true)
  t.equal(real(1.6, [0.9, 1.02]), false)
  t.equal(real(1.6, [1, 1.1]), false)
  t.equal(real(1.4), true)
  t.end()
})

t.test('compares benches without peers by their time, and only what both runs have', t => {
  t.match(compareResults([result({ peers: {} })], [result({ peers: {}, cpuMicros: 90 })]), [
    { peer: '(µs)', last: 60, now: 90, isReal: true },
  ])
  t.same(compareResults([], [result({})]), [])
  t.same(compareResults([result({})], [result({ peers: { other: 2 } })]), [])
  t.end()
})

t.test('keeps the figures of comparisons, and leaves out what other benches write', t => {
  const ratio = { low: 0.5, median: 0.501, high: 0.51 }
  const written = {
    title: 'host: health check',
    ours: { cpuMicros: 61.234 },
    control: { ratio: { low: 0.96, median: 1, high: 1.04 } },
    peers: [{ name: 'bare', ratio }],
  }
  const floods = [{ title: 'quiet', p50: 1 }]
  const sharedStores = { counts: [], timed: [], at: '2026-01-01T00:00:00.000Z' }
  t.same(keptResults([floods, written, sharedStores]), [result({ cpuMicros: 61.2, peers: { bare: 2 } })])
  t.end()
})

t.test('lists the largest slow-down first', t => {
  const last = [result({}), result({ title: 'host: mint' })]
  const now = [result({ peers: { bare: 1 } }), result({ title: 'host: mint', peers: { bare: 3 } })]
  const [, mint = '', health = ''] = differenceTable(compareResults(last, now)).split('\n')
  t.match(mint, /host: mint .* 2\.00 {2}SLOWER/)
  t.match(health, /health check .* 0\.67 {2}faster/)
  t.end()
})
