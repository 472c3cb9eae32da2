// npm run example           lists the examples
// npm run example NAME      runs one; what follows NAME is passed on
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const SOURCES = fileURLToPath(new URL('../../examples/', import.meta.url))
const BUILT = fileURLToPath(new URL('.', import.meta.url))
/** The file that runs an example, the first that there is. */
const MAIN = ['main.js', 'demo.js', 'client.js', 'server.js', 'host.js', 'app.test.js', 'contract-suite.js']
/** Those for a task come first in the list; the others show a framework or a package. */
const TASKS = ['agent-allowance', 'agent-tools', 'first-payment', 'processor-recovery', 'provider-events']

function fileOf(name: string): string | undefined {
  return MAIN.map(file => `${BUILT}${name}/${file}`).find(file => existsSync(file))
}

/** Breaks a text at its spaces into lines of at most `width` characters. */
function wrap(text: string, width: number): string[] {
  return text.match(new RegExp(`\\S.{0,${width - 1}}(?=\\s|$)`, 'g')) ?? []
}

/** The first sentence of an example's README, up to a colon that follows more than a name. */
function about(name: string): string {
  const [, , text = ''] =
    /^# (.*)\n\n([^]*?)(?:\n\n|$)/.exec(readFileSync(`${SOURCES}${name}/README.md`, 'utf8')) ?? []
  const sentence =
    text
      .replaceAll('\n', ' ')
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll('`', '')
      .split('. ')[0] ?? ''
  return sentence.replace(/(?<=.{25}): .*$/, '').replace(/[.:]$/, '')
}

const [name, ...rest] = process.argv.slice(2)
const names = readdirSync(SOURCES).filter(each => existsSync(`${SOURCES}${each}/README.md`) && fileOf(each))
if (name === undefined) {
  const ordered = [...TASKS, ...names.filter(each => !TASKS.includes(each))]
  const width = Math.max(...ordered.map(each => each.length))
  console.log('npm run example NAME\n')
  const indent = ' '.repeat(width + 4)
  for (const each of ordered)
    console.log(`  ${each.padEnd(width)}  ${wrap(about(each), 76 - width).join(`\n${indent}`)}`)
} else {
  const file = names.includes(name) ? fileOf(name) : undefined
  if (file === undefined) {
    console.error(`There is no example ${JSON.stringify(name)}: npm run example lists them.`)
    process.exit(1)
  }
  const child = spawn(process.execPath, [file, ...rest], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  child.once('close', code => {
    process.exitCode = code ?? 1
  })
}
