import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { manualClock } from '@gatewright/kernel/testing'
import { rows } from '@gatewright/kernel/sql'
import { bundled } from '../../harness/bundle.ts'
import { uniqueName } from '../../harness/stores.ts'
import { startHost, type Mode, type Outcome } from './host.ts'
import { NO_STEPS, openStore, prepare, transfers, type Steps, type StoreName } from './stores.ts'

const CHILD = fileURLToPath(new URL('victim.child.js', import.meta.url))
const [VICTIM = CHILD] = await bundled([CHILD])
const LEASE_MS = 60_000
const RECOVERING = 'two-phase with recovery'

/** A fresh schema or file, and what removes it. */
async function freshPlace(store: StoreName): Promise<{ place: string; remove(): Promise<void> }> {
  if (store === 'sqlite') {
    const directory = mkdtempSync(join(tmpdir(), 'gatewright-crash-'))
    const remove = async (): Promise<void> => rmSync(directory, { recursive: true, force: true })
    return { place: join(directory, 'test.sqlite'), remove }
  }
  const place = uniqueName()
  const remove = async (): Promise<void> => {
    const { db, close } = await openStore('postgres', place, NO_STEPS)
    await rows(db, `drop schema ${place} cascade`)
    await close()
  }
  return { place, remove }
}

interface CrashResult {
  /** False if the victim served the request before it reached the step. */
  readonly died: boolean
  /** The last result of the client, which retries after `request_in_progress`, and the result of one more request. */
  readonly end: Outcome
  readonly repeat: Outcome
  /** How often money had moved until then. */
  readonly moved: number
  /** The client's result once the host has a recover callback, and how often money has moved in the end. */
  readonly recovered: Outcome
  readonly movedInAll: number
}

/** Kills a host at one step, restarts it and lets the client retry until it gets a result. */
async function killAt(store: StoreName, mode: Mode, when: keyof Steps, step: number): Promise<CrashResult> {
  const { place, remove } = await freshPlace(store)
  const clock = manualClock()
  const setUp = await openStore(store, place, NO_STEPS)
  await prepare(store, setUp.db)
  await setUp.close()
  const args = [VICTIM, store, place, mode, when, String(step), String(clock.now())]
  // Without the hooks that tap puts into every child process.
  const env = { ...process.env, NODE_OPTIONS: '' }
  const child = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 300_000, env })
  const died = child.signal === 'SIGKILL'
  if (!died && !child.stdout.includes('served')) throw new Error(`the victim failed: ${child.stderr}`)

  const restarted = await openStore(store, place, NO_STEPS)
  const ask = startHost(restarted, mode, clock)
  let end = await ask()
  if (!end.ok && end.code === 'request_in_progress') {
    clock.advance(LEASE_MS)
    end = await ask()
  }
  const repeat = await ask()
  const moved = await transfers(restarted.db)
  const recovered = mode === 'two-phase' ? await startHost(restarted, RECOVERING, clock)() : repeat
  const movedInAll = await transfers(restarted.db)
  await restarted.close()
  await remove()
  return { died, end, repeat, moved, recovered, movedInAll }
}

/** Kills a host at each step of a mode until it survives. Returns how often it was killed. */
async function everyStep(
  store: StoreName,
  mode: Mode,
  when: keyof Steps,
  check: (crash: CrashResult, title: string) => void,
): Promise<number> {
  for (let step = 1; ; step++) {
    const crash = await killAt(store, mode, when, step)
    check(crash, `${store}, ${mode}: killed ${when} statement ${step}`)
    if (!crash.died) return step - 1
  }
}

/**
 * How often a victim can die at each moment of a pay-in of three statements. On Postgres the ends of the
 * transaction go out with the record's statements: two pairs. SQLite runs a statement within the call.
 */
function roundTrips(store: StoreName, mode: Mode): Readonly<Record<keyof Steps, number>> {
  if (store === 'sqlite') return { before: 7, during: 0, between: 0, after: 7 }
  if (mode === 'transactional') return { before: 5, during: 5, between: 2, after: 5 }
  return { before: 7, during: 7, between: 0, after: 7 }
}

function testCrashes(
  title: string,
  mode: Mode,
  check: (t: Test, crash: CrashResult, title: string, unknown: boolean) => void,
): void {
  for (const store of ['postgres', 'sqlite'] as const) {
    void t.test(`${title}, on ${store}`, async t => {
      const count = { deaths: 0, unknown: 0 }
      const atLeast = roundTrips(store, mode)
      for (const when of ['before', 'during', 'between', 'after'] as const) {
        if (atLeast[when] === 0) continue
        const deaths = await everyStep(store, mode, when, (crash, name) => {
          const unknown = !crash.end.ok && crash.end.code === 'outcome_unknown'
          if (unknown) count.unknown++
          check(t, crash, name, unknown)
        })
        t.ok(deaths >= atLeast[when], `the victim died ${when} ${deaths} statements`)
        count.deaths += deaths
      }
      t.comment(`measured ${store}, ${mode}: ${count.deaths} kills, ${count.unknown} explicit unknowns`)
    })
  }
}

t.setTimeout(1_800_000)

testCrashes(
  'in one transaction, money moves exactly once wherever the host is killed',
  'transactional',
  (t, crash, title) => {
    t.match(crash.end, { ok: true, value: { status: 201 } }, title)
    t.match(crash.repeat, { ok: true, value: { status: 201, replayed: true } }, title)
    t.equal(crash.moved, 1, title)
  },
)

testCrashes(
  'in two phases, money moves at most once, and the client ends with a response or an explicit unknown',
  'two-phase',
  (t, crash, title, unknown) => {
    if (!unknown) t.match(crash.end, { ok: true, value: { status: 201 } }, title)
    t.ok(unknown ? crash.moved <= 1 : crash.moved === 1, title)
    if (unknown) t.match(crash.repeat, { code: 'outcome_unknown' }, title)
    else t.match(crash.repeat, { ok: true, value: { replayed: true } }, title)
    t.match(crash.recovered, { ok: true, value: { status: 201 } }, `${title}, then recovered`)
    t.equal(crash.movedInAll, 1, `${title}, then recovered`)
  },
)
