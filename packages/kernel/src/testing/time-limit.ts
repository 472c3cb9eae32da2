import type { TestRunner } from './runner.ts'

/** How many seconds a case of a contract suite may take. */
const LIMIT_SECONDS = 60

/**
 * Limits the time of each case: one that has not ended rejects with its title, so that a test run which hangs names the case. The case goes
 * on in the background, because a promise cannot be stopped.
 */
export function withTimeLimit(runner: TestRunner, seconds: number = LIMIT_SECONDS): TestRunner {
  return {
    describe: (name, define) => runner.describe(name, define),
    it: (title, run) => runner.it(title, () => limited(title, seconds, run)),
  }
}

async function limited(title: string, seconds: number, run: () => Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeUp = new Promise<never>((_, reject) => {
    const error = new Error(`this case hangs, it has not ended after ${seconds} s: ${title}`)
    timer = setTimeout(() => reject(error), seconds * 1000)
  })
  try {
    await Promise.race([run(), timeUp])
  } finally {
    clearTimeout(timer)
  }
}
