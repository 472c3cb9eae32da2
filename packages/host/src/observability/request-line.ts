import { escapedText, styled, type Style, type Terminal } from './terminal.ts'

/** The members of a log line that its short form shows. */
interface LogLine {
  readonly time?: string
  readonly level?: number
  readonly msg?: string
  readonly method?: string
  readonly route?: string
  readonly operation?: string
  readonly status?: number
  readonly durationMs?: number
  readonly code?: string
  readonly rule?: string
  readonly requestId?: string
  readonly failure?: { readonly message?: string; readonly stack?: string; readonly cause?: string }
}

const WARNING = 40
const ERROR = 50
const ROUTE_WIDTH = 29
/** Begins a second line below the method. */
const CONTINUED = `\n${' '.repeat(10)}`

/**
 * Shortens a JSON log line for a person: time, method, route, status and duration of a request; for a denial or a fault also its
 * code or policy rule, and the first characters of the request id, which go to a line of their own where the terminal is too narrow. A
 * line that is no JSON is returned as it is.
 */
export function requestLine(json: string, terminal: Terminal): string {
  let line: LogLine
  try {
    line = JSON.parse(json) as LogLine
  } catch {
    return json
  }
  const { time = new Date().toISOString(), level = 0, status, failure } = line
  const paint = (text: string, style: Style | undefined): string => styled(text, style, terminal)
  const at = paint(clockTime(time), 'dim')
  // Messages may contain texts of clients.
  const why =
    failure === undefined ? '' : escapedText(`\n${failure.stack ?? failure.message ?? ''}${causeOf(failure)}`)
  if (status === undefined) {
    const style = level >= ERROR ? 'red' : level >= WARNING ? 'yellow' : undefined
    return `${at}  ${paint(escapedText(line.msg ?? ''), style)}${why}\n`
  }
  const { method = '', route = line.operation ?? '-', durationMs = 0 } = line
  const ms = `${Math.round(durationMs)} ms`.padStart(7)
  const request = `${method.padEnd(6)} ${route.padEnd(ROUTE_WIDTH)}`
  const start = `${at}  ${request} ${paint(String(status), colourOf(status))} ${ms}`
  if (status < 400) return `${start}${why}\n`
  const [cause, id] = [line.rule ?? line.code ?? '', shortId(line.requestId)]
  const columns = `${clockTime(time)}  ${request} ${status} ${ms}  ${cause}  ${id}`.length
  const gap = terminal.width > 0 && columns > terminal.width ? CONTINUED : '  '
  return `${start}${gap}${[cause, paint(id, 'dim')].filter(text => text !== '').join('  ')}${why}\n`
}

const causeOf = ({ cause }: NonNullable<LogLine['failure']>): string =>
  cause === undefined ? '' : `\n  caused by ${cause}`
const shortId = (id = ''): string => id.slice(0, 8)

/** The time of day on this machine. */
function clockTime(time: string): string {
  const at = new Date(time)
  return [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map(part => String(part).padStart(2, '0'))
    .join(':')
}

function colourOf(status: number): Style {
  if (status >= 500) return 'red'
  return status >= 400 ? 'yellow' : 'green'
}
