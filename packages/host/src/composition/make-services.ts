import { ContainerInstance } from 'typedi'

/** The services that a class of factories makes: one for each method, which gets all services. */
export type ServicesOf<F> = {
  readonly [K in keyof F]: F[K] extends (services: never) => infer T ? T : never
}

/**
 * Returns the services of one host: what was given, and what the methods of `factories` make, inherited ones too. Each is made once,
 * when it is first read, so that a command that reads two services opens no more. Destructuring reads: name the members that you need.
 * A given service replaces one that would be made. Two services that need each other end in an error of the container.
 */
export function makeServices<S extends object>(factories: object, given: Partial<S>): S {
  // One of its own: typedi's global container would be shared by all hosts of a process.
  const container = new ContainerInstance('host')
  const services = {} as S
  for (const [name, make] of methodsOf(factories)) {
    if (Object.hasOwn(given, name)) continue
    container.set({ id: name, factory: () => make.call(factories, services) })
    Object.defineProperty(services, name, { enumerable: true, get: () => container.get(name) })
  }
  return Object.defineProperties(services, Object.getOwnPropertyDescriptors(given))
}

/** The methods of an object and of what it inherits from, without the constructor. Those of the object's own class win. */
function methodsOf(object: object): ReadonlyMap<string, (services: object) => unknown> {
  const parent = Object.getPrototypeOf(object) as object | null
  if (parent === null || parent === Object.prototype) return new Map()
  const own = Object.entries(Object.getOwnPropertyDescriptors(parent)).flatMap(([name, { value }]) =>
    name === 'constructor' ? [] : [[name, value as (services: object) => unknown] as const],
  )
  return new Map([...methodsOf(parent), ...own])
}
