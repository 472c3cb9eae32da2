const whole = new Intl.NumberFormat('en-US')

/** Formats a count with thousands separators. */
export const count = (value: number): string => whole.format(value)

/** Formats a count with its noun: `1 caller`, `2 callers`. */
export const counted = (value: number, word: string): string =>
  `${count(value)} ${word}${value === 1 ? '' : 's'}`

/** Formats a rate: `0`, `0.4`, `12`, `1,204`. */
export const rate = (value: number): string =>
  value === 0 || value >= 10 ? count(Math.round(value)) : value.toFixed(1)

/** Formats a part as a percentage: `0 %`, `2.1 %`, `34 %`. */
export const percent = (part: number): string => `${rate(part * 100)} %`

/** Formats milliseconds for people: `0.18 ms`, `12 ms`, `1.4 s`. */
export function duration(ms: number | null): string {
  if (ms === null) return '–'
  if (ms < 1) return `${ms.toFixed(2)} ms`
  if (ms < 100) return `${ms.toFixed(1)} ms`
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

/** Formats seconds as an age: `45 s`, `12 min`, `3 h`, `2 days`. */
export function age(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`
}
