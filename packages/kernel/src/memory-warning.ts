import { emitWarning, environment } from '#platform'

const warned = new Set<string>()

/**
 * Warns, once per storage port and only under `NODE_ENV=production`, that a memory adapter forgets everything at exit
 * and is not shared between processes. The warning has the code `GATEWRIGHT_MEMORY_STORAGE`.
 */
export function warnMemoryStorage(port: string): void {
  if (environment() !== 'production' || warned.has(port)) return
  warned.add(port)
  const message = `${port} keeps its state in this process only: choose Redis, Postgres or SQLite`
  emitWarning(message, 'GATEWRIGHT_MEMORY_STORAGE')
}
