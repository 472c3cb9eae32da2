import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The shell lines of a page, in order. */
export function shellLines(page: string): readonly string[] {
  return [...readFileSync(page, 'utf8').matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, code]) => code as string)
}

/** Runs shell lines in one shell that stops at the first failure. */
export async function runShell(
  lines: readonly string[],
  env: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const child = spawn('sh', ['-e'], { env: { PATH: process.env['PATH'], ...env }, stdio: 'pipe' })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += String(chunk)))
  child.stdin.end(lines.join('\n'))
  return new Promise(resolve => child.once('close', code => resolve({ code, output })))
}
