import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'

/**
 * Starts Node on a script without the hooks that tap puts into every child process by NODE_OPTIONS: the child
 * runs as it would for a user. `env` replaces itself by Node, so the child's pid and signals are Node's.
 */
export function plainNode(args: readonly string[], options: SpawnOptions): ChildProcess {
  return spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, ...args], options)
}

/** Runs a script to its end. */
export async function runNode(
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  cwd: string = '.',
): Promise<{ code: number | null; output: string }> {
  const child = plainNode(args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', code => resolve({ code, output }))
  })
}
