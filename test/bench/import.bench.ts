// What loading each package costs in a fresh process, as it is published, beside jose and viem, and how much each takes on disk with its
// dependencies.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packTo } from '../workspace/pack.ts'
import { entriesOf, manifest, packageNames } from '../workspace/tree.ts'
import { median } from './arithmetic.ts'
import { extent, reportMissed } from './extent.ts'
import { columns } from './report.ts'

const ROUNDS = extent(9, 1)
/** The most CPU that signature-verifier may take to load, with all that its first verification loads, in ms. */
const VERIFIER_MS = 120

const FIRST_PROOF = `
const { createVerifier } = await import('@gatewright/signature-verifier')
const { memoryNonces } = await import('@gatewright/signature-verifier/memory')
const now = Date.now()
const verdict = await createVerifier({ service: 'x', nonces: memoryNonces() }).verify({
  address: '0x52908400098527886e0f7030069857d2e4169ee7', nonce: '12345678', signature: '0x' + '11'.repeat(64) + '1b',
  issuedAt: new Date(now).toISOString(), expiresAt: new Date(now + 60000).toISOString() })
if (verdict.code !== 'invalid_signature') throw new Error('expected a check of the signature, got ' + verdict.code)`
const load = (specifier: string): string => `await import('${specifier}')`
/** Packages with an entry: `create-gatewright` is a command. */
const importable = packageNames().filter(name => entriesOf(name).length > 0)
/** A folder in which the packages are unpacked; the libraries are found in the checkout around it. */
const PROJECT = 'build/import'
const packageFolder = (name: string): string => join(PROJECT, 'node_modules', manifest(name).name)
rmSync(PROJECT, { recursive: true, force: true })
for (const name of importable) {
  mkdirSync(packageFolder(name), { recursive: true })
  const args = ['xzf', packTo(PROJECT, name), '--strip-components=1', '-C', packageFolder(name)]
  if (spawnSync('tar', args).status !== 0) throw new Error(`${name} could not be unpacked`)
  const own = resolve('packages', name, 'node_modules')
  if (existsSync(own)) symlinkSync(own, join(packageFolder(name), 'node_modules'))
}

const programs: Readonly<Record<string, string>> = {
  'an empty process': '',
  ...Object.fromEntries(importable.map(name => [name, load(entriesOf(name)[0] as string)])),
  express: load('express'),
  'express, gatewright/express': `${load('express')}; ${load('gatewright/express')}`,
  'gatewright/express': load('gatewright/express'),
  'http/express': load('@gatewright/http/express'),
  'http/fetch': load('@gatewright/http/fetch'),
  'signature-verifier, first proof': FIRST_PROOF,
  jose: load('jose'),
  'viem/utils': load('viem/utils'),
}

/** CPU of a process that runs a program, in ms. */
function cpuOf(program: string): number {
  const script = `${program}\nconst { user, system } = process.cpuUsage(); console.log((user + system) / 1000); process.exit()`
  const args = ['--input-type=module', '-e', script]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: PROJECT, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return Number(stdout)
}

const samples = new Map<string, number[]>()
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, program] of Object.entries(programs))
    samples.set(name, [...(samples.get(name) ?? []), cpuOf(program)])
}
const [[, empty] = ['', []], ...others] = samples
const base = median(empty)

/** Bytes of a folder, without what is installed inside of it. */
function bytesBelow(directory: string): number {
  return readdirSync(directory, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(directory, entry.name)
    if (entry.name === 'node_modules') return sum
    return sum + (entry.isDirectory() ? bytesBelow(path) : statSync(path).size)
  }, 0)
}

/** The folders of a package and of all that it depends on. */
function installed(folder: string, found: Set<string> = new Set()): Set<string> {
  if (found.has(folder)) return found
  found.add(folder)
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>
  }
  for (const name of Object.keys(dependencies)) {
    const own = join(folder, 'node_modules', name)
    const sibling = name.startsWith('@gatewright/')
      ? packageFolder(name.slice(12))
      : join('node_modules', name)
    installed(existsSync(own) ? own : sibling, found)
  }
  return found
}

const megabytes = (name: string): string => {
  if (!importable.includes(name)) return ''
  const folders = [...installed(packageFolder(name))]
  const bytes = folders.reduce((sum, folder) => sum + bytesBelow(folder), 0)
  return `${(bytes / 1e6).toFixed(1)} MB in ${folders.length} packages`
}
const rows = others.map(([name, values]) => [
  name,
  (median(values) - base).toFixed(0),
  `${(Math.min(...values) - base).toFixed(0)} .. ${(Math.max(...values) - base).toFixed(0)}`,
  megabytes(name),
])
console.log(`import: ms of CPU above an empty process (${base.toFixed(0)} ms), median of ${ROUNDS} processes`)
console.log(columns([['', 'CPU ms', 'low .. high', 'installed'], ...rows], [0]).join('\n'))
const verifier = median(samples.get('signature-verifier, first proof') ?? []) - base
if (verifier > VERIFIER_MS) {
  reportMissed(`signature-verifier, first proof: ${verifier.toFixed(0)} ms, at most ${VERIFIER_MS} wanted`)
}
