// A server of guarded tools is killed at every statement of a call, and around its payment. The agent calls again with a new JSON-RPC id: there
// are as many effects as intents, on every store, and the caps count what was paid.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { manualClock, type ManualClock } from '@gatewright/kernel/testing'
import { rows } from '@gatewright/kernel/sql'
import t, { type Test } from 'tap'
import { bundled } from '../../../harness/bundle.ts'
import { startKillable, type Killable } from '../../../harness/databases/killable.ts'
import type { Kill } from '../../../harness/databases/statement-kills.ts'
import { uniqueName } from '../../../harness/stores.ts'
import { turnOf } from '../../../harness/turns.ts'
import { AUDIENCE, ISSUER, sign, signingKey } from '../../../scope-guard/issuer.ts'
import { freshPlace, type Place } from '../../kills/place.ts'
import { createProcessor } from '../../kills/processor.ts'
import { listening } from '../../world.ts'
import { callOf, denialOf, type Answer } from '../shop.ts'

const CHILD = fileURLToPath(new URL('tools.child.js', import.meta.url))
const LEASE_MS = 30_000
const CAP = 10_000
const CENTS = 4000
const key = await signingKey('ES256')
const [script = CHILD] = await bundled([CHILD])

type StoreName = 'postgres' | 'sqlite' | 'redis'
type ToolName = 'payments.create' | 'rows.create'

/** A sequence of servers, and all that outlives them. */
interface World {
  /** The database; undefined for Redis. */
  readonly place: Place | undefined
  readonly server: Killable
  readonly clock: ManualClock
  readonly payments: ReturnType<typeof createProcessor>['payments']
}

async function startWorld(t: Test, store: StoreName): Promise<World> {
  const place = store === 'redis' ? undefined : await freshPlace(store)
  t.teardown(() => place?.close())
  await place?.db.query(
    'create table paid (id varchar(100) primary key, account varchar(100) not null, cents integer not null)',
    [],
  )
  const { server, payments } = createProcessor(CENTS)
  const { url, close } = await listening(server.listen(0, '127.0.0.1'))
  t.teardown(close)
  const clock = manualClock()
  const env = {
    PROCESSOR: url,
    LEASE_MS: `${LEASE_MS}`,
    CAP: `${CAP}`,
    JWK: JSON.stringify(key.jwk),
    ...(place?.env ?? {
      REDIS_URL: process.env['TEST_REDIS_URL'] as string,
      REDIS_PREFIX: `${uniqueName()}:`,
    }),
  }
  const killable = await startKillable(script, env, clock)
  t.teardown(() => killable.kill())
  return { place, server: killable, clock, payments }
}

let serial = 0

/** One intent of an account of its own. */
class Attempt {
  readonly account = `auth0|agent-${++serial}`
  readonly #world: World
  readonly #tool: ToolName
  readonly #path: string
  readonly #paidBefore: number
  #id = 0

  constructor(world: World, tool: ToolName, path = '/mcp') {
    this.#world = world
    this.#tool = tool
    this.#path = path
    this.#paidBefore = world.payments.length
  }

  /** Calls, with a new JSON-RPC id each time. */
  call = (cents = CENTS, orderId = 'the-order'): Promise<Answer> => this.#call(cents, orderId)

  async #call(amountCents: number, orderId: string): Promise<Answer> {
    const { clock, server } = this.#world
    const iat = Math.floor(clock.now() / 1000)
    const claims = { iss: ISSUER, aud: AUDIENCE, sub: this.account, azp: 'agent', iat, exp: iat + 900 }
    const token = await sign(key, { ...claims, scope: 'payments.write' }, { typ: 'JWT' })
    const request = callOf(this.#tool, { orderId, amountCents }, { token, id: ++this.#id })
    const headers = Object.fromEntries(request.headers)
    const { body } = await server.send(this.#path, { headers, body: await request.text() })
    return body as unknown as Answer
  }

  /** Calls again until the run of a dead server has ended. */
  async callAgain(): Promise<Answer> {
    const answer = await this.call()
    if (!answer.result?.isError || denialOf(answer)['error'] !== 'request_in_progress') return answer
    this.#world.clock.advance(LEASE_MS)
    return this.call()
  }

  /** How often the order was paid: by the processor, or by rows. */
  async effects(): Promise<number> {
    if (this.#tool === 'payments.create') return this.#world.payments.length - this.#paidBefore
    const { db } = this.#world.place as Place
    return (await rows(db, 'select id from paid where account = $1', [this.account])).length
  }
}

/** Checks what a killed transaction has left: its row and its spend, or nothing. Returns which. */
async function checkCommitted(t: Test, { place }: World, attempt: Attempt, where: string): Promise<number> {
  const written = await attempt.effects()
  const { used } = await (place as Place).countersOf(attempt.account)
  t.ok(written <= 1 && used === written * CENTS, `${where}: ${written} rows, ${used} cents are counted`)
  return written
}

/** Checks that an intent has one effect after its server was killed. */
async function checkIntent(t: Test, attempt: Attempt, where: string): Promise<void> {
  const answer = await attempt.callAgain()
  t.notOk(answer.result?.isError, `${where}: ${JSON.stringify(answer)}`)
  t.equal(await attempt.effects(), 1, `${where}: effects`)
  const again = await attempt.call()
  t.same(again.result?.content, answer.result?.content, `${where}: it stays`)
  t.notSame(again.id, answer.id, `${where}: another id`)
  t.equal(await attempt.effects(), 1, `${where}: effects after the repeat`)
  const denied = denialOf(await attempt.call(CAP + 1, 'another-order'))
  t.match(denied, { error: 'policy_blocked', remaining: CAP - CENTS }, `${where}: the cap`)
}

/** Kills servers at all places of a call. */
async function killEverywhere(t: Test, world: World, store: StoreName, tool: ToolName): Promise<void> {
  const kept = new Set<number>()
  let deaths = 0
  const kill = async (at: Kill): Promise<readonly string[] | undefined> => {
    const attempt = new Attempt(world, tool)
    const { died, statements } = await world.server.killing(at, attempt.call)
    const where = `${tool}, killed ${at.moment} ${at.at}`
    if (died) {
      deaths += 1
      if (tool === 'rows.create') kept.add(await checkCommitted(t, world, attempt, where))
      await world.server.restart()
    }
    await checkIntent(t, attempt, where)
    return died ? undefined : statements
  }
  let lived: readonly string[] | undefined
  for (let at = 1; !lived; at += 1) lived = await kill({ moment: 'before', at })
  for (const [index, statement] of lived.entries())
    for (const moment of ['during', 'after'] as const) {
      // On SQLite the server is the database.
      if (moment === 'during' && store === 'sqlite' && statement !== 'the processor') continue
      t.notOk(await kill({ moment, at: index + 1 }), `${tool}: it died ${moment} ${statement}`)
    }
  if (tool === 'rows.create') t.same(kept, new Set([0, 1]), 'both were seen: nothing, and all')
  t.comment(`measured ${store}, ${tool}: ${deaths} kills over ${lived.length} statements`)
}

t.setTimeout(1_800_000)

const KILLED: readonly (readonly [StoreName, ToolName])[] = [
  ['redis', 'payments.create'],
  ['postgres', 'rows.create'],
  ['sqlite', 'payments.create'],
  ['postgres', 'payments.create'],
  ['sqlite', 'rows.create'],
]

/** Each kill costs the start of a server: two of these a day. */
for (const [store, tool] of turnOf(KILLED, 2))
  t.test(`${store}, ${tool}: whatever await a server is killed at, each intent has one effect`, async t =>
    killEverywhere(t, await startWorld(t, store), store, tool),
  )

t.test('docs/compared.md: the server is killed when it has paid, and the agent calls again', async t => {
  const world = await startWorld(t, 'sqlite')
  const effects: number[] = []
  for (const path of ['/mcp', '/alone']) {
    const first = new Attempt(world, 'payments.create', path)
    const { statements } = await world.server.killing({ moment: 'after', at: 0 }, first.call)
    const at = statements.indexOf('the processor') + 1
    const attempt = new Attempt(world, 'payments.create', path)
    const { died } = await world.server.killing({ moment: 'after', at }, attempt.call)
    t.ok(died, path)
    await world.server.restart()
    await attempt.callAgain()
    effects.push(await attempt.effects())
  }
  const row = `| loses the host, which was killed when it had paid, and calls again | ${effects.join(' | ')} |`
  t.ok(readFileSync('docs/compared.md', 'utf8').split('\n').includes(row), row)
})
