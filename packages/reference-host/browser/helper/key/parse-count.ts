/** Reads a whole number of up to 6 digits; undefined for any other text. */
export function parseCount(typed: string): number | undefined {
  return /^\d{1,6}$/.test(typed.trim()) ? Number(typed.trim()) : undefined
}
