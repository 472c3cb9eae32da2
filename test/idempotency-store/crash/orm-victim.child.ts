// A server whose handler writes a payment with an ORM. It serves 30 duplicates and kills itself at a statement of `pg`. Arguments: ORM,
// schema, key, when, statement. Exit code 0: the statement was never reached.
import pg from 'pg'
import { POSTGRES_ORMS } from '../../harness/databases/orms.ts'
import { payByOrm } from './pay-by-orm.ts'

const [name, schema, key, when, at] = process.argv.slice(2) as [
  string,
  string,
  string,
  'before' | 'during',
  string,
]
const url = process.env['TEST_POSTGRES_URL'] as string
const orm = await POSTGRES_ORMS[name]!({ url, schema, retries: 0 }, 3)
// Connects, so that only statements of the writes are counted.
await orm.db.query('select 1')
let statement = 0
const { query } = pg.Client.prototype
pg.Client.prototype.query = function (this: pg.Client, ...values: unknown[]) {
  statement += 1
  const dies = statement === Number(at)
  if (dies && when === 'before') process.kill(process.pid, 'SIGKILL')
  const result: unknown = Reflect.apply(query, this, values)
  if (dies) process.kill(process.pid, 'SIGKILL')
  return result
} as typeof query
const pay = payByOrm(orm)
await Promise.all(Array.from({ length: 30 }, () => pay(key)))
await orm.close()
