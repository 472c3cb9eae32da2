import { createRequire } from 'node:module'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { context, diag, DiagLogLevel } from '@opentelemetry/api'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { tool } from '../harness/tools.ts'

/** The options of OpenTelemetry's instrumentation of `pg` that change what is sent. */
export interface InstrumentationOptions {
  readonly addSqlCommenterCommentToQueries: true
}

/** The part of `PgInstrumentation` that is used. */
interface PgInstrumentation {
  setConfig(options: InstrumentationOptions): void
  setTracerProvider(provider: BasicTracerProvider): void
  enable(): void
  disable(): void
}

/** What the instrumentation has done since it was enabled. */
export interface Instrumented {
  /** How many spans were started and how many have ended, each of them by name. */
  readonly started: Map<string, number>
  readonly ended: Map<string, number>
  /** What OpenTelemetry warns of, such as a span that is ended twice. */
  readonly warnings: string[]
}

const counts: Instrumented = { started: new Map(), ended: new Map(), warnings: [] }
const count = (names: Map<string, number>, name: string): unknown =>
  names.set(name, (names.get(name) ?? 0) + 1)

/** Of the process: what it hooks into `require` stays there. */
let instrumentation: PgInstrumentation | undefined

async function createInstrumentation(): Promise<PgInstrumentation> {
  const { PgInstrumentation } = await tool<{
    readonly PgInstrumentation: new (options: { readonly enabled: boolean }) => PgInstrumentation
  }>('@opentelemetry/instrumentation-pg')
  const made = new PgInstrumentation({ enabled: true })
  const onStart = ({ name }: { readonly name: string }): unknown => count(counts.started, name)
  const onEnd = ({ name }: { readonly name: string }): unknown => count(counts.ended, name)
  const nothing = async (): Promise<void> => {}
  made.setTracerProvider(
    new BasicTracerProvider({
      spanProcessors: [{ onStart, onEnd, forceFlush: nothing, shutdown: nothing }],
    }),
  )
  // It changes modules when they are required. An import is not seen, but gives the same classes.
  const requireHere = createRequire(import.meta.url)
  requireHere('pg')
  createRequire(requireHere.resolve('pg'))('pg-pool')
  return made
}

/**
 * Enables OpenTelemetry's own instrumentation of `pg` in this process, with a tracer, until `restore` is called. Spans are counted from zero.
 */
export async function instrumentPg(
  options: InstrumentationOptions,
): Promise<Instrumented & { restore(): void }> {
  if (instrumentation) instrumentation.enable()
  else instrumentation = await createInstrumentation()
  instrumentation.setConfig(options)
  for (const names of [counts.started, counts.ended]) names.clear()
  counts.warnings.length = 0
  const warn = (...words: unknown[]): unknown => counts.warnings.push(words.join(' '))
  const ignore = (): void => {}
  diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  return {
    ...counts,
    restore() {
      instrumentation?.disable()
      context.disable()
      diag.disable()
    },
  }
}
