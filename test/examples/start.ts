import type { Test } from 'tap'
import { plainNode } from '../harness/node.ts'

/** An example's server as a process of its own. */
export interface RunningExample {
  readonly url: string
  readonly output: string
  /** Asks it to end and resolves with its exit code, null when the signal ended it. */
  stop(): Promise<number | null>
}

/** Starts an example's server as its README says, on a free port, and waits until it has printed what to paste. */
export async function startExample(
  t: Test,
  name: string,
  env: Record<string, string> = {},
): Promise<RunningExample> {
  const child = plainNode([`build/examples/${name}/server.js`], {
    env: { PATH: process.env['PATH'], PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill())
  const closed = new Promise<number | null>(resolve => child.once('close', resolve))
  const stop = (): Promise<number | null> => {
    child.kill()
    return closed
  }
  let output = ''
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString()
      const url = /listens on (\S+)\n\n(?:TOKEN=|curl )\S+/.exec(output)?.[1]
      if (url) resolve({ url, output, stop })
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('close', code => reject(new Error(`exit ${code}: ${output}`)))
  })
}
