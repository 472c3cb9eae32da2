/** A number with its noun, such as "1 scope" and "2 scopes". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
