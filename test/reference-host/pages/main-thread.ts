import type { Browser, Page } from 'playwright-core'

/** A task of a page's main thread. */
export interface MainThreadTask {
  /** How long it took. */
  readonly wallMs: number
  /** How long the processor worked on it: what other processes of the machine took is not in it. */
  readonly cpuMs: number
}

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  readonly dur?: number
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

const CATEGORIES = ['disabled-by-default-devtools.timeline', '__metadata']

/** Measures every task of the main threads of pages while something runs. */
export async function tasksWhile<T>(
  browser: Browser,
  page: Page,
  run: () => Promise<T>,
): Promise<{ readonly result: T; readonly tasks: readonly MainThreadTask[] }> {
  await browser.startTracing(page, { categories: CATEGORIES })
  const result = await run()
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] }
  const { traceEvents: events } = trace
  const threads = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  )
  const ms = (micros = 0): number => Math.round(micros / 100) / 10
  const tasks = events
    .filter(({ name, ph, pid, tid }) => name === 'RunTask' && ph === 'X' && threads.has(`${pid} ${tid}`))
    .map(({ dur, tdur }) => ({ wallMs: ms(dur), cpuMs: ms(tdur) }))
  return { result, tasks }
}
