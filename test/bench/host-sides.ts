import { FIELD_OF, requestOf, type HostLine } from './host-lines.ts'
import type { ServerPlan, ServerSide } from './http.ts'

/** The compiled module of a server of `test/bench/servers`, in the folder of a compiled bench. */
export const serverModule = (name: string, benches = new URL('.', import.meta.url)): URL =>
  new URL(`servers/${name}.child.js`, benches)

/** What a line asks of any server. */
export function asks({
  credential,
  period = 1,
  status = 200,
  ...line
}: HostLine): Omit<ServerSide, 'name' | 'module'> {
  const field = FIELD_OF[credential]
  const own = field === undefined ? [] : [field]
  return { request: index => requestOf(line, index), period, status, own }
}

/** The host for one line; one process of this build serves all lines. */
export function hostSide(name: string, line: HostLine): ServerSide {
  return { name, module: serverModule('host'), process: 'host', ...asks(line) }
}

/** How hosts are compared. `BENCH_ROUNDS` measures fewer or more rounds. */
export const hostPlan: ServerPlan = {
  rounds: Number(process.env['BENCH_ROUNDS'] ?? 8),
  roundsPerStart: 4,
  connections: 16,
}
