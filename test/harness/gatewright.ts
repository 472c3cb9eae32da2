import { runCommand } from '@gatewright/reference-host'
import { runNode } from './node.ts'
import { PROGRAMS } from './programs.ts'

/** What the command printed, both streams, and its exit code. */
export interface Ran {
  readonly code: number | null
  readonly output: string
}

/** What a command printed with `--json`. Throws what it printed if it failed. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- A test knows what its command prints.
export function jsonOf<T = unknown>({ code, output }: Ran): T {
  if (code !== 0) throw new Error(output)
  return JSON.parse(output) as T
}

/** Runs the operator command in this process. Nobody can be asked. */
export async function gatewright(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  const { code, out, problem } = await runCommand(args, { env, ask: undefined })
  return { code, output: `${out}${problem}\n` }
}

/** Runs the operator command as a user does: a process of its own. */
export function gatewrightProcess(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  return runNode([PROGRAMS.command, ...args], { PATH: process.env['PATH'], ...env })
}
