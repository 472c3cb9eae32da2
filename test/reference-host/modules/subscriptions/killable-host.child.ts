// A host process that kills itself at one statement of its requests and chores. Statements of its background
// work are not counted. It takes orders from its parent, and replies to each with the statements counted since
// the last one.
import { AsyncLocalStorage } from 'node:async_hooks'
import { Server } from 'node:http'
import { inspect } from 'node:util'
import { Fault } from '@gatewright/kernel'
import { manualClock } from '@gatewright/kernel/testing'
import { readConfig, startHost, type Providers } from '@gatewright/reference-host'
import Database from 'libsql'
import pg from 'pg'

/** `during`: the statement was handed to the driver, and its reply has not arrived. */
export type Moment = 'before' | 'during' | 'after'

/** An order of the parent. */
export interface Order {
  /** The time that the host's clock shows from now on. */
  readonly now: number
  /** Kill the process at the `at`-th statement from now on. Absent: keep running. */
  readonly kill?: { readonly moment: Moment; readonly at: number } | undefined
  /** Run this chore of the host now. */
  readonly chore?: string
}

/** Messages of the process: first its address, then one reply per order. */
export type Message =
  | { readonly url: string }
  /** `failed`: how the chore ended. `broken`: by a fault, so that the host repeats it in the next round. */
  | { readonly statements: readonly string[]; readonly failed?: string; readonly broken?: boolean }

const served = new AsyncLocalStorage<true>()
let kill: Order['kill']
let statements: string[] = []

function at(moment: Moment, text: string): void {
  if (!served.getStore()) return
  if (moment === 'before') statements.push(text)
  if (kill?.moment === moment && kill.at === statements.length) process.kill(process.pid, 'SIGKILL')
}

const emit = Server.prototype.emit
Server.prototype.emit = function (this: Server, event: string, ...args: unknown[]): boolean {
  const go = (): boolean => Reflect.apply(emit, this, [event, ...args])
  return event === 'request' ? served.run(true, go) : go()
} as typeof emit

/**
 * What the client runs: a statement, or several of a transaction that are sent together, with its begin or commit. They count as
 * one.
 */
interface Batch {
  readonly text: string
  readonly statements: readonly { readonly text: string }[]
  callback(error: unknown, response?: unknown): void
}
type Query = (this: pg.Client, statement: string | { text: string } | Batch, ...rest: unknown[]) => unknown

function textOf(statement: Parameters<Query>[0]): string {
  if (typeof statement === 'string') return statement
  if (!('statements' in statement)) return statement.text
  return statement.statements.map(({ text }) => text).join('; ')
}

const query = pg.Client.prototype.query as unknown as Query
pg.Client.prototype.query = function (statement, ...rest) {
  const text = textOf(statement)
  at('before', text)
  if (typeof statement === 'object' && 'statements' in statement) {
    const { callback } = statement
    statement.callback = AsyncLocalStorage.bind((error: unknown, response?: unknown) => {
      at('after', text)
      callback(error, response)
    })
  }
  const last = rest.at(-1)
  if (typeof last === 'function') {
    const reply = (...response: unknown[]): void => {
      at('after', text)
      Reflect.apply(last, undefined, response)
    }
    rest.splice(-1, 1, AsyncLocalStorage.bind(reply))
  }
  const result = Reflect.apply(query, this, [statement, ...rest])
  at('during', text)
  return result instanceof Promise
    ? result.then(response => {
        at('after', text)
        return response as unknown
      })
    : result
} satisfies Query as unknown as typeof pg.Client.prototype.query

const around = (target: object, name: string, textOf: (self: object, first: unknown) => string): void => {
  const real = Reflect.get(target, name) as (...args: unknown[]) => unknown
  Reflect.set(target, name, function (this: object, ...args: unknown[]) {
    const text = textOf(this, args[0])
    at('before', text)
    const result = Reflect.apply(real, this, args)
    at('after', text)
    return result
  })
}
const texts = new WeakMap<object, string>()
const prepare = Database.prototype.prepare
Reflect.set(Database.prototype, 'prepare', function (this: Database.Database, text: string) {
  const statement = Reflect.apply(prepare, this, [text])
  texts.set(statement, text)
  return statement
})
const Statement = Object.getPrototypeOf(new Database(':memory:').prepare('select 1')) as object
for (const name of ['all', 'run']) around(Statement, name, self => texts.get(self) ?? '')
around(Database.prototype, 'exec', (_, text) => String(text))

/** A module that makes providers, which call `at` around their effects. */
const makers = process.env['PROVIDERS_MODULE']
const providers =
  makers === undefined
    ? undefined
    : (
        (await import(makers)) as { providersOf(at: (moment: Moment, text: string) => void): Providers }
      ).providersOf(at)

const say = (said: Message): boolean => process.send?.(said) ?? false
const clock = manualClock(Number(process.env['NOW']))
const config = readConfig(process.env)
if (!config.ok) throw new Error(config.problems.join('; '))
const host = await startHost(config.value, {
  observe: ({ failure }) => failure && console.error(failure),
  report: error => console.error(error),
  clock,
  ...(providers ? { providers } : {}),
})
process.on('message', (order: Order) => {
  const counted = statements
  statements = []
  clock.set(order.now)
  kill = order.kill
  const chore = host.chores.find(({ name }) => name === order.chore)
  if (!chore) return say({ statements: counted })
  served
    .run(true, () => chore.run(new AbortController().signal))
    .then(
      () => say({ statements: counted }),
      (error: unknown) =>
        say({ statements: counted, failed: inspect(error), broken: error instanceof Fault }),
    )
})
process.on('disconnect', () => process.exit())
say({ url: host.url })
