import { el } from './dom.ts'

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** Formats an instant relative to now, such as "3 minutes ago" or "in 2 days". */
export function fromNow(at: string | number, now: number = Date.now()): string {
  const distance = new Date(at).getTime() - now
  const [unit, size] = UNITS.find(([, ms]) => Math.abs(distance) >= ms) ?? []
  if (unit === undefined) return distance > 0 ? 'in less than a minute' : 'just now'
  return relative.format(Math.trunc(distance / size), unit)
}

/** Formats an instant in UTC, to the second. */
export function utc(at: string | number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** Shows an instant relative to now, with the absolute one in its title. */
export function when(at: string | number): HTMLTimeElement {
  return el('time', { datetime: new Date(at).toISOString(), title: utc(at) }, fromNow(at))
}

const clock = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})

/** Shows an instant to the second, in the time zone of the reader. */
export function exactly(at: string): HTMLTimeElement {
  return el('time', { datetime: at, title: `${fromNow(at)} · ${utc(at)}` }, clock.format(new Date(at)))
}
