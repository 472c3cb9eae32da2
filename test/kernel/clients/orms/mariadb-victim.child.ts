// A server that serves 30 duplicates and kills itself at a statement. Arguments: URL of the database, key, when, statement. Exit code 0: the
// statement was never reached.
import { createPool, type PoolConnection } from 'mysql2/promise'
import { payOn } from './mariadb-payments.ts'

const [uri, key, when, at] = process.argv.slice(2) as [string, string, 'before' | 'during', string]
const pool = createPool({ uri, connectionLimit: 3 })
let statement = 0
/** Counts the statements of a connection. */
function watch(connection: PoolConnection): PoolConnection {
  for (const method of ['query', 'execute'] as const) {
    const original: (...values: never[]) => unknown = connection[method]
    const watched = (...values: never[]): unknown => {
      statement += 1
      const dies = statement === Number(at)
      if (dies && when === 'before') process.kill(process.pid, 'SIGKILL')
      const result = Reflect.apply(original, connection, values)
      if (dies) process.kill(process.pid, 'SIGKILL')
      return result
    }
    Object.assign(connection, { [method]: watched })
  }
  return connection
}
const getConnection = pool.getConnection.bind(pool)
pool.getConnection = async () => watch(await getConnection())
const pay = payOn(pool)
await Promise.all(Array.from({ length: 30 }, () => pay(key)))
await pool.end()
