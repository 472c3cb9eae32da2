const warned = new Set<string>()

/**
 * Says once per room, under `NODE_ENV=production`, that a memory adapter forgets everything at exit and is not
 * shared between processes. Node prints it with the code `GATEWRIGHT_MEMORY_STORAGE`.
 */
export function warnMemoryStorage(room: string): void {
  if (process.env['NODE_ENV'] !== 'production' || warned.has(room)) return
  warned.add(room)
  process.emitWarning(`${room} keeps its state in this process only: choose Redis, Postgres or SQLite`, {
    code: 'GATEWRIGHT_MEMORY_STORAGE',
  })
}
