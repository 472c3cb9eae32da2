/**
 * Returns what all copies of these packages in a process share under a name: what the first copy has made. A process has several copies where
 * some of its code requires a package and other code imports it.
 */
export function shared<T extends object>(name: string, make: () => T): T {
  const copies = globalThis as unknown as Record<symbol, T | undefined>
  return (copies[Symbol.for(`gatewright.${name}`)] ??= make())
}
