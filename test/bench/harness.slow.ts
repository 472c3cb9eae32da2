import t from 'tap'
import { runNode } from '../harness/node.ts'
import { median, orderOfRound, summarise, type Sample } from './arithmetic.ts'
import { alternate, compare, type Plan, type Result } from './harness.ts'
import { compareServerLines, compareServers } from './http.ts'
import { benchArguments } from './bench-process.ts'

const sample = (cpuMicros: number): Sample => ({ cpuMicros, wallMicros: 2 * cpuMicros })
const silent: Plan = { report: () => {} }

t.test('takes the middle value, or the mean of the middle two, in numeric order', async t => {
  t.equal(median([10, 9, 100]), 10)
  t.equal(median([4, 1, 3, 2]), 2.5)
  t.equal(median([7]), 7)
  t.throws(() => median([]), TypeError)
  t.throws(() => median([1, NaN]), TypeError)
})

t.test('takes ratios inside each round, so a machine that slows down half way changes none', async t => {
  // The peer costs twice ours in every round. Ratio of medians: 40 / 10 = 4.
  const rounds = [
    [sample(10), sample(20)],
    [sample(10), sample(20)],
    [sample(30), sample(60)],
    [sample(10), sample(20)],
    [sample(30), sample(60)],
  ]
  const [ours, peer] = summarise(['ours', 'peer'], rounds)
  const [one, two] = [1, 2].map(value => ({ median: value, low: value, high: value }))
  t.same(ours, {
    name: 'ours',
    cpuMicros: 10,
    wallMicros: 20,
    leastMicros: 10,
    ratio: one,
    wallRatio: one,
  })
  t.same(peer, { name: 'peer', cpuMicros: 20, wallMicros: 40, leastMicros: 20, ratio: two, wallRatio: two })
  // Here the medians are 10 and 15 (1.5), while the rounds say 0.5, 1.5 and 2.
  const odd = [
    [sample(10), sample(15)],
    [sample(10), sample(20)],
    [sample(20), sample(10)],
  ]
  t.same(summarise(['ours', 'peer'], odd)[1]?.ratio, { median: 1.5, low: 0.5, high: 2 })
})

t.test('goes there on even rounds and back on odd ones', async t => {
  t.same(orderOfRound(0, 3), [0, 1, 2])
  t.same(orderOfRound(1, 3), [2, 1, 0])
  t.same(orderOfRound(-1, 3), [2, 1, 0])
})

t.test('samples ours twice and each peer once per round, in turns, and drops the warm-up', async t => {
  const asked: string[] = []
  const result = await alternate('turns', {
    ...silent,
    ours: { name: 'A' },
    peers: [{ name: 'B' }, { name: 'C' }],
    operations: 1,
    rounds: 2,
    warmups: 1,
    sample: async ({ name }) => {
      asked.push(name)
      // The warm-up round is ten times as dear and must not show.
      return sample((name === 'A' ? 1 : 3) * (asked.length <= 4 ? 10 : 1))
    },
  })
  t.same(asked.join(''), 'CBAAAABCCBAA')
  t.equal(result.ours.cpuMicros, 1)
  t.match(result.control, { name: 'A (again)', ratio: { median: 1 } })
  t.same(
    result.peers.map(peer => peer.ratio),
    [
      { median: 3, low: 3, high: 3 },
      { median: 3, low: 3, high: 3 },
    ],
  )
})

t.test('says which bars were missed, and none that were met exactly', async t => {
  const run = (atMostMicros: number, minRatio: number): Promise<Result> =>
    alternate('bars', {
      ...silent,
      ours: { name: 'ours', atMostMicros },
      peers: [{ name: 'peer', minRatio }],
      operations: 1,
      sample: async ({ name }) => sample(name === 'ours' ? 3 : 6),
    })
  t.same((await run(3, 2)).missed, [])
  const { missed } = await run(2.9, 2.1)
  t.same(missed, ['ours: 3.00 µs, at most 2.9 wanted', 'peer: 2.00 x ours, at least 2.1 wanted'])
})

t.test(
  'a bench that misses a bar or fails exits with 1; run once, it exits with 1 only if it fails',
  async t => {
    const ends = async (outcome: string, env: NodeJS.ProcessEnv) => {
      const module = benchArguments('build/test/bench/outcome.child.js')
      const { code, output } = await runNode([...module, outcome], { ...process.env, ...env })
      const [, operations] = /^(\d+) operations$/m.exec(output) ?? []
      return { code, missed: output.includes('MISSED ours'), operations }
    }
    const once = { BENCH_ONCE: '1' }
    const [all, few] = ['24000', '40']
    t.same(await ends('meets', {}), { code: 0, missed: false, operations: all })
    t.same(await ends('misses', {}), { code: 1, missed: true, operations: all })
    t.same(await ends('fails', {}), { code: 1, missed: false, operations: undefined })
    t.same(await ends('misses', once), { code: 0, missed: false, operations: few })
  },
)

t.test('runs a fixed number of operations with the same inputs on every side, sync and async', async t => {
  const seen: Record<string, number[]> = { sync: [], async: [] }
  let inFlight = 0
  let most = 0
  await compare('counts', {
    ...silent,
    ours: { name: 'sync', before: () => (seen['sync'] = []), run: index => seen['sync']?.push(index) },
    peers: [
      {
        name: 'async',
        before: () => (seen['async'] = []),
        run: async index => {
          most = Math.max(most, ++inFlight)
          seen['async']?.push(index)
          await new Promise(resolve => setImmediate(resolve))
          inFlight--
        },
      },
    ],
    operations: 20,
    concurrency: 4,
    rounds: 1,
    warmups: 0,
  })
  const all = Array.from({ length: 20 }, (_, index) => index)
  t.same(seen, { sync: all, async: all })
  t.equal(most, 4)
})

t.test('charges the work to the side that did it', async t => {
  const spin = (turns: number): number => {
    let sum = 0
    for (let n = 0; n < turns; n++) sum += Math.sqrt(n)
    return sum
  }
  const { peers } = await compare('work', {
    ...silent,
    ours: { name: 'short', run: () => spin(2_000) },
    peers: [{ name: 'ten times as long', run: () => spin(20_000) }],
    operations: 2_000,
    rounds: 5,
  })
  const ratio = peers[0]?.ratio.median ?? 0
  t.ok(ratio > 5 && ratio < 20, `${ratio} should be about 10`)
})

t.test('rejects when an operation rejects', async t => {
  const ours = { name: 'failing', run: () => Promise.reject(new Error('no')) }
  await t.rejects(compare('failing', { ...silent, ours, peers: [], operations: 1 }), { message: 'no' })
})

t.test('measures servers by their own CPU, and refuses a server that returns another status', async t => {
  const side = (kind: string) => ({
    name: kind,
    module: new URL('./servers/baseline.child.js', import.meta.url),
    args: [kind],
    request: () => ({ path: '/r30/cards' }),
  })
  const plan = { ...silent, requests: 200, rounds: 2, warmups: 1, connections: 4 }
  const result = await compareServers('servers', { ...plan, ours: side('http'), peers: [side('koa')] })
  t.ok(result.ours.cpuMicros > 0)
  t.ok((result.peers[0]?.cpuMicros ?? 0) > 0)
  const wrong = side('empty')
  await t.rejects(compareServers('wrong', { ...plan, ours: wrong, peers: [] }), {
    message: 'empty returned 404',
  })
})

t.test('says which server has ended, and waits for none of them', async t => {
  const side = (name: string) => ({
    name,
    module: new URL('./servers/failing.child.js', import.meta.url),
    args: [name],
    request: () => ({ path: '/' }),
  })
  const plan = { ...silent, requests: 200, rounds: 1, warmups: 0, connections: 4 }
  const ended = (name: string): Promise<unknown> =>
    compareServers('failing', { ...plan, ours: side(name), peers: [] })
  await t.rejects(ended('start'), { message: 'start ended with 3 before it listened' })
  await t.rejects(ended('load'), { message: 'load ended with 4' })
  await t.rejects(ended('last'), { message: 'last ended with 5' })
})

t.test('asks a process of one name by every line, and its control in a process of its own', async t => {
  const module = new URL('./servers/failing.child.js', import.meta.url)
  const line = (title: string, more: { process?: string }) => ({
    title,
    peers: [],
    requests: 120,
    ours: { name: 'last', module, args: ['last'], request: () => ({ path: '/' }), ...more },
  })
  const plan = { ...silent, rounds: 1, warmups: 0, connections: 4 }
  const run = (more: { process?: string }): Promise<readonly Result[]> =>
    compareServerLines([line('one', more), line('two', more)], plan)
  const titles = (await run({})).map(({ title }) => title)
  t.same(titles, ['one', 'two'], 'four processes serve 120 each')
  // It ends once it has sent 200, which is in the second line.
  await t.rejects(run({ process: 'shared' }), { message: 'last ended with 5' })
})
