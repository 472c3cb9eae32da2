import { ContainerInstance, Token } from 'typedi'

/** Gives the service of a key, made on the first call. */
export type Get = <T>(key: Key<T>) => T

/** Names a service, and carries its type both ways, so that a `Key<string>` is not a `Key<number>`. */
export class Key<T> extends Token<T> {
  declare protected readonly carries: (value: T) => T
  readonly make: ((get: Get) => T) | undefined

  constructor(name: string, make?: (get: Get) => T) {
    super(name)
    this.make = make
  }
}

/** Registers a service with how it is made. */
export function service<T>(name: string, make: (get: Get) => NoInfer<T>): Key<T> {
  return new Key<T>(name, make)
}

/** Registers what a caller binds before the first `get`. */
export function given<T>(name: string): Key<T> {
  return new Key<T>(name)
}

/** The services of one host: typed keys over typedi, each made on its first `get`. */
export interface Container {
  readonly get: Get
  /** Replaces how a service is made; the last binding before its first `get` counts. */
  bind<T>(key: Key<T>, make: (get: Get) => NoInfer<T>): void
}

/** An empty container of its own, outside typedi's global registry. */
export function createContainer(): Container {
  const box = new ContainerInstance('host')
  const bind: Container['bind'] = (key, make) => {
    box.set({ id: key, factory: () => make(get) })
  }
  const get: Get = key => {
    if (!box.has(key)) {
      if (!key.make) throw new Error(`${key.name ?? 'a service'} must be bound first`)
      bind(key, key.make)
    }
    return box.get(key)
  }
  return { get, bind }
}
