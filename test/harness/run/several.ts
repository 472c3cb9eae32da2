// Runs several test files one after the other in one process, each as a test of tap's, so that what they import is
// loaded once. Arguments: the first compiled test file. The parent names each further one when it is asked.
// oxlint-disable-next-line import/no-unassigned-import -- before tap is loaded.
import './no-async-hooks.ts'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { FILE_USED, usedCpuMs } from './cpu-time.ts'
import { FILE_BEGINS, FILE_ENDED } from './file-marks.ts'
import { keepIdleConnections } from './keep-alive.ts'
import { setOwnTest } from './own-test.ts'

/** Seconds that one file may take: a test that waits for ever is named, and the files after it are run. */
const SECONDS = 180
const timeout = Number(process.env['TAP_TIMEOUT'] ?? SECONDS) * 1000
/** Of all files together. The parent has a limit of its own. */
const DAY_MS = 86_400_000

/** Writes what tap prints in one turn of the event loop at once: a write for each line takes a tenth of a process's CPU time. */
function writeByTurns({ stdout }: NodeJS.Process): void {
  const write = stdout.write.bind(stdout)
  stdout.write = ((...args: Parameters<typeof write>) => {
    if (stdout.writableCorked === 0) {
      stdout.cork()
      setImmediate(() => stdout.uncork())
    }
    return write(...args)
  }) as typeof stdout.write
  process.once('exit', () => stdout.uncork())
}

/**
 * Asks the parent for the next test file. Resolves to an empty text if no file is left. tap releases the channel to the parent, so that it
 * does not keep the process alive. It is held here while the reply is awaited.
 */
async function nextFile(): Promise<string> {
  process.channel?.ref()
  const reply = once(process, 'message')
  process.send?.('next')
  const [file] = (await reply) as [string]
  process.channel?.unref()
  return file
}

/** After an error that no test awaits, tap would run nothing more. The file that runs fails, and those after it run in another process. */
function endAfter(error: unknown): void {
  console.error('an error that no test awaits, of this file or of one before it:', error)
  process.exit(1)
}

/** Fails a file that has set the exit code of the process, as a command that it has called may do. */
async function checkExitCode(file: string): Promise<void> {
  const code = process.exitCode ?? 0
  process.exitCode = undefined
  if (code !== 0) await t.test(file, async own => own.fail(`set process.exitCode to ${code}`))
}

writeByTurns(process)
keepIdleConnections()
process.prependListener('uncaughtException', endAfter).prependListener('unhandledRejection', endAfter)
t.setTimeout(DAY_MS)
for (let file = process.argv[2] ?? ''; file !== ''; file = await nextFile()) {
  const before = usedCpuMs()
  process.stderr.write(`${FILE_BEGINS}${file}\n`)
  await t.test(file, { timeout }, async own => {
    setOwnTest(own)
    await import(pathToFileURL(resolve(file)).href)
  })
  setOwnTest(undefined)
  await checkExitCode(file)
  // By tap, which may not have written the results of the file yet.
  t.comment(`${FILE_USED} ${usedCpuMs() - before} ${file}`)
  process.stderr.write(`${FILE_ENDED}${file}\n`)
}
process.disconnect()
