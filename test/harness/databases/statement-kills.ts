// Imported by a server process that kills itself at one statement of its requests and chores: it watches every statement of the clients of Postgres
// and SQLite. Statements of background work are not counted.
import { AsyncLocalStorage } from 'node:async_hooks'
import { Server } from 'node:http'
import Database from 'libsql'
import pg from 'pg'

/** `during`: the statement was handed to the driver, and its reply has not arrived. */
export type Moment = 'before' | 'during' | 'after'

/** When a process kills itself: at the `at`-th statement. */
export interface Kill {
  readonly moment: Moment
  readonly at: number
  /** Only statements that contain this text are counted. */
  readonly of?: string
}

/** An order of the parent. */
export interface Order {
  /** The time that the clock of the process shows from now on. */
  readonly now: number
  /** Kill the process at this statement, counted from now on. Absent: keep running. */
  readonly kill?: Kill | undefined
}

/** Messages of the process: first its address, then one reply per order. */
export type Message =
  | { readonly url: string }
  /** `failed`: how what was ordered ended. `broken`: by a fault, so that it is repeated. */
  | { readonly statements: readonly string[]; readonly failed?: string; readonly broken?: boolean }

const counted = new AsyncLocalStorage<true>()
let kill: Kill | undefined
let statements: string[] = []

/** Runs work whose statements are counted. */
export const counting = <T>(work: () => T): T => counted.run(true, work)

/** Obeys an order, and returns the statements that were counted since the one before. */
export function obey(order: Order): readonly string[] {
  const ran = statements
  statements = []
  kill = order.kill
  return ran
}

/** A moment of a statement, or of an effect elsewhere: kills the process if it is the one of the order. */
export function at(moment: Moment, text: string): void {
  if (!counted.getStore()) return
  if (moment === 'before') statements.push(text)
  if (kill?.moment !== moment) return
  const { at, of = '' } = kill
  if (text.includes(of) && statements.filter(each => each.includes(of)).length === at)
    process.kill(process.pid, 'SIGKILL')
}

const emit = Server.prototype.emit
Server.prototype.emit = function (this: Server, event: string, ...args: unknown[]): boolean {
  const go = (): boolean => Reflect.apply(emit, this, [event, ...args])
  return event === 'request' ? counting(go) : go()
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
