import { readFileSync } from 'node:fs'

/** A tick of the times in `/proc`. */
const MS_A_TICK = 10
/** Processes that a file's test uses beside its own: their ids, with commas. */
export const SERVERS = 'TEST_SERVER_PIDS'

/** Begins a comment in the output of a process of test files, with milliseconds and a file. */
export const FILE_USED = 'CPU'

/** CPU time that this process, its ended children and the servers of its tests have used until now. Linux only: 0 elsewhere. */
export function usedCpuMs(): number {
  if (process.platform !== 'linux') return 0
  const servers = (process.env[SERVERS] ?? '').split(',').filter(Boolean)
  const all = ['self', ...servers, ...servers.flatMap(childrenOf)]
  return all.reduce((total, pid) => total + usedBy(pid), 0)
}

function childrenOf(pid: string): string[] {
  return textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean)
}

/** Of one process and its ended children. One that has just ended counts in its parent. */
function usedBy(pid: string): number {
  // The name in brackets, the second field, may have spaces.
  const fields = textOf(`/proc/${pid}/stat`).split(') ')[1]?.split(' ') ?? []
  const [user, system, usersOfChildren, systemsOfChildren] = fields.slice(11, 15).map(Number)
  return ((user ?? 0) + (system ?? 0) + (usersOfChildren ?? 0) + (systemsOfChildren ?? 0)) * MS_A_TICK
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
