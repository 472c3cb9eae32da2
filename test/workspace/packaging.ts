// Packs every package and looks at the tarball as a user's tools will: publint, and "are the types wrong".
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installTools, tool } from '../harness/tools.ts'
import { packTo } from './pack.ts'
import { entriesOf, packageNames } from './tree.ts'

/** What is used of publint. */
interface Publint {
  publint(options: object): Promise<{ readonly messages: readonly unknown[]; readonly pkg: unknown }>
}
interface PublintUtils {
  formatMessage(message: unknown, pkg: unknown): string
}

installTools()
const { publint } = await tool<Publint>('publint')
const { formatMessage } = await tool<PublintUtils>('publint/utils')
const attw = 'test/tools/node_modules/@arethetypeswrong/cli/dist/index.js'
const directory = mkdtempSync(join(tmpdir(), 'gatewright-pack-'))
const problems: string[] = []
try {
  for (const name of packageNames()) {
    const tarball = packTo(directory, name)
    const { messages, pkg } = await publint({
      pack: { tarball: new Uint8Array(readFileSync(tarball)).buffer },
    })
    for (const message of messages) problems.push(`${name}: publint: ${formatMessage(message, pkg)}`)
    // A command has no types.
    if (entriesOf(name).length === 0) continue
    // Its files for require are of loaders that require no ES modules, such as jest. Node requires the modules, as the types say.
    const ignored = name === 'gatewright' ? ['--ignore-rules', 'false-esm'] : []
    const args = [attw, tarball, '--profile', 'esm-only', '--no-color', '--no-emoji', ...ignored]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    if (status !== 0) problems.push(`${name}: attw: ${stdout}${stderr}`)
    const types = status === 0 ? 'nothing' : 'problems'
    process.stdout.write(`${name}: ${messages.length} publint messages, attw found ${types}\n`)
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
for (const problem of problems) process.stderr.write(`${problem}\n`)
if (problems.length > 0) process.exitCode = 1
