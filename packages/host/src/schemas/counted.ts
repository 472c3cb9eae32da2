/** Says how many things there are, such as `2 keys` or `1 key`. The plural must end with an s that the singular lacks. */
export function counted(count: number, plural: string): string {
  return `${count} ${count === 1 ? plural.replace(/s$/, '') : plural}`
}
