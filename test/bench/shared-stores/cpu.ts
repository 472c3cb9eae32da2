import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { createClient } from 'redis'

/** Linux counts the CPU of processes in hundredths of a second. */
const TICK_MICROS = 10_000

interface ProcessTimes {
  readonly pid: number
  readonly parent: number
  readonly micros: number
  /** CPU of children that have ended. */
  readonly endedMicros: number
}

/** Reads the CPU of a process so far (proc(5)); undefined if it has ended. */
function timesOf(pid: number): ProcessTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program, in parentheses, may contain spaces.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [parent = 0, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [1, 11, 12, 13, 14].map(
      at => fields[at],
    )
    return {
      pid,
      parent,
      micros: (user + system) * TICK_MICROS,
      endedMicros: (endedUser + endedSystem) * TICK_MICROS,
    }
  } catch {
    return undefined
  }
}

/** CPU of a process so far, in microseconds. */
export const cpuOfProcess = (pid: number): number => timesOf(pid)?.micros ?? 0

/** Reads the CPU of a store so far, in microseconds. */
interface StoreCpu {
  read(): Promise<number>
  close(): Promise<void>
}

/** CPU of the Postgres server with all of its connections. */
export async function postgresCpu(url: string): Promise<StoreCpu> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const server = timesOf((rows[0] as { pid: number }).pid)?.parent ?? 0
  return {
    read: async () => {
      const all = readdirSync('/proc').flatMap(name =>
        /^\d+$/.test(name) ? (timesOf(Number(name)) ?? []) : [],
      )
      const own = all.filter(({ pid, parent }) => pid === server || parent === server)
      const ended = own.find(({ pid }) => pid === server)?.endedMicros ?? 0
      return own.reduce((sum, { micros }) => sum + micros, ended)
    },
    close: () => client.end(),
  }
}

/** CPU of the Redis server. */
export async function redisCpu(url: string): Promise<StoreCpu> {
  const client = createClient({ url })
  await client.connect()
  return {
    read: async () => {
      const info = await client.info('cpu')
      const seconds = [...info.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm)].map(([, value]) =>
        Number(value),
      )
      return seconds.reduce((sum, value) => sum + value, 0) * 1_000_000
    },
    close: async () => client.destroy(),
  }
}
