import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Runs the curl lines that a host has printed at its start in a shell, unchanged. Resolves to what they print. */
export async function paste(output: string): Promise<string> {
  const [lines = ''] = /^ {4}curl [^]*?\n(?=\n)/m.exec(output) ?? []
  const { stdout } = await run('sh', ['-c', lines], { env: { PATH: process.env['PATH'] } })
  return stdout
}

/** The key of a partner that a sandbox keeps in its folder. */
export const partnerKeyIn = (folder: string): string =>
  readFileSync(join(folder, 'partner-key'), 'utf8').trim()
